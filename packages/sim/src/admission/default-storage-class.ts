/** A claim that names no class of storage gets the usual one. */
import type { coreV1, storageV1 } from "@berth/kube";
import type { Admission } from "../api/write.ts";
import type { LooseObject } from "../kinds/common/loose.ts";
import { own } from "../kinds/common/maps.ts";

type Claim = LooseObject<coreV1.PersistentVolumeClaim>;
type StorageClass = LooseObject<storageV1.StorageClass>;

const CLASSES = { group: "storage.k8s.io", plural: "storageclasses" };
const MARKS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
] as const;
const BETA_CLASS = "volume.beta.kubernetes.io/storage-class";

export const defaultStorageClass: Admission = {
  admit: (object, { storage }, { lookup }, operation) => {
    if (operation !== "create" || storage !== "/persistentvolumeclaims") return;
    const claim: Claim = object;
    if (own(claim.metadata.annotations, BETA_CLASS) !== undefined || claim.spec?.storageClassName !== undefined) return;
    const isDefault = ({ metadata }: StorageClass) => MARKS.some((mark) => own(metadata.annotations, mark) === "true");
    const classes: StorageClass[] = [...lookup.list(CLASSES)];
    const [usual] = classes.filter(isDefault).sort(byAge);
    if (usual?.metadata.name) claim.spec = { ...claim.spec, storageClassName: usual.metadata.name };
  },
};

/** The youngest first; those of the same age by name. */
function byAge({ metadata: a }: StorageClass, { metadata: b }: StorageClass): number {
  const [left, right] = [a.creationTimestamp ?? "", b.creationTimestamp ?? ""];
  if (left !== right) return left > right ? -1 : 1;
  return (a.name ?? "") < (b.name ?? "") ? -1 : 1;
}
