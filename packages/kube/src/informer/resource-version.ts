/** Versions of objects. They can be compared by value since Kubernetes 1.35 says so; older servers behave the same. */

/** Whether `a` is later than `b`; `undefined` if these cannot be compared. */
export function isNewer(a: string | undefined, b: string | undefined): boolean | undefined {
  if (a === undefined || b === undefined || !isNumber(a) || !isNumber(b)) return undefined;
  return a.length === b.length ? a > b : a.length > b.length;
}

/** Without leading zeros, so that a longer one is a greater one. */
const isNumber = (version: string) => /^(0|[1-9]\d*)$/.test(version);
