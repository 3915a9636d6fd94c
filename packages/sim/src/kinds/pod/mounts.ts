/** What containers see of a pod's volumes. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkOneOf } from "../common/formats.ts";
import { checkDescendingPath } from "../common/paths.ts";
import type { Container, Volume } from "./types.ts";

/** The volumes of a pod that are good, by name. */
export type Volumes = ReadonlyMap<string, Volume>;

type Mount = NonNullable<Container["volumeMounts"]>[number];

export function checkMounts(container: Container, volumes: Volumes, field: string, errors: FieldErrors): void {
  const { volumeMounts: mounts = [], volumeDevices: devices = [] } = container;
  if (mounts.length > 0) {
    const paths = new Set<string>();
    const list = `${field}.volumeMounts`;
    for (const [index, mount] of mounts.entries()) {
      const { name = "", mountPath = "" } = mount;
      const place = `${list}[${index}]`;
      if (name === "") errors.required(`${place}.name`);
      if (!volumes.has(name)) errors.notFound(`${place}.name`, name);
      if (mountPath === "") errors.required(`${place}.mountPath`);
      if (paths.has(mountPath)) errors.invalid(`${place}.mountPath`, mountPath, "must be unique");
      paths.add(mountPath);
      if (devices.some((device) => (device.name ?? "") === name)) {
        errors.invalid(`${place}.name`, name, "must not already exist in volumeDevices");
      }
      if (devices.some((device) => (device.devicePath ?? "") === mountPath)) {
        errors.invalid(`${place}.mountPath`, mountPath, "must not already exist as a path in volumeDevices");
      }
      checkMountOptions(mount, container, list, place, errors);
    }
  }
  if (devices.length > 0) checkDevices(container, volumes, `${field}.volumeDevices`, errors);
}

function checkMountOptions(
  { subPath, subPathExpr, mountPropagation, recursiveReadOnly, readOnly }: Mount,
  { securityContext }: Container,
  list: string,
  place: string,
  errors: FieldErrors,
): void {
  if (subPath) checkDescendingPath(subPath, `${list}.subPath`, errors);
  if (subPathExpr) {
    if (subPath) {
      errors.invalid(`${place}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
    }
    checkDescendingPath(subPathExpr, `${list}.subPathExpr`, errors);
  }
  if (mountPropagation !== undefined) {
    const field = `${list}.mountPropagation`;
    checkOneOf(mountPropagation, ["Bidirectional", "HostToContainer", "None"], field, errors);
    if (mountPropagation === "Bidirectional" && !securityContext?.privileged) {
      errors.forbidden(field, "Bidirectional mount propagation is available only to privileged containers");
    }
  }
  if (recursiveReadOnly === undefined) return;
  const field = `${list}.recursiveReadOnly`;
  checkOneOf(recursiveReadOnly, ["Disabled", "Enabled", "IfPossible"], field, errors);
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible") return;
  if (!readOnly) errors.forbidden(field, "may only be specified when readOnly is true");
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    errors.forbidden(field, "may only be specified when mountPropagation is None or not specified");
  }
}

function checkDevices(container: Container, volumes: Volumes, field: string, errors: FieldErrors): void {
  const { volumeMounts: mounts = [], volumeDevices: devices = [] } = container;
  const [names, paths] = [new Set<string>(), new Set<string>()];
  for (const [index, { name = "", devicePath = "" }] of devices.entries()) {
    const place = `${field}[${index}]`;
    const volume = volumes.get(name);
    if (name === "") errors.required(`${place}.name`);
    if (names.has(name)) errors.invalid(`${place}.name`, name, "must be unique");
    if (!volume) errors.notFound(`${place}.name`, name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      errors.invalid(`${place}.name`, name, why);
    }
    if (devicePath === "") errors.required(`${place}.devicePath`);
    if (paths.has(devicePath)) errors.invalid(`${place}.devicePath`, devicePath, "must be unique");
    if (devicePath.split("/").includes("..")) {
      errors.invalid(`${place}.devicePath`, devicePath, "can not contain backsteps ('..')");
    } else paths.add(devicePath);
    if (mounts.some((mount) => (mount.name ?? "") === name)) {
      errors.invalid(`${place}.name`, name, "must not already exist in volumeMounts");
    }
    if (mounts.some((mount) => (mount.mountPath ?? "") === devicePath)) {
      errors.invalid(`${place}.devicePath`, devicePath, "must not already exist as a path in volumeMounts");
    }
    if (name !== "") names.add(name);
  }
}
