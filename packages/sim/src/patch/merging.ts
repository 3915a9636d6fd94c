/** An object with a configuration laid over it. */
import { define, isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import type { PathElement } from "./path-element.ts";
import { ANYTHING, fieldNode, formOf, itemElement, type ListShape, type MapShape, shapeOf } from "./shape.ts";

/**
 * The object with everything that the configuration says; nothing is removed. Neither is changed, and the result shares
 * with both what it has of them as it was.
 */
export function merged(object: unknown, configuration: unknown, node: SchemaNode): unknown {
  if (configuration === undefined) return object;
  if (object === undefined || object === configuration) return configuration;
  const shape = shapeOf(node);
  const form = formOf(shape, configuration);
  if (typeof form === "string") return configuration;
  if (form.kind === "map") {
    const [old, fresh] = [isObject(object) ? object : {}, isObject(configuration) ? configuration : {}];
    const bare = Object.keys(old).length === 0 && Object.keys(fresh).length === 0;
    return form.atomic || bare ? configuration : mergedMap(form, old, fresh);
  }
  const [old, fresh] = [Array.isArray(object) ? object : [], Array.isArray(configuration) ? configuration : []];
  const bare = old.length === 0 && fresh.length === 0;
  return form.type === "atomic" || bare ? configuration : mergedList(form, old, fresh);
}

function mergedMap(form: MapShape, object: JsonObject, configuration: JsonObject): JsonObject {
  let result = object;
  for (const [name, value] of Object.entries(configuration)) {
    const before = Object.hasOwn(object, name) ? object[name] : undefined;
    const after = merged(before, value, fieldNode(form, name) ?? ANYTHING);
    if (after === before) continue;
    if (result === object) result = { ...object };
    define(result, name, after);
  }
  return result;
}

/**
 * Items of the configuration come in its order, those that only the object has where they stood between them.
 */
function mergedList(form: ListShape, list: readonly unknown[], configuration: readonly unknown[]): readonly unknown[] {
  const fresh = configuration.map((item): [PathElement, unknown] => [itemElement(form, item), item]);
  const old = list.map((item): [PathElement, unknown] => [itemElement(form, item), item]);
  const before = new Map<PathElement, unknown>();
  // Of several that are the same none is merged with what is new.
  for (const [element, item] of old) before.set(element, before.has(element) ? undefined : item);
  const wanted = new Map(fresh);
  const both = fresh.filter(([element]) => before.has(element)).map(([element]) => element);
  let next = 0;
  const result: unknown[] = [];
  const done = new Set<PathElement>();
  const take = ([element, item]: [PathElement, unknown]) => {
    done.add(element);
    result.push(merged(before.get(element), item, form.element));
    if (both[next] === element) next++;
  };
  let [left, right] = [0, 0];
  while (left < old.length || right < fresh.length) {
    const [ours, theirs] = [old[left], fresh[right]];
    if (ours && theirs) {
      if (ours[0] === theirs[0]) {
        take(theirs);
        left++;
        right++;
        continue;
      }
      if (wanted.has(ours[0]) && next < both.length && both[next] !== ours[0]) {
        left++; // it comes later, in the order of the configuration
        continue;
      }
    }
    if (ours) {
      if (!wanted.has(ours[0])) {
        result.push(ours[1]);
        left++;
        continue;
      }
      if (done.has(ours[0])) left++;
    }
    if (theirs) {
      take(theirs);
      right++;
    }
  }
  const unchanged = result.length === list.length && result.every((item, index) => item === list[index]);
  return unchanged ? list : result;
}
