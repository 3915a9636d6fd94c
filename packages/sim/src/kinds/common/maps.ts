/** Maps whose keys somebody else chose: "constructor" is a name like any other. */

export function own<T>(map: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

export function isEmptyMap(map: object | undefined): boolean {
  for (const _ in map) return false;
  return true;
}

/** Whether all of the first map's entries are in the second. */
export function isContained(
  part: { readonly [key: string]: string | undefined } | undefined,
  whole: { readonly [key: string]: string | undefined } | undefined,
): boolean {
  for (const key in part) if (own(whole, key) !== part[key]) return false;
  return true;
}
