/** Texts in order, for `sort`: what is not there comes first. Not by locale, which would be another order elsewhere. */
export function compare(a = "", b = ""): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
