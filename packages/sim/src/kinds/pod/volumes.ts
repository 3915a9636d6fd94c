/** The volumes of a pod: whether they make sense. Pure. */
import type { ObjectMeta } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import { checkChoice, checkLabel, checkOneOf, checkSubdomain } from "../common/formats.ts";
import { checkLocalPath, checkMode, checkNoBacksteps } from "../common/paths.ts";
import { isNegative } from "../common/quantities.ts";
import { checkClaimTemplate } from "../core/persistent-volume-claim.ts";
import { checkFieldRef, checkResourceFieldRef } from "./env.ts";
import type { Volumes } from "./mounts.ts";
import { checkOldVolume } from "./old-volumes.ts";
import type { Volume } from "./types.ts";

type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];
type KeyToPath = NonNullable<NonNullable<Volume["configMap"]>["items"]>[number];
type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];

/** What a volume can be, in the order in which the first one found counts. */
const SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
] as const;
type Source = (typeof SOURCES)[number];
const NAMES: ReadonlySet<string> = new Set(SOURCES);
const isSource = (name: string): name is Source => NAMES.has(name);

/** Where the API server spells a field differently in its errors. */
const MISSPELT: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

const FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
/** What may be expected at a path of the node. */
export const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** Gives those that are good, by name. @param meta - Of the pod; a template has none. */
export function checkVolumes(
  volumes: readonly Volume[],
  meta: ObjectMeta | undefined,
  isPod: boolean,
  field: string,
  errors: FieldErrors,
): Volumes {
  const good = new Map<string, Volume>();
  const claims = new Set<string>();
  if (meta?.name) for (const { name = "", ephemeral } of volumes) if (ephemeral) claims.add(`${meta.name}-${name}`);
  for (const [index, volume] of volumes.entries()) {
    const { name = "", persistentVolumeClaim } = volume;
    const place = `${field}[${index}]`;
    const before = errors.causes.length;
    checkSource(volume, meta, isPod, place, errors);
    if (name === "") errors.required(`${place}.name`);
    else checkLabel(name, `${place}.name`, errors);
    if (good.has(name)) errors.duplicate(`${place}.name`, name);
    if (errors.causes.length === before) good.set(name, volume);
    if (persistentVolumeClaim && claims.has(persistentVolumeClaim.claimName ?? "")) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      errors.invalid(`${place}.persistentVolumeClaim.claimName`, persistentVolumeClaim.claimName, why);
    }
  }
  return good;
}

function checkSource(
  volume: Volume,
  meta: ObjectMeta | undefined,
  isPod: boolean,
  field: string,
  errors: FieldErrors,
): void {
  const [first, ...more] = sourcesOf(volume);
  if (first === undefined) {
    errors.required(field, "must specify a volume type");
    return;
  }
  const { name = "", emptyDir, hostPath, secret, configMap, downwardAPI, projected, ephemeral, image } = volume;
  switch (first) {
    case "emptyDir":
      if (isNegative(emptyDir?.sizeLimit)) {
        errors.forbidden(`${field}.emptyDir.sizeLimit`, "SizeLimit field must be a valid resource quantity");
      }
      break;
    case "hostPath":
      if (!hostPath?.path) errors.required(`${field}.hostPath.path`);
      else {
        checkNoBacksteps(hostPath.path, `${field}.hostPath.path`, errors);
        checkOneOf(hostPath.type, HOST_PATH_TYPES, `${field}.hostPath.type`, errors);
      }
      break;
    case "secret":
      if (!secret?.secretName) errors.required(`${field}.secret.secretName`);
      checkFiles(secret, `${field}.secret`, errors);
      break;
    case "configMap":
      if (!configMap?.name) errors.required(`${field}.configMap.name`);
      checkFiles(configMap, `${field}.configMap`, errors);
      break;
    case "persistentVolumeClaim":
      if (!volume.persistentVolumeClaim?.claimName) errors.required(`${field}.persistentVolumeClaim.claimName`);
      break;
    case "downwardAPI":
      checkMode(downwardAPI?.defaultMode, `${field}.downwardAPI.defaultMode`, errors);
      for (const file of downwardAPI?.items ?? []) checkDownwardFile(file, `${field}.downwardAPI`, errors);
      break;
    case "projected":
      if (Object.isFrozen(projected)) break; // the server's own, for tokens
      checkMode(projected?.defaultMode, `${field}.projected.defaultMode`, errors);
      checkProjections(projected?.sources ?? [], `${field}.projected`, errors);
      break;
    case "ephemeral": {
      const template = ephemeral?.volumeClaimTemplate;
      if (!template) errors.required(`${field}.ephemeral.volumeClaimTemplate`);
      else checkClaimTemplate(template, `${field}.ephemeral.volumeClaimTemplate`, errors);
      const claim = `${meta?.name}-${name}`;
      if (!meta?.name || name === "") break;
      for (const problem of nameProblems(claim, "subdomain")) {
        errors.invalid(`${field}.name`, name, `PVC name ${JSON.stringify(claim)}: ${problem}`);
      }
      break;
    }
    case "image":
      if (isPod && !image?.reference) errors.required(`${field}.image.reference`);
      checkChoice(image?.pullPolicy, ["Always", "IfNotPresent", "Never"], `${field}.image.pullPolicy`, errors);
      break;
    default:
      checkOldVolume(volume, first, field, errors);
  }
  for (const other of more) {
    errors.forbidden(`${field}.${MISSPELT[other] ?? other}`, "may not specify more than 1 volume type");
  }
}

