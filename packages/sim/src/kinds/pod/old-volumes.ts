/** Volumes that are disks and shares of one maker or another: mostly, whether what identifies them is there. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { isObject } from "../../api/json.ts";
import { checkSubdomain, within } from "../common/formats.ts";
import { checkDescendingPath } from "../common/paths.ts";
import type { Volume } from "./types.ts";
import { checkDriver } from "./volumes.ts";

/** What must be there. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  awsElasticBlockStore: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  azureFile: ["secretName", "shareName"],
  cephfs: ["monitors"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  gcePersistentDisk: ["pdName"],
  gitRepo: ["repository"],
  glusterfs: ["endpoints", "path"],
  iscsi: ["targetPortal", "iqn"],
  nfs: ["server", "path"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  quobyte: ["registry", "volume"],
  rbd: ["monitors", "image"],
  scaleIO: ["gateway", "system", "volumeName"],
  storageos: ["volumeName"],
  vsphereVolume: ["volumePath"],
};
const PARTITIONED = new Set(["awsElasticBlockStore", "gcePersistentDisk"]);

/** @param type - The one field of the volume that says what it is. */
export function checkOldVolume(volume: Volume, type: keyof Volume, field: string, errors: FieldErrors): void {
  const source: unknown = volume[type];
  if (!isObject(source)) return;
  // The API server calls this one by another name.
  const place = `${field}.${type === "gcePersistentDisk" ? "persistentDisk" : type}`;
  for (const name of REQUIRED[type] ?? []) {
    const value = source[name];
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) {
      errors.required(`${place}.${name}`);
    }
  }
  const { partition = 0 } = source;
  if (PARTITIONED.has(type) && typeof partition === "number" && (partition < 0 || partition > 255)) {
    errors.invalid(`${place}.partition`, partition, within(1, 255));
  }
  const { nfs, gitRepo, csi, fc, iscsi } = volume;
  if (type === "nfs" && !nfs?.path?.startsWith("/")) {
    errors.invalid(`${place}.path`, nfs?.path ?? "", "must be an absolute path");
  }
  if (type === "gitRepo" && gitRepo?.directory) checkDescendingPath(gitRepo.directory, `${place}.directory`, errors);
  if (type === "iscsi" && ((iscsi?.lun ?? 0) < 0 || (iscsi?.lun ?? 0) > 255)) {
    errors.invalid(`${place}.lun`, iscsi?.lun, within(0, 255));
  }
  if (type === "fc" && fc) checkFibre(fc, place, errors);
  if (type === "csi" && csi) {
    checkDriver(csi.driver, `${place}.driver`, errors);
    const secret = csi.nodePublishSecretRef;
    if (secret && !secret.name) errors.required(`${place}.nodePublishSecretRef.name`);
    else if (secret?.name) checkSubdomain(secret.name, `${place}.name`, errors);
  }
}

function checkFibre(
  { targetWWNs = [], wwids = [], lun }: NonNullable<Volume["fc"]>,
  field: string,
  errors: FieldErrors,
): void {
  const either = `${field}.targetWWNs`;
  if (targetWWNs.length + wwids.length === 0) {
    errors.required(either, "must specify either targetWWNs or wwids, but not both");
  }
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) {
    errors.invalid(either, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
  }
  if (lun === undefined) errors.required(`${field}.lun`, "lun is required if targetWWNs is specified");
  else if (lun < 0 || lun > 255) errors.invalid(`${field}.lun`, lun, within(0, 255));
}
