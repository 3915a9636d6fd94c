/** The rules of `metadata`, which are the same for all kinds. */
import { integer, type ObjectMeta, type Random } from "@berth/kube";
import type { FieldErrors } from "./field-errors.ts";
import { type AnyObject, equal } from "./json.ts";
import { checkAnnotations, checkLabels, nameProblems, qualifiedNameProblems } from "./names.ts";
import type { Resource } from "./resource.ts";

/** Without vowels and without what looks alike, so that chance spells no words. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_GENERATED = 63;

export function generatedName(prefix: string, random: Random): string {
  let suffix = "";
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += LETTERS[integer(random, 0, LETTERS.length)];
  return prefix.slice(0, LONGEST_GENERATED - SUFFIX_LENGTH) + suffix;
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const hex = (bits: number) =>
    integer(random, 0, 2 ** bits)
      .toString(16)
      .padStart(bits / 4, "0");
  const variant = (8 + integer(random, 0, 4)).toString(16);
  return `${hex(32)}-${hex(16)}-4${hex(12)}-${variant}${hex(12)}-${hex(48)}`;
}

/** What the server alone decides about an object that begins. */
export function beginMetadata(object: AnyObject, resource: Resource, time: string, random: Random): void {
  const { metadata } = object;
  if (!metadata.name && metadata.generateName) metadata.name = generatedName(metadata.generateName, random);
  metadata.uid = uuid(random);
  metadata.creationTimestamp = time;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.resourceVersion;
  delete metadata.managedFields;
  if (hasGeneration(resource)) metadata.generation = 1;
  else delete metadata.generation;
}

/** Whoever is named twice in the very same words owns an object once. */
export function dropRepeatedOwners({ metadata }: AnyObject, warn: (message: string) => void): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const isNew = (owner: object, index: number) => !owners.slice(0, index).some((each) => equal(each, owner));
  const repeated = owners.filter((owner, index) => !isNew(owner, index)).map(({ uid }) => uid);
  if (repeated.length === 0) return;
  metadata.ownerReferences = owners.filter(isNew);
  const what = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and";
  const then = "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:";
  warn(`${what} ${then} ${repeated.join(", ")}`);
}

/** What stays as it was, whatever a client says. */
export function keepMetadata({ metadata }: AnyObject, { metadata: before }: AnyObject): void {
  for (const field of KEPT) {
    if (metadata[field] === before[field]) continue;
    if (before[field] === undefined) delete metadata[field];
    else metadata[field] = before[field] as never;
  }
  if (metadata.managedFields) delete metadata.managedFields;
}

const KEPT = [
  ...["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "generateName"],
  "resourceVersion",
] as readonly (keyof ObjectMeta)[];

export function hasGeneration({ rules, hasStatus }: Resource): boolean {
  return rules.generation ?? hasStatus;
}

export function validateMetadata(object: AnyObject, resource: Resource, errors: FieldErrors): void {
  const { rules, namespaced } = resource;
  const { name = "", generateName, namespace } = object.metadata;
  if (name === "") errors.required("metadata.name", "name or generateName is required");
  else
    for (const problem of nameProblems(name, rules.names ?? "subdomain"))
      errors.invalid("metadata.name", name, problem);
  if (generateName) {
    // What follows it makes a good end of a name.
    for (const problem of nameProblems(generateName.replace(/.-$/, "a"), rules.names ?? "subdomain")) {
      errors.invalid("metadata.generateName", generateName, problem);
    }
  }
  if (namespaced)
    for (const problem of nameProblems(namespace ?? "", "label"))
      errors.invalid("metadata.namespace", namespace ?? "", problem);
  validateMetadataMaps(object, resource, errors);
}

export function validateMetadataUpdate(
  object: AnyObject,
  before: AnyObject,
  resource: Resource,
  errors: FieldErrors,
): void {
  if (!hasSameMaps(object.metadata, before.metadata)) validateMetadataMaps(object, resource, errors);
  const { deletionTimestamp, finalizers = [] } = before.metadata;
  const added = object.metadata.finalizers?.filter((finalizer) => !finalizers.includes(finalizer)) ?? [];
  if (deletionTimestamp && added.length > 0) {
    const list = added.map((each) => JSON.stringify(each)).join(", ");
    errors.forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    );
  }
}

/** Whether everything that people can write there is the very same: it was right before. */
function hasSameMaps(now: ObjectMeta, before: ObjectMeta): boolean {
  return (
    now.labels === before.labels &&
    now.annotations === before.annotations &&
    now.ownerReferences === before.ownerReferences &&
    now.finalizers === before.finalizers
  );
}

/** Finalizers that need not say whose they are. */
const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Groups of kinds that may be held on to by any name, as custom resources may. */
const FREE_FINALIZERS = new Set([
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "coordination.k8s.io",
  "policy",
]);

function validateMetadataMaps({ metadata }: AnyObject, { custom, group }: Resource, errors: FieldErrors): void {
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  checkLabels(labels, "metadata.labels", errors);
  checkAnnotations(annotations, "metadata.annotations", errors);
  const isFree = custom !== undefined || FREE_FINALIZERS.has(group);
  for (const [index, finalizer] of finalizers?.entries() ?? []) {
    for (const problem of qualifiedNameProblems(finalizer)) errors.invalid("metadata.finalizers", finalizer, problem);
    if (!isFree && !finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer)) {
      const why = "name is neither a standard finalizer name nor is it fully qualified";
      errors.invalid(`metadata.finalizers[${index}]`, finalizer, why);
    }
  }
  let controller: string | undefined;
  for (const owner of ownerReferences ?? []) {
    const field = "metadata.ownerReferences";
    if (!owner.apiVersion) errors.invalid(`${field}.apiVersion`, "", "version must not be empty");
    if (!owner.kind) errors.invalid(`${field}.kind`, "", "must not be empty");
    if (!owner.name) errors.invalid(`${field}.name`, "", "must not be empty");
    if (!owner.uid) errors.invalid(`${field}.uid`, "", "must not be empty");
    if (!owner.controller) continue;
    if (controller !== undefined) {
      const both = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${owner.kind}/${owner.name}`;
      errors.invalid(field, ownerReferences, both);
    }
    controller ??= `${owner.kind}/${owner.name}`;
  }
}

/** Whether something was wanted that was not before: everything but metadata and status counts. */
export function wantsChange(object: AnyObject, before: AnyObject, hasStatus: boolean): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(before)])) {
    if (field === "metadata" || (field === "status" && hasStatus)) continue;
    if (!equal(object[field], before[field])) return true;
  }
  return false;
}
