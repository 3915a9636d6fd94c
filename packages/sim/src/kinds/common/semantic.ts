/** Whether two parts of objects mean the same: to the API server an empty list is as good as none. Pure. */
import { isObject } from "../../api/json.ts";
import { own } from "./maps.ts";

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    const [left, right] = [a ?? [], b ?? []];
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => same(item, right[index]));
  }
  if (!isObject(a) || !isObject(b)) return (a ?? undefined) === (b ?? undefined);
  for (const key in a) if (!same(a[key], own(b, key))) return false;
  for (const key in b) if (!Object.hasOwn(a, key) && !same(undefined, b[key])) return false;
  return true;
}
