/** What `kubectl get` shows of volumes and where they come from. Pure. */
import type { AnyObject } from "../../api/json.ts";
import { anyTextAt, at, itemsAt, lengthAt, textAt, textsAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { age, column, name, nameColumn, numbers, wide } from "./common.ts";

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modesText(modes: readonly string[]): string {
  const known = Object.keys(MODES).filter((mode) => modes.includes(mode));
  return known.map((mode) => MODES[mode]).join(",");
}

/** Long ago a volume's class was an annotation, which still wins. */
const classText = (object: AnyObject) =>
  object.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ??
  textAt(object, "spec", "storageClassName");

const phaseText = (object: AnyObject) =>
  object.metadata.deletionTimestamp !== undefined ? "Terminating" : textAt(object, "status", "phase");

const attributesClass = column(
  "VolumeAttributesClass",
  (object) => textAt(object, "spec", "volumeAttributesClassName") || "<unset>",
);
const volumeMode = wide("VolumeMode", (object) => textAt(object, "spec", "volumeMode") || "<unset>");

export const volumeColumns: readonly Column[] = [
  name,
  column("Capacity", (object) => anyTextAt(object, "spec", "capacity", "storage") ?? "0"),
  column("Access Modes", (object) => modesText(textsAt(object, "spec", "accessModes"))),
  column("Reclaim Policy", (object) => textAt(object, "spec", "persistentVolumeReclaimPolicy")),
  column("Status", phaseText),
  column("Claim", (object) => {
    const claim = at(object, "spec", "claimRef");
    return claim ? `${textAt(claim, "namespace")}/${textAt(claim, "name")}` : "";
  }),
  column("StorageClass", classText),
  attributesClass,
  column("Reason", (object) => textAt(object, "status", "reason")),
  age,
  volumeMode,
];

const isBound = (claim: AnyObject) => textAt(claim, "spec", "volumeName") !== "";

export const claimColumns: readonly Column[] = [
  name,
  column("Status", phaseText),
  column("Volume", (object) => textAt(object, "spec", "volumeName")),
  column("Capacity", (object) => (isBound(object) ? (anyTextAt(object, "status", "capacity", "storage") ?? "0") : "")),
  column("Access Modes", (object) => (isBound(object) ? modesText(textsAt(object, "status", "accessModes")) : "")),
  column("StorageClass", classText),
  attributesClass,
  age,
  volumeMode,
];

const isDefaultClass = ({ metadata: { annotations = {} } }: AnyObject) =>
  ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"].some(
    (key) => annotations[key] === "true",
  );

export const storageClassColumns: readonly Column[] = [
  nameColumn((object) => `${object.metadata.name}${isDefaultClass(object) ? " (default)" : ""}`),
  column("Provisioner", (object) => textAt(object, "provisioner")),
  column("ReclaimPolicy", (object) => textAt(object, "reclaimPolicy") || "Delete"),
  column("VolumeBindingMode", (object) => textAt(object, "volumeBindingMode") || "Immediate"),
  column("AllowVolumeExpansion", (object) => at(object, "allowVolumeExpansion") === true),
  age,
];

export const volumeAttributesClassColumns: readonly Column[] = [
  name,
  column("DriverName", (object) => textAt(object, "driverName")),
  age,
];

export const volumeAttachmentColumns: readonly Column[] = [
  name,
  column("Attacher", (object) => textAt(object, "spec", "attacher")),
  column("PV", (object) => textAt(object, "spec", "source", "persistentVolumeName")),
  column("Node", (object) => textAt(object, "spec", "nodeName")),
  column("Attached", (object) => at(object, "status", "attached") === true, "boolean"),
  age,
];

export const csiNodeColumns: readonly Column[] = [
  name,
  numbers("Drivers", (object) => lengthAt(object, "spec", "drivers")),
  age,
];

const flag =
  (field: string, otherwise = false) =>
  (object: AnyObject) =>
    at(object, "spec", field) ?? otherwise;

export const csiDriverColumns: readonly Column[] = [
  name,
  column("AttachRequired", flag("attachRequired", true), "boolean"),
  column("PodInfoOnMount", flag("podInfoOnMount"), "boolean"),
  column("StorageCapacity", flag("storageCapacity"), "boolean"),
  column("TokenRequests", (object) => {
    if (at(object, "spec", "tokenRequests") === undefined) return "<unset>";
    return itemsAt(object, "spec", "tokenRequests")
      .map((request) => textAt(request, "audience"))
      .join(",");
  }),
  column("RequiresRepublish", flag("requiresRepublish"), "boolean"),
  column("Modes", (object) => textsAt(object, "spec", "volumeLifecycleModes").join(",") || "<none>"),
  age,
];

export const csiStorageCapacityColumns: readonly Column[] = [
  name,
  column("StorageClassName", (object) => textAt(object, "storageClassName")),
  column("Capacity", (object) => anyTextAt(object, "capacity") ?? "<unset>"),
];
