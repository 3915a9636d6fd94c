/** What is not wrong, but not right either: headers that kubectl shows as "Warning: …". Pure. */

import type { Kind } from "@berth/kube";

/** How much of it goes out, in all. */
const LIMIT = 4096;

/** What is on its way out, by group, version and plural. */
const DEPRECATED: Readonly<Record<string, string>> = {
  "/v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
  "/v1/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};

/** What whoever uses a resource should know. */
export function deprecation({ group, version, plural }: Pick<Kind, "group" | "version" | "plural">): string[] {
  const warning = DEPRECATED[`${group}/${version}/${plural}`];
  return warning === undefined ? [] : [warning];
}

export function warningHeaders(warnings: readonly string[]): string[] {
  const headers: string[] = [];
  let size = 0;
  for (const warning of new Set(warnings)) {
    const header = `299 - "${quoted(warning)}"`;
    size += header.length;
    if (size > LIMIT) break;
    headers.push(header);
  }
  return headers;
}

/** Headers are one line of ASCII. */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not get into a header
  return text.replace(/[\u0000-\u001f\u007f-\uffff]+/g, " ").replace(/["\\]/g, "\\$&");
}