/** What a volume says it is, in the order that counts. */
function sourcesOf(volume: Volume): readonly Source[] {
  const given = Object.keys(volume).filter(isSource);
  return given.length > 1 ? SOURCES.filter((each) => given.includes(each)) : given;
}

function checkFiles(
  source: { defaultMode?: number; items?: readonly KeyToPath[] } | undefined,
  field: string,
  errors: FieldErrors,
): void {
  checkMode(source?.defaultMode, `${field}.defaultMode`, errors);
  for (const [index, item] of (source?.items ?? []).entries()) checkKeyToPath(item, `${field}.items[${index}]`, errors);
}

function checkKeyToPath({ key, path = "", mode }: KeyToPath, field: string, errors: FieldErrors): void {
  if (!key) errors.required(`${field}.key`);
  if (path === "") errors.required(`${field}.path`);
  checkLocalPath(path, `${field}.path`, errors);
  checkMode(mode, `${field}.mode`, errors);
}

function checkDownwardFile(
  { path = "", fieldRef, resourceFieldRef, mode }: DownwardFile,
  field: string,
  errors: FieldErrors,
): void {
  if (path === "") errors.required(`${field}.path`);
  checkLocalPath(path, `${field}.path`, errors);
  if (fieldRef) {
    checkFieldRef(fieldRef, FIELDS, `${field}.fieldRef`, errors);
    if (resourceFieldRef) {
      errors.invalid(field, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resourceFieldRef) checkResourceFieldRef(resourceFieldRef, `${field}.resourceFieldRef`, errors, true);
  else errors.required(field, "one of fieldRef and resourceFieldRef is required");
  checkMode(mode, `${field}.mode`, errors);
}

function checkProjections(sources: readonly Projection[], field: string, errors: FieldErrors): void {
  const paths = new Set<string>();
  const take = (path: string | undefined, source: string | undefined) => {
    if (!path) return;
    if (paths.has(path)) errors.invalid(field, source ?? "", "conflicting duplicate paths");
    paths.add(path);
  };
  for (const [index, { secret, configMap, downwardAPI, serviceAccountToken: token }] of sources.entries()) {
    const place = `${field}.sources[${index}]`;
    for (const [name, source] of [
      ["secret", secret],
      ["configMap", configMap],
    ] as const) {
      if (!source) continue;
      if (!source.name) errors.required(`${place}.${name}.name`);
      for (const [item, file] of (source.items ?? []).entries()) {
        checkKeyToPath(file, `${place}.${name}.items[${item}]`, errors);
        take(file.path, source.name);
      }
    }
    for (const file of downwardAPI?.items ?? []) {
      checkDownwardFile(file, `${place}.downwardAPI`, errors);
      take(file.path, file.path);
    }
    if (token) {
      const { expirationSeconds = 0, path = "" } = token;
      const seconds = `${place}.serviceAccountToken.expirationSeconds`;
      if (expirationSeconds < 600) {
        errors.invalid(seconds, expirationSeconds, "may not specify a duration less than 10 minutes");
      }
      if (expirationSeconds > 2 ** 32) {
        errors.invalid(seconds, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
      }
      if (path === "") errors.required(`${field}.path`);
      else checkLocalPath(path, `${field}.path`, errors);
    }
    if ([secret, configMap, downwardAPI, token].filter(Boolean).length > 1) {
      errors.forbidden(place, "may not specify more than 1 volume type per source");
    }
  }
}

/** A driver of storage by name. */
export function checkDriver(driver: string | undefined, field: string, errors: FieldErrors): void {
  if (!driver) {
    errors.required(field);
    return;
  }
  if (driver.length > 63) errors.tooLong(field, 63);
  checkSubdomain(driver.toLowerCase(), field, errors);
}
