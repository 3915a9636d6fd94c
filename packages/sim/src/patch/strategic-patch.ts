/**
 * Strategic merge patches: as merge patches, but lists are merged by the keys of their items where the kind's schema says
 * so, and directives in the patch ($patch, $retainKeys, $deleteFromPrimitiveList/…, $setElementOrder/…) say what to remove
 * and how to order. That is what `kubectl apply`, `edit` and `label` send for built-in kinds.
 */
import { define, isObject, type JsonObject } from "../api/json.ts";
import { badRequest } from "../api/refusal.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { goText } from "./go-text.ts";
import { doesNotApply, unexpected } from "./refusals.ts";
import { inOrder, keyOf, type List } from "./strategic-order.ts";

const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList";
const SET_ORDER = "$setElementOrder";

/** An object after a patch. Neither is changed; the result shares with both whatever it has of them as it was. */
export function strategicPatched(before: JsonObject, patch: JsonObject, schema: SchemaNode): JsonObject {
  if (Object.hasOwn(patch, PATCH)) return directed(patch);
  const retained = retainedKeys(patch);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(before)) {
    if (!retained || retained.has(key)) define(result, key, value);
  }
  const ordered = orderedLists(result, patch, schema);
  for (const [key, value] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || value === undefined || key.startsWith(SET_ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETE_FROM)) deleteFrom(result, directedField(key, DELETE_FROM), value);
    else mergeField(result, key, value, schema);
  }
  return result;
}

/** What a map becomes that has a directive for itself. */
function directed(patch: JsonObject): JsonObject {
  const { [PATCH]: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw unexpected(`unknown patch type: ${String(directive)} in map: ${goText(patch)}`);
}

/** `undefined` if the patch does not say which fields are to stay. */
function retainedKeys(patch: JsonObject): Set<unknown> | undefined {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return undefined;
  const list = patch[RETAIN_KEYS];
  if (!Array.isArray(list)) throw badRequest("invalid patch format of retainKeys");
  const retained = new Set(list);
  for (const [key, value] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || value == null || key.startsWith(DELETE_FROM) || key.startsWith(SET_ORDER)) continue;
    // Whoever sets a field must not forget to say that it stays.
    if (!retained.has(key)) throw badRequest("invalid patch format of retainKeys");
  }
  return retained;
}

function mergeField(result: JsonObject, key: string, value: unknown, schema: SchemaNode): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const before = Object.hasOwn(result, key) ? result[key] : undefined;
  const node = fieldOf(schema, key);
  if (isObject(before) && isObject(value)) {
    const replaced = node.patchStrategy?.includes("replace");
    define(result, key, replaced ? value : strategicPatched(before, value, node));
  } else if (Array.isArray(before) && Array.isArray(value)) {
    define(result, key, mergedList(before, value, node));
  } else {
    const fresh = withoutDirectives(value);
    if (fresh === undefined) delete result[key];
    else define(result, key, fresh);
  }
}

/** Takes some texts or numbers out of a list. */
function deleteFrom(result: JsonObject, key: string, values: unknown): void {
  if (values === null) {
    delete result[key];
    return;
  }
  const before = Object.hasOwn(result, key) ? result[key] : undefined;
  if (!Array.isArray(before) || !Array.isArray(values)) return;
  if (before.length === 0 && values.length === 0) return;
  checkItems(before, values);
  define(
    result,
    key,
    before.filter((item) => !values.includes(item)),
  );
}

/** Merges the lists whose order the patch gives, into `result`; their names are returned: they are done. */
function orderedLists(result: JsonObject, patch: JsonObject, schema: SchemaNode): Set<string> {
  const done = new Set<string>();
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(SET_ORDER)) continue;
    if (!Array.isArray(order)) throw unexpected("expected a []interface {}, but received something else");
    const key = directedField(directive, SET_ORDER);
    const before = listIn(result, key);
    const change = listIn(patch, key);
    const node = fieldOf(schema, key);
    if (change) checkOrder(change, order, node.patchMergeKey);
    if (!before && !change) continue;
    const merged =
      before && change
        ? mergedList(before, change, node)
        : (before ?? (withoutDirectives(change) as readonly unknown[]));
    checkItems(before ?? [], change ?? []);
    define(result, key, inOrder(merged, order, before ?? [], node.patchMergeKey));
    done.add(key);
  }
  return done;
}

