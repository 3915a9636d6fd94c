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

function checkClass(kind: StorageClass, errors: FieldErrors): void {
  const { provisioner, reclaimPolicy, volumeBindingMode, allowedTopologies } = kind;
  if (!provisioner) errors.required("provisioner");
  else checkQualified(provisioner.toLowerCase(), "provisioner", errors);
  if (reclaimPolicy) checkOneOf(reclaimPolicy, ["Delete", "Retain"], "reclaimPolicy", errors);
  checkOneOf(volumeBindingMode, ["Immediate", "WaitForFirstConsumer"], "volumeBindingMode", errors);
  if (allowedTopologies) checkTopologies(allowedTopologies, errors);
}

function checkTopologies(terms: NonNullable<StorageClass["allowedTopologies"]>, errors: FieldErrors): void {
  // The real server takes a term that says nothing for one that it has seen.
  const seen = new Set(["[]"]);
  for (const [index, { matchLabelExpressions = [] }] of terms.entries()) {
    const list = `allowedTopologies[${index}].matchLabelExpressions`;
    const wanted = new Map<string, readonly string[]>();
    for (const [each, { key = "", values = [] }] of matchLabelExpressions.entries()) {
      if (values.length === 0) errors.required(`${list}[${each}].values`);
      for (const [place, value] of values.entries()) {
        if (values.indexOf(value) < place) errors.duplicate(`${list}[${each}].values[${place}]`, value);
      }
      checkQualified(key, `${list}[${each}].key`, errors);
      if (wanted.has(key)) errors.duplicate(`${list}[${each}].key`, key);
      wanted.set(key, [...new Set(values)].sort());
    }
    const term = JSON.stringify([...wanted].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (seen.has(term)) errors.duplicate(list, "");
    seen.add(term);
  }
}
