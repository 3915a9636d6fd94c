/** What the API server fills in when a volume of a pod leaves it out. In place. */
import { defaultClaimSpec } from "../core/persistent-volume-claim.ts";
import { isLatest } from "./images.ts";
import type { Volume } from "./types.ts";

/** The mode that files get unless somebody says otherwise. */
const MODE = 0o644;

export function defaultVolume(volume: Volume): void {
  if (hasNoSource(volume)) volume.emptyDir = {};
  const { hostPath, secret, configMap, downwardAPI, projected, image, ephemeral } = volume;
  if (hostPath) hostPath.type ??= "";
  if (secret) secret.defaultMode ??= MODE;
  if (configMap) configMap.defaultMode ??= MODE;
  if (downwardAPI) {
    downwardAPI.defaultMode ??= MODE;
    for (const file of downwardAPI.items ?? []) defaultFile(file);
  }
  if (projected) {
    projected.defaultMode ??= MODE;
    for (const source of projected.sources ?? []) {
      for (const file of source.downwardAPI?.items ?? []) defaultFile(file);
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    }
  }
  if (image) image.pullPolicy ||= isLatest(image.reference ?? "") ? "Always" : "IfNotPresent";
  if (ephemeral?.volumeClaimTemplate?.spec) defaultClaimSpec(ephemeral.volumeClaimTemplate.spec);
  defaultOldVolume(volume);
}

type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];

function defaultFile({ fieldRef }: DownwardFile): void {
  if (fieldRef) fieldRef.apiVersion ||= "v1";
}

/** Kinds of storage from before drivers were plugged in. */
function defaultOldVolume({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= "default";
  if (rbd) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= "ReadWrite";
    azureDisk.fsType ??= "ext4";
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= "Shared";
  }
  if (scaleIO) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}

function hasNoSource(volume: Volume): boolean {
  for (const key in volume) if (key !== "name") return false;
  return true;
}
