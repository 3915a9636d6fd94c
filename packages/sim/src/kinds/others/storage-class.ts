/** The rules of storage classes. */
import type { storageV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkOneOf, checkQualified, checkUnchanged } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";
import { same } from "../common/semantic.ts";

type StorageClass = LooseObject<storageV1.StorageClass>;

const FIXED = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const;

export const storageClassRules: Rules = {
  default: (kind: StorageClass) => {
    kind.reclaimPolicy ??= "Delete";
    kind.volumeBindingMode ??= "Immediate";
  },
  validate: (kind: StorageClass, errors) => checkClass(kind, errors),
  validateUpdate: (kind: StorageClass, before: StorageClass, errors) => {
    checkClass(kind, errors);
    for (const name of FIXED) checkUnchanged(same(kind[name], before[name]), kind[name], name, errors);
  },
};

function checkClass({ provisioner, reclaimPolicy, volumeBindingMode }: StorageClass, errors: FieldErrors): void {
  if (!provisioner) errors.required("provisioner");
  else checkQualified(provisioner.toLowerCase(), "provisioner", errors);
  if (reclaimPolicy) checkOneOf(reclaimPolicy, ["Delete", "Retain"], "reclaimPolicy", errors);
  checkOneOf(volumeBindingMode, ["Immediate", "WaitForFirstConsumer"], "volumeBindingMode", errors);
}