function listIn(object: JsonObject, key: string): List | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw unexpected("expected a []interface {}, but received something else");
  return value;
}

/** Every item that is changed must be in the order, and in the same order. */
function checkOrder(change: List, order: List, mergeKey: string | undefined): void {
  if (change.length === 0 || order.length === 0) return;
  const items = change.filter((item) => !isObject(item) || !Object.hasOwn(item, PATCH));
  let found = 0;
  for (let index = 0; index < order.length && found < items.length; index++) {
    if (keyOf(items[found], mergeKey) === keyOf(order[index], mergeKey)) found++;
  }
  if (found === items.length) return;
  throw unexpected(
    `The order in patch list:\n${goText(change)}\n doesn't match ${SET_ORDER} list:\n${goText(order)}\n`,
  );
}

function mergedList(before: List, change: List, node: SchemaNode): List {
  if (!node.patchStrategy?.includes("merge")) return change;
  if (before.length === 0 && change.length === 0) return before;
  if (checkItems(before, change) !== "object") {
    return inOrder([...new Set([...before, ...change])], change, before, undefined);
  }
  const mergeKey = node.patchMergeKey;
  if (mergeKey === undefined) throw unexpected("cannot merge lists without merge key for struct");
  const { kept, changes } = withoutSpecialItems(before, change as readonly JsonObject[], mergeKey);
  const merged = [...kept];
  for (const item of changes) {
    const key = keyOf(item, mergeKey);
    const index = merged.findIndex((each) => isObject(each) && each[mergeKey] === key);
    if (index < 0) merged.push(item);
    else merged[index] = strategicPatched(merged[index] as JsonObject, item, node.element ?? ANYTHING);
  }
  return inOrder(merged, changes, kept, mergeKey);
}

/** Carries out what items of the patch say of the list: to remove an item, to replace the whole. */
function withoutSpecialItems(before: List, change: readonly JsonObject[], mergeKey: string) {
  let kept = before;
  let replaced = false;
  const changes: JsonObject[] = [];
  for (const item of change) {
    const directive = item[PATCH];
    if (!Object.hasOwn(item, PATCH)) changes.push(item);
    else if (directive === "replace") replaced = true;
    else if (directive === "merge") throw unexpected("merging lists cannot yet be specified in the patch");
    else if (directive === "delete") {
      const key = keyOf(item, mergeKey);
      kept = kept.filter((each) => !isObject(each) || each[mergeKey] !== key);
    } else throw unexpected(`unknown patch type: ${String(directive)} in map: ${goText(item)}`);
  }
  return replaced ? { kept: changes, changes: [] } : { kept, changes };
}

/** All items of lists that are merged must be of one type, which is returned. */
function checkItems(...lists: readonly List[]): string {
  let type: string | undefined;
  for (const item of lists.flat()) {
    if (Array.isArray(item)) throw doesNotApply("lists of lists are not supported");
    const own = item === null ? "null" : typeof item;
    type ??= own;
    if (own !== type) throw unexpected(`list element types are not identical: ${goText(lists)}`);
  }
  if (type === undefined) throw unexpected("no elements in any of the given slices");
  return type;
}

/** What a patch says of something that was not there; `undefined` if it is only a directive. */
function withoutDirectives(patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(patch)) return patch;
  if (Object.hasOwn(patch, PATCH)) return undefined;
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    const fresh = value === null ? undefined : withoutDirectives(value);
    if (fresh !== undefined) define(result, key, fresh);
  }
  return result;
}

/** "$setElementOrder/containers" is about "containers". */
function directedField(directive: string, prefix: string): string {
  if (directive.startsWith(`${prefix}/`)) return directive.slice(prefix.length + 1);
  const what = prefix === SET_ORDER ? "setElementOrder list" : "primitive list";
  throw badRequest(`invalid patch format of ${what}`);
}

const ANYTHING: SchemaNode = { type: "any" };

function fieldOf(schema: SchemaNode, key: string): SchemaNode {
  if (schema.fields && Object.hasOwn(schema.fields, key)) return schema.fields[key] as SchemaNode;
  return schema.type === "map" ? (schema.element ?? ANYTHING) : ANYTHING;
}
