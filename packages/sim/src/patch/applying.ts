/** Server-side apply: what an object becomes, and who owns what then, when somebody applies a configuration. Pure. */
import { equal, type JsonObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import { EMPTY, type FieldSet, has, intersection, isEmpty, pathsOf, union } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { allowedByLastApplied } from "./last-applied.ts";
import { identityOf, type Owners, type Ownership, type Writer } from "./managers.ts";
import { merged } from "./merging.ts";
import { changeable, changesOf, ownable, withoutOthers } from "./owning.ts";
import { type Path, shownPath } from "./path-element.ts";
import { pruned } from "./pruning.ts";
import { rootOf } from "./shape.ts";

export interface Application {
  /** As it is; blank if there is none yet. */
  readonly object: JsonObject;
  readonly owners: Owners;
  /** Checked by `problemOf` before. */
  readonly configuration: JsonObject;
  readonly resource: Resource;
  readonly writer: Writer;
  readonly time: string;
  /** Takes what others own. */
  readonly force: boolean;
}

export interface Outcome {
  readonly object: JsonObject;
  readonly owners: Owners;
}

/** @throws A `Refusal` with the conflicts, if there are any that are not to be forced. */
export function outcomeOf(application: Application): Outcome {
  const { object, owners, configuration, resource, writer, time, force } = application;
  const root = rootOf(resource);
  const identity = identityOf(writer);
  const last = owners.get(identity);
  const mentioned = changeable(fieldsOf(configuration, root), resource, writer);
  const wanted = ownable(mentioned);
  let owned = mentioned;
  for (const [other, { fields }] of owners) if (other !== identity) owned = union(owned, fields);
  const next = pruned(merged(object, configuration, root), root, last?.fields ?? EMPTY, owned) as JsonObject;
  const { added, modified, removed } = changesOf(object, next, resource, writer);
  const changed = union(modified, added);
  if (!force) {
    const conflicts = conflictsWith(owners, changed, identity);
    const allowed = conflicts.length > 0 ? allowedByLastApplied(object, resource, writer) : EMPTY;
    const serious = conflicts.filter(({ path }) => !has(allowed, path));
    if (serious.length > 0) throw conflicted(serious);
  }
  const result = withoutOthers(owners, changed, removed, identity);
  if (isEmpty(wanted)) result.delete(identity);
  else {
    // Whoever says what is so anyway has not changed anything: his time stays what it was, if he had one.
    const since = equal(object, next) ? last?.time : time;
    result.set(identity, { ...writer, fields: wanted, ...(since !== undefined && { time: since }) });
  }
  return { object: next, owners: result };
}

/** A field that one wants to change and another owns. */
interface Conflict {
  readonly owner: Ownership;
  readonly path: Path;
}

function conflictsWith(owners: Owners, changed: FieldSet, except: string): Conflict[] {
  return [...owners]
    .filter(([identity]) => identity !== except)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, owner]) => [...pathsOf(intersection(owner.fields, changed))].map((path) => ({ owner, path })));
}

function conflicted(conflicts: readonly Conflict[]): Refusal {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownOwner(owner)}`,
    field: shownPath(path),
  }));
  return new Refusal(409, "Conflict", conflictMessage(conflicts), { details: { causes } });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${shownOwner(first.owner)}: ${shownPath(first.path)}`;
  }
  const byOwner = Map.groupBy(conflicts, ({ owner }) => owner);
  const lines = [...byOwner].flatMap(([owner, theirs]) => [
    `conflicts with ${shownOwner(owner)}:`,
    ...theirs.map(({ path }) => `- ${shownPath(path)}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function shownOwner({ manager, operation, apiVersion, subresource }: Ownership): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : "");
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
