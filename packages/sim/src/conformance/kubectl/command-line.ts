/** Commands as people type them, and what they print without what differs from one run to the next. Pure. */

/** Splits a command as a shell would: quotes keep words together. */
export function words(command: string): string[] {
  const found = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
}

/** What generated names end with. */
const SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}";
const HASH = "[bcdfghjklmnpqrstvwxz2456789]{6,10}";
const AGE = "(?:\\d+[ydhms]){1,2}";

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, "TIME"],
  [/[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}/g, "TIME"],
  [/https?:\/\/127\.0\.0\.1:\d+/g, "SERVER"],
  [/v1\.36\.\d+\S*/g, "VERSION"],
  [/(resourceVersion"?: ")\d+"/g, '$1N"'],
  [new RegExp(`-${HASH}-${SUFFIX}\\b`, "g"), "-HASH-SUFFIX"],
  [new RegExp(`(pod-template-hash[=:] ?)"?${HASH}"?`, "g"), "$1HASH"],
  [new RegExp(`(?<=[a-z0-9])-${HASH}(?= |$|"| \\()`, "g"), "-HASH"],
  [new RegExp(`(?<=[a-z0-9])-${SUFFIX}(?= |$|")`, "g"), "-SUFFIX"],
  [/\b(10|172|192)\.\d+\.\d+\.\d+\b/g, "IP"],
  [/(:|<unset>\s+|nodePort: )3[0-2]\d{3}(?=\/|$)/g, "$1NODEPORT"],
  [new RegExp(`\\((?:x\\d+ over )?${AGE}( ago)?\\)`, "g"), "(AGE)"],
  [new RegExp(`(^|\\s)${AGE} \\((?:x\\d+ over )?AGE\\)`, "g"), "$1AGE"],
  [new RegExp(`(^|\\s)${AGE}(?=\\s|$)`, "g"), "$1AGE"],
];

/** What a command printed, without ages, names and addresses that chance gives, and without widths of columns. */
export function normalised(text: string, names: Readonly<Record<string, string>> = {}): string {
  const lines = text.split("\n").map((line) => {
    let result = line;
    for (const [name, stand] of Object.entries(names)) result = result.replaceAll(name, stand);
    for (const [pattern, stand] of REPLACEMENTS) result = result.replace(pattern, stand);
    return result
      .replace(/(\S) {2,}(?=\S)/g, "$1  ")
      .replace(/\t+/g, "  ")
      .trimEnd();
  });
  return lines.join("\n").trimEnd();
}
