/** What names, labels and annotations may look like, worded as the real API server words it. Pure. */
import type { FieldErrors } from "./field-errors.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART_WORDS =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const longest = (length: number) => `must be no more than ${length} bytes`;
const mostCharacters = (length: number) => `must be no more than ${length} characters`;

const NONE: readonly string[] = [];

/** What has been found good is known by heart: the same labels come with every write. */
function remembered(check: (text: string) => readonly string[]): (text: string) => readonly string[] {
  const good = new Set<string>();
  return (text) => {
    if (good.has(text)) return NONE;
    const problems = check(text);
    if (problems.length === 0 && good.size < 10_000) good.add(text);
    return problems;
  };
}

export type NameRule = "subdomain" | "label" | "label1035" | "segment";

/** What is wrong with the name of an object. */
export function nameProblems(name: string, rule: NameRule): readonly string[] {
  switch (rule) {
    case "subdomain":
      return subdomainProblems(name);
    case "label":
      return labelProblems(name);
    case "label1035":
      return problemsOf(name, 63, LABEL_1035, LABEL_1035_WORDS);
    case "segment":
      return segmentProblems(name);
  }
}

function problemsOf(name: string, length: number, form: RegExp, words: string): readonly string[] {
  const isGood = form.test(name);
  if (isGood && name.length <= length) return NONE;
  return [...(name.length > length ? [mostCharacters(length)] : []), ...(isGood ? [] : [words])];
}

export function labelProblems(name: string): readonly string[] {
  if (LABEL.test(name)) return name.length > 63 ? [mostCharacters(63)] : NONE;
  return problemsOf(name, 63, LABEL, SUBDOMAIN.test(name) ? "must not contain dots" : LABEL_WORDS);
}

export function subdomainProblems(name: string): readonly string[] {
  return problemsOf(name, 253, SUBDOMAIN, SUBDOMAIN_WORDS);
}

function segmentProblems(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
}

/** What is wrong with the key of a label, an annotation, a finalizer, a taint: "example.org/name" or "name". */
export const qualifiedNameProblems = remembered((key) => {
  const parts = key.split("/");
  const name = parts.at(-1) as string;
  if (parts.length > 2) {
    return [
      `a valid label key ${NAME_PART_WORDS.slice("name part ".length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...subdomainProblems(prefix).map((each) => `prefix part ${each}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push(`name part ${longest(63)}`);
  if (!QUALIFIED.test(name)) problems.push(NAME_PART_WORDS);
  return problems;
});

export const labelValueProblems = remembered((value) => [
  ...(value.length > 63 ? [longest(63)] : []),
  ...(LABEL_VALUE.test(value) ? [] : [LABEL_VALUE_WORDS]),
]);

/** Checks labels, wherever they stand. */
export function checkLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
  errors: FieldErrors,
): void {
  for (const key in labels) {
    for (const problem of qualifiedNameProblems(key)) errors.invalid(field, key, problem);
    for (const problem of labelValueProblems(labels[key] as string)) errors.invalid(field, labels[key], problem);
  }
}

/** Half of what etcd takes. */
const ANNOTATIONS_LIMIT = 256 * 1024;

export function checkAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field: string,
  errors: FieldErrors,
): void {
  let size = 0;
  for (const key in annotations) {
    for (const problem of qualifiedNameProblems(key.toLowerCase())) errors.invalid(field, key, problem);
    size += key.length + (annotations[key] as string).length;
  }
  if (size > ANNOTATIONS_LIMIT) errors.tooLong(field, ANNOTATIONS_LIMIT);
}
