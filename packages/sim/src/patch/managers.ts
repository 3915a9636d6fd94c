/** Who owns which fields of an object, and how `metadata.managedFields` tells of it. */
import { isObject } from "../api/json.ts";
import { type FieldSet, same, union } from "./field-set.ts";
import { fieldsV1, fromFieldsV1 } from "./fields-v1.ts";

export type Operation = "Apply" | "Update";

/** Somebody who writes, and by which way. */
export interface Writer {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** What somebody owns, and since when he owns just that. */
export interface Ownership extends Writer {
  readonly fields: FieldSet;
  readonly time?: string;
}

/** What everybody owns, by identity. */
export type Owners = ReadonlyMap<string, Ownership>;

export const NOBODY: Owners = new Map();

/** One of `metadata.managedFields`. */
export interface ManagedFieldsEntry extends Writer {
  readonly time?: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: object;
}

/** Two writes with the same identity are one manager's; whoever applies may do so in any version. */
export function identityOf({ manager, operation, apiVersion, subresource }: Writer): string {
  const version = operation === "Update" ? { apiVersion } : {};
  return JSON.stringify({ manager, operation, ...version, ...(subresource && { subresource }) });
}

/**
 * Whether `managedFields` would show the same managers with the same fields in the same order. When they came to own them
 * is left aside, unless it changes the order: so does the real server.
 */
export function sameOwners(a: Owners, b: Owners): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  const others = inOrder(b);
  return inOrder(a).every((owner, index) => {
    const other = others[index] as Ownership;
    return (
      identityOf(owner) === identityOf(other) &&
      owner.apiVersion === other.apiVersion &&
      same(owner.fields, other.fields)
    );
  });
}

/** Those who apply first, then by time, then by name. */
function inOrder(owners: Owners): Ownership[] {
  const order = (left: string, right: string) => (left === right ? 0 : left < right ? -1 : 1);
  return [...owners.values()].sort(
    (a, b) =>
      order(a.operation, b.operation) ||
      secondsOf(a) - secondsOf(b) ||
      order(a.manager, b.manager) ||
      order(a.apiVersion, b.apiVersion) ||
      order(a.subresource ?? "", b.subresource ?? ""),
  );
}

function secondsOf({ time }: Ownership): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0;
}

/** As `managedFields` shows it. */
export function shownOwners(owners: Owners): readonly ManagedFieldsEntry[] {
  return inOrder(owners).map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
    manager,
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: fieldsV1(fields),
    ...(subresource && { subresource }),
  }));
}

/**
 * What a client says of owners when it writes: `undefined` if nothing that could be understood, and then all stays as it
 * was. So clients that know nothing of `managedFields` do no harm. A list of one empty entry says that nobody owns anything;
 * so does an empty list, except for custom resources, of which the real server forgets it before it looks.
 */
export function givenOwners(managedFields: unknown, isCustom: boolean): Owners | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  if (managedFields.length === 0) return isCustom ? undefined : NOBODY;
  if (managedFields.length === 1 && isObject(managedFields[0]) && isVoid(managedFields[0])) return NOBODY;
  const owners = new Map<string, Ownership>();
  for (const entry of managedFields) {
    const ownership = isObject(entry) ? ownershipIn(entry) : undefined;
    if (!ownership) return undefined;
    owners.set(identityOf(ownership), ownership);
  }
  return owners;
}

function isVoid(entry: object): boolean {
  return Object.values(entry).every((value) => value === null || value === undefined || value === "");
}

function ownershipIn({
  manager,
  operation,
  apiVersion,
  subresource,
  time,
  fieldsType,
  fieldsV1: fields,
}: {
  readonly [field: string]: unknown;
}): Ownership | undefined {
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (typeof apiVersion !== "string" || apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
  try {
    return {
      manager: typeof manager === "string" ? manager : "",
      operation,
      apiVersion,
      ...(typeof subresource === "string" && subresource && { subresource }),
      ...(typeof time === "string" && { time }),
      fields: fromFieldsV1(fields),
    };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** How many managers that do not apply are told apart. */
const MOST_UPDATERS = 10;
const ANCIENT = "ancient-changes";

/** Puts the oldest managers together under one name, so that the list does not grow for ever. */
export function capped(owners: Owners): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === "Update");
  let count = updaters.length;
  if (count <= MOST_UPDATERS) return owners;
  updaters.sort(([a, left], [b, right]) => secondsOf(left) - secondsOf(right) || (a < b ? -1 : 1));
  const result = new Map(owners);
  const first = new Map<string, string>();
  for (const [identity, ownership] of updaters) {
    if (count <= MOST_UPDATERS) break;
    const { apiVersion, fields, time } = ownership;
    const earlier = first.get(apiVersion);
    if (earlier === undefined) {
      first.set(apiVersion, identity);
      continue;
    }
    const bucket: Writer = { manager: ANCIENT, operation: "Update", apiVersion };
    const known = result.get(identityOf(bucket)) ?? result.get(earlier);
    result.delete(earlier);
    result.delete(identity);
    const both = known ? union(fields, known.fields) : fields;
    result.set(identityOf(bucket), { ...bucket, fields: both, ...(time !== undefined && { time }) });
    count--;
  }
  return result;
}
