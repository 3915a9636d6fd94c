/** What is not wrong, but not right either: headers that kubectl shows as "Warning: …". Pure. */

/** How much of it goes out, in all. */
const LIMIT = 4096;

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
