/**
 * Bodies of requests: JSON or YAML, and nothing in them that would harm whoever reads them later. Pure.
 *
 * YAML is read as kubectl reads it (1.1, but times are texts), so that the same manifest means the same.
 */
import {
  type Document,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Tags,
  visit,
  YAMLParseError,
} from "yaml";
import { GatewayError } from "../errors.ts";

/** Nobody needs more, and recursion over it must end before the stack does. */
const DEEPEST = 100;

/** YAML is a hundred times slower to read than JSON, and keeps everybody else waiting; no manifest is larger. */
export const LARGEST_YAML = 256 * 1024;

/** @param limit - How large it may be in the end, in bytes. */
export function parseJson(text: string, limit: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(text.trim() === "" ? "it is empty" : `it is no JSON: ${messageOf(error)}`);
  }
  return harmless(value, limit);
}

const AS_KUBECTL = {
  version: "1.1",
  stringKeys: true,
  // Both would take seconds for bodies that are made for it: each key is compared with each, and the text is looked through for each error.
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags) =>
    tags.filter((tag) => typeof tag === "string" || !(tag.tag.endsWith(":timestamp") || tag.format === "TIME")),
} as const;

/** One document. @param limit - How large it may be in the end, in bytes. */
export function parseYaml(text: string, limit: number): unknown {
  const value = readYaml(text);
  return harmless(value, limit);
}

function readYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  try {
    const parsed = parseAllDocuments(text, { ...AS_KUBECTL, lineCounter });
    // Empty ones, as after the last "---", are nothing to speak of.
    const documents =
      "empty" in parsed ? [] : parsed.filter((each) => !isEmpty(each.contents) || each.errors.length > 0);
    const [first] = documents;
    if (!first) throw invalid("it is empty");
    if (documents.length > 1) throw invalid(`there are ${documents.length} documents in it: send one at a time`);
    const [problem] = first.errors;
    if (problem) throw problem;
    mustBeUnique(first);
    return first.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const { line, col } = error instanceof YAMLParseError ? lineCounter.linePos(error.pos[0]) : {};
    throw invalid(`it is no YAML: ${messageOf(error)}${line === undefined ? "" : ` at line ${line}, column ${col}`}`);
  }
}

/** A field that is given twice is a mistake, and nobody would know which of the two counts. */
function mustBeUnique(document: Document.Parsed): void {
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) throw invalid(`${String(name).slice(0, 100)} is given twice`);
        if (name !== "<<") seen.add(name);
      }
    },
  });
}

function isEmpty(contents: Node | null): boolean {
  return contents === null || (isScalar(contents) && contents.source === "" && contents.value === null);
}

/**
 * The value, if it is a plain one. References in YAML make a value that is small here and huge when it is written down, or that has
 * no end: so it is measured as if it were written down.
 */
function harmless(value: unknown, limit: number): unknown {
  let size = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value: each, depth } = next;
    size += typeof each === "string" ? each.length : 1;
    if (size > limit) throw tooLarge(limit);
    if (typeof each === "number" && !Number.isFinite(each)) throw invalid(`${each} is no number that JSON knows`);
    if (typeof each !== "object" || each === null) continue;
    if (depth >= DEEPEST) throw invalid(`it is nested more than ${DEEPEST} deep`);
    if (Array.isArray(each)) for (const item of each) left.push({ value: item, depth: depth + 1 });
    else {
      if (Object.getPrototypeOf(each) !== Object.prototype) throw invalid("it has something that JSON does not know");
      for (const key of Object.keys(each)) {
        const inner = (each as Record<string, unknown>)[key];
        mustNotPollute(key, inner);
        size += key.length;
        left.push({ value: inner, depth: depth + 1 });
      }
    }
  }
  return value;
}

/** Whoever copies such fields carelessly would change all objects there are. */
function mustNotPollute(key: string, value: unknown): void {
  const isConstructor =
    key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
  if (key !== "__proto__" && !isConstructor) return;
  throw invalid(`a field must not be called ${isConstructor ? "constructor.prototype" : key}`);
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError("BERTH_BODY_TOO_LARGE", `the body is larger than ${limit} bytes`);
}

function invalid(what: string): GatewayError {
  return new GatewayError("BERTH_BODY_INVALID", `body: ${what}`, {
    details: { errors: [{ field: "body", message: what }] },
  });
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
  return message.replace(/:$/, "").slice(0, 300);
}
