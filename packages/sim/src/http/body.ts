/** What comes in with a request: bytes up to a limit, read as JSON, YAML or protobuf. */
import type { Readable } from "node:stream";
import type { PatchType } from "@berth/kube";
import { parseDocument, type Tags } from "yaml";
import { badRequest, Refusal, unsupportedMediaType } from "../api/refusal.ts";
import { countFields, duplicates, survey } from "./json-text.ts";
import { fromProtobuf, PROTOBUF } from "./protobuf/decode.ts";

/** The real server's. */
export const BODY_LIMIT = 3 * 1024 * 1024;

/** How deep a body may be nested; nobody needs more, and recursion over it must end before the stack does. */
const DEEPEST = 500;

export interface Body {
  readonly value: unknown;
  /** Fields that were given more than once; the last one counts. */
  readonly duplicates: readonly string[];
}

const NOTHING: Body = { value: undefined, duplicates: [] };

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** How the body of a patch is meant, by its content type. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = mediaType(contentType);
  const known = PATCH_TYPES[type];
  if (known) return known;
  throw new Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", { details: {} });
}

/** Reads all of it, however slowly it comes; refuses when it is too much. */
export async function readBody(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > BODY_LIMIT) {
        const message = `Request entity too large: limit is ${BODY_LIMIT}`;
        throw new Refusal(413, "RequestEntityTooLarge", message);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw badRequest(`the body of the request broke off: ${message(error)}`);
  }
  return Buffer.concat(chunks);
}

/** What a body is meant to be, for the message when it is not: an object of a kind, a patch, or options. */
export type Meant = { readonly kind: string } | "patch" | "options";

/** The value of a body; nothing if it is empty. */
export function parseBody(bytes: Buffer, contentType: string | undefined, meant: Meant): Body {
  const type = mediaType(contentType);
  if (type === PROTOBUF) return bytes.length === 0 ? NOTHING : { value: fromProtobuf(bytes), duplicates: [] };
  const [json, yaml] = [type === "" || type === "application/json" || type.endsWith("+json"), type.endsWith("yaml")];
  if (!json && !yaml) {
    const names = `application/json, application/yaml, ${PROTOBUF}`;
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${names}`,
    );
  }
  const text = bytes.toString("utf8");
  if (text.trim() === "") {
    if (meant === "options") return NOTHING;
    throw unreadable(text, "unexpected end of JSON input", meant);
  }
  try {
    return fromJson(text);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (!yaml) throw unreadable(text, message(error), meant);
    return fromYaml(text);
  }
}

function unreadable(text: string, problem: string, meant: Meant): Refusal {
  if (meant === "patch") return badRequest(`error decoding patch: ${problem}`);
  const why = `couldn't get version/kind; json parse error: ${problem}`;
  if (meant === "options") return badRequest(why);
  return badRequest(`the object provided is unrecognized (must be of type ${meant.kind}): ${why} (${summary(text)})`);
}

/** The beginning of what somebody sent, in a form that harms no terminal. */
function summary(text: string): string {
  const hex = Buffer.from(text.slice(0, 20)).toString("hex");
  return text === "" ? "<empty>" : text.length > 20 ? `${hex} ...` : hex;
}

function fromJson(text: string): Body {
  const value: unknown = JSON.parse(text);
  const { depth, fields } = survey(text);
  if (depth > DEEPEST) throw badRequest("error decoding the body of the request: exceeded max depth");
  return { value, duplicates: countFields(value) === fields ? [] : duplicates(text) };
}

/** The real server reads YAML 1.1, where "y" is true; but times are texts, and 1:30 is no number. */
const YAML_OF_GO = {
  version: "1.1",
  uniqueKeys: false,
  stringKeys: true,
  customTags: (tags: Tags) =>
    tags.filter((tag) => typeof tag === "string" || !(tag.tag.endsWith(":timestamp") || tag.format === "TIME")),
} as const;

/** Every JSON text is YAML, so this comes second; it is much slower. */
function fromYaml(text: string): Body {
  try {
    const document = parseDocument(text, YAML_OF_GO);
    const [problem] = document.errors;
    if (problem) throw problem;
    // By way of JSON: what YAML has beyond it, as references to itself, ends here.
    return fromJson(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw badRequest(`error decoding YAML: ${message(error)}`);
  }
}

function mediaType(contentType = ""): string {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function message(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
}
