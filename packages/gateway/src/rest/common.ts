/** What the routes have in common. */
import { type KubernetesObject, LabelSelector } from "@berth/kube";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import type { Asked } from "../http/route.ts";

export const nameParams = z.object({
  name: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .describe("Its name."),
});

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

/** Objects by name, a page of them. */
export function paged<T extends KubernetesObject>(
  objects: readonly T[],
  query: Asked["query"],
): { items: T[]; total: number; next?: string } {
  const { limit = LARGEST_PAGE, after, labelSelector } = query as z.output<typeof pageQuery>;
  const selector = selectorOf(labelSelector);
  const meant = objects.filter(({ metadata }) => selector.matches(metadata.labels)).sort(byName);
  const rest = after === undefined ? meant : meant.filter(({ metadata }) => (metadata.name ?? "") > after);
  const items = rest.slice(0, limit);
  const next = rest.length > limit ? items.at(-1)?.metadata.name : undefined;
  return { items, total: meant.length, ...(next !== undefined && { next }) };
}

function selectorOf(text: string | undefined): LabelSelector {
  try {
    return LabelSelector.parse(text ?? "");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new GatewayError("BERTH_BODY_INVALID", `query.labelSelector: ${message}`);
  }
}

function byName(a: KubernetesObject, b: KubernetesObject): number {
  const [left = "", right = ""] = [a.metadata.name, b.metadata.name];
  return left < right ? -1 : left > right ? 1 : 0;
}

export function etagOf(version: string): string {
  return `"${version}"`;
}

/** The version in If-Match; none if there is none, or "*". */
export function versionIn({ headers }: Asked): string | undefined {
  const header = headers["if-match"];
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "*") return undefined;
  const version = /^\s*(?:W\/)?"([\x21\x23-\x7e]*)"\s*$/.exec(text)?.[1];
  if (version === undefined || !/^\d+$/.test(version)) {
    throw new GatewayError(
      "BERTH_CHANGED_MEANWHILE",
      `If-Match: ${JSON.stringify(text.slice(0, 100))} is no ETag of ours`,
    );
  }
  return version;
}

/** One object, with its ETag; or nothing, if whoever asks has it already. */
export function one(view: { readonly version: string }, { headers }: Asked) {
  const etag = etagOf(view.version);
  const known = headers["if-none-match"];
  if (known === etag || known === "*") return { status: 304, headers: { etag } };
  return { headers: { etag }, body: view };
}

export function mustExist<T>(object: T | undefined, what: string, name: string): T {
  if (object === undefined) throw new GatewayError("BERTH_NOT_FOUND", `there is no ${what} ${name}`);
  return object;
}
