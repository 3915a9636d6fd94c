/**
 * In what order the items of a merged list stand: first as the patch says, and those that only the server has where they
 * stood among the others.
 */
import { isObject } from "../api/json.ts";
import { goText } from "./go-text.ts";
import { unexpected } from "./refusals.ts";

export type List = readonly unknown[];

/** By what an item is known: the value of its key, or the item itself if it is none with fields. */
export function keyOf(item: unknown, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined) return item;
  if (!isObject(item)) throw unexpected("expected a map[string]interface {}, but received something else");
  if (!Object.hasOwn(item, mergeKey)) {
    throw unexpected(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  }
  return item[mergeKey];
}

/**
 * The items of a merged list in order.
 *
 * @param wanted - Items, or only their keys, in the order of the patch.
 * @param before - The list as it was on the server.
 */
export function inOrder(merged: List, wanted: List, before: List, mergeKey: string | undefined): List {
  const placeIn = (list: List) => {
    const places = new Map<unknown, number>();
    for (const [index, item] of list.entries()) {
      const key = keyOf(item, mergeKey);
      if (!places.has(key)) places.set(key, index);
    }
    return (item: unknown) => places.get(keyOf(item, mergeKey));
  };
  const [placeInPatch, placeBefore] = [placeIn(wanted), placeIn(before)];
  const by = (place: (item: unknown) => number | undefined) => (a: unknown, b: unknown) =>
    (place(a) ?? 0) - (place(b) ?? 0);
  const ofPatch = merged.filter((item) => placeInPatch(item) !== undefined).sort(by(placeInPatch));
  const ofServer = merged.filter((item) => placeInPatch(item) === undefined).sort(by(placeBefore));
  const result: unknown[] = [];
  let next = 0;
  for (const item of ofPatch) {
    const place = placeBefore(item);
    while (next < ofServer.length && place !== undefined && (placeBefore(ofServer[next]) ?? Infinity) < place) {
      result.push(ofServer[next++]);
    }
    result.push(item);
  }
  return result.concat(ofServer.slice(next));
}
