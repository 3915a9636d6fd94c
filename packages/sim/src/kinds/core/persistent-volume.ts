/** The rules of persistent volumes. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkOneOf, checkSubdomain, checkUnchanged } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { checkNoBacksteps } from "../common/paths.ts";
import { isNegative, isPositive, roundResources } from "../common/quantities.ts";
import { same } from "../common/semantic.ts";
import { checkNodeSelector } from "../pod/affinity.ts";
import { HOST_PATH_TYPES } from "../pod/volumes.ts";
import { checkAccessModes, VOLUME_MODES } from "./persistent-volume-claim.ts";

type Volume = LooseObject<coreV1.PersistentVolume>;
type Spec = Loose<coreV1.PersistentVolumeSpec>;

/** What a volume can be, in the order in which the first one found counts. */
const SOURCES = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "hostPath",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flocker",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const;

export const persistentVolumeRules: Rules = {
  generation: false,
  default: ({ spec }: Volume) => {
    if (!spec) return;
    spec.persistentVolumeReclaimPolicy ||= "Retain";
    spec.volumeMode ??= "Filesystem";
    roundResources(spec.capacity);
    if (spec.hostPath) spec.hostPath.type ??= "";
  },
  defaultStatus: ({ status }: Volume) => {
    if (status) status.phase ||= "Pending";
  },
  prepareForCreate: (volume: Volume, { time }) => {
    volume.status = { phase: "Pending", lastPhaseTransitionTime: time };
  },
  validate: ({ spec = {} }: Volume, errors) => checkSpec(spec, errors),
  validateUpdate: ({ spec = {} }: Volume, { spec: old = {} }: Volume, errors) => {
    checkSpec(spec, errors);
    if (!same(sourcesOf(spec), sourcesOf(old))) {
      const why = "spec.persistentvolumesource is immutable after creation";
      errors.forbidden("spec.persistentvolumesource", why);
    }
    checkUnchanged(spec.volumeMode === old.volumeMode, spec.volumeMode, "volumeMode", errors);
    if (old.nodeAffinity && !same(spec.nodeAffinity, old.nodeAffinity)) {
      const why = "field is immutable, except for updating from beta label to GA";
      errors.invalid("nodeAffinity", spec.nodeAffinity ?? null, why);
    }
  },
  prepareForStatusUpdate: (volume: Volume, before: Volume, { time }) => {
    if (volume.status && volume.status.phase !== before.status?.phase && !volume.status.lastPhaseTransitionTime) {
      volume.status.lastPhaseTransitionTime = time;
    }
  },
  fields: ({ metadata }: Volume) => ({ name: metadata.name ?? "" }),
};

function sourcesOf(spec: Spec): Partial<Record<(typeof SOURCES)[number], unknown>> {
  return Object.fromEntries(SOURCES.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]));
}

function checkSpec(spec: Spec, errors: FieldErrors): void {
  const { accessModes = [], capacity = {}, persistentVolumeReclaimPolicy: policy, nodeAffinity, hostPath } = spec;
  if (accessModes.length === 0) errors.required("spec.accessModes");
  checkAccessModes(accessModes, "spec.accessModes", errors);
  const resources = Object.keys(capacity);
  if (resources.length === 0) errors.required("spec.capacity");
  if (resources.length !== 1 || resources[0] !== "storage") {
    errors.notSupported("spec.capacity", capacity, ["storage"]);
  }
  for (const name of resources) {
    const amount = capacity[name] as string;
    if (isNegative(amount)) errors.invalid(`spec.capacity[${name}]`, amount, "must be a valid resource quantity");
    if (!isPositive(amount)) errors.invalid(`spec.capacity[${name}]`, amount, "must be greater than zero");
  }
  if (policy) checkOneOf(policy, ["Delete", "Recycle", "Retain"], "spec.persistentVolumeReclaimPolicy", errors);
  if (nodeAffinity) {
    if (nodeAffinity.required) checkNodeSelector(nodeAffinity.required, "spec.nodeAffinity.required", errors);
    else errors.required("spec.nodeAffinity.required", "must specify required node constraints");
  }
  const [source, ...more] = SOURCES.filter((name) => spec[name] !== undefined);
  if (source === undefined) errors.required("spec", "must specify a volume type");
  for (const other of more) errors.forbidden(`spec.${other}`, "may not specify more than 1 volume type");
  if (source === "hostPath") {
    if (!hostPath?.path) errors.required("spec.hostPath.path");
    else {
      checkNoBacksteps(hostPath.path, "spec.hostPath.path", errors);
      checkOneOf(hostPath.type, HOST_PATH_TYPES, "spec.hostPath.type", errors);
    }
  }
  if (source === "local") {
    if (!spec.local?.path) errors.required("spec.local.path");
    else checkNoBacksteps(spec.local.path, "spec.local.path", errors);
    if (!nodeAffinity) errors.required("spec.nodeAffinity", "Local volume requires node affinity");
  }
  if (source === "csi") {
    if (!spec.csi?.driver) errors.required("spec.csi.driver");
    if (!spec.csi?.volumeHandle) errors.required("spec.csi.volumeHandle");
  }
  if (spec.volumeAttributesClassName !== undefined) {
    const field = "spec.volumeAttributesClassName";
    if (spec.volumeAttributesClassName === "") errors.required(field, "an empty string is disallowed");
    else checkSubdomain(spec.volumeAttributesClassName, field, errors);
    if (!spec.csi) errors.required("spec.csi", "has to be specified when using volumeAttributesClassName");
  }
  if (spec.storageClassName) checkSubdomain(spec.storageClassName, "spec.storageClassName", errors);
  if (spec.volumeMode !== undefined) checkOneOf(spec.volumeMode, VOLUME_MODES, "spec.volumeMode", errors);
}
