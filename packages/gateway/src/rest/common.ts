/** What the routes have in common: names, pages, and ETags. */
import { createHash } from "node:crypto";
import { type KubernetesObject, LabelSelector } from "@berth/kube";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import type { Asked } from "../http/route.ts";

/** Of everything that has a name. */
export const nameParams = z.object({
  name: z
    .string()
    .max(253)
    .regex(
      /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
      "must be lower case letters, digits, '-' and '.', with a letter or digit at both ends",
    )
    .describe("Its name."),
});

/** Of lists. */
export const pageQuery = z.strictObject({
  limit: z.int().min(1).max(1000).optional().describe("How many at most. Default: 500."),
  after: z.string().max(253).optional().describe("Where to go on: `next` of the page before."),
  labelSelector: z.string().max(1024).optional().describe("As for kubectl: team=a,stage!=test. Default: all."),
});

/** A part of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    total: z.int().describe("How many there are on all pages."),
    next: z.string().optional().describe("To be sent as `after` for the next page; absent on the last one."),
  });
}

const LARGEST_PAGE = 500;

/** What lists are ordered by, and pages are continued after. */
type Order<T, K> = (object: T) => K;

const byName: Order<KubernetesObject, string> = ({ metadata }) => metadata.name ?? "";

/** Objects by name, a page of them. */
export function paged<T extends KubernetesObject>(
  objects: readonly T[],
  query: Asked["query"],
): { items: T[]; total: number; next?: string } {
  return pagedBy(byName, objects, query);
}

/** Objects in some order, a page of them. What comes and goes between two pages does not shift the others. */
export function pagedBy<T extends KubernetesObject, K extends string | number>(
  key: Order<T, K>,
  objects: readonly T[],
  query: Asked["query"],
): { items: T[]; total: number; next?: K } {
  const { limit = LARGEST_PAGE, after, labelSelector } = query as { limit?: number; after?: K; labelSelector?: string };
  const selector = selectorOf(labelSelector);
  const meant = objects.filter(({ metadata }) => selector.matches(metadata.labels));
  const rest = (after === undefined ? meant : meant.filter((each) => key(each) > after)).sort((a, b) =>
    key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0,
  );
  const items = rest.slice(0, limit);
  const [last] = items.slice(-1);
  return { items, total: meant.length, ...(last && rest.length > limit && { next: key(last) }) };
}

function selectorOf(text: string | undefined): LabelSelector {
  try {
    return LabelSelector.parse(text ?? "");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new GatewayError("BERTH_BODY_INVALID", `query.labelSelector: ${message}`);
  }
}

/**
 * The ETag of what is shown. Some of it comes from other objects, so the version alone would not tell whether it is still the same; a
 * digest of it all does. The version is in front, for those who want to change the object.
 */
export function etagOf(view: { readonly version: string }): string {
  const digest = createHash("sha256").update(JSON.stringify(view)).digest("hex").slice(0, 12);
  return `"${view.version}.${digest}"`;
}

/** The version in If-Match, which may also be what views have as `version`; none if there is none, or "*". */
export function versionIn({ headers }: Asked): string | undefined {
  const text = single(headers["if-match"]);
  if (text === undefined || text.trim() === "*") return undefined;
  const version = /^\s*(?:W\/)?"?(\d+)(?:\.[0-9a-f]+)?"?\s*$/.exec(text)?.[1];
  if (version !== undefined) return version;
  const said = JSON.stringify(text.slice(0, 100));
  throw new GatewayError("BERTH_CHANGED_MEANWHILE", `If-Match: ${said} is not one ETag of ours`);
}

/** One object, with its ETag; or nothing, if whoever asks has it already. */
export function one(view: { readonly version: string }, { headers }: Asked) {
  const etag = etagOf(view);
  const known = (single(headers["if-none-match"]) ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return { status: 304, headers: { etag } };
  return { headers: { etag }, body: view };
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}

/** The object, or BERTH_NOT_FOUND. */
export function mustExist<T>(object: T | undefined, what: string, name: string): T {
  if (object === undefined) throw new GatewayError("BERTH_NOT_FOUND", `there is no ${what} ${name}`);
  return object;
}
