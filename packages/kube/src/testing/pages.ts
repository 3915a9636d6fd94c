/** Lists, whole or in pages. All pages of a list show the same moment, which the token for the next page names. */
import type { KubernetesObject } from "../objects/meta.ts";
import type { History, StoredObject } from "./history.ts";
import { type SelectionOptions, selection } from "./selection.ts";
import { ApiFailure, badRequest, forbiddenOption, tooLarge } from "./status.ts";

export interface ListOptions extends SelectionOptions {
  /** How many objects a page has at most. Default: all. */
  readonly limit?: number | undefined;
  /** The token of the page before. */
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
}

export interface ObjectList<T extends KubernetesObject = KubernetesObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    /** Not known to the server if there is a selector. */
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** The newest version, and the oldest that can still be read. */
export interface Bounds {
  readonly current: number;
  readonly compacted: number;
}

/** Where a page starts: at the first key that is not before `start`, in the list as it was at a version. */
interface Position {
  readonly version: number;
  readonly start: string;
}

export function page(
  history: History,
  options: ListOptions,
  bounds: Bounds,
): Pick<ObjectList<StoredObject>, "metadata" | "items"> {
  const selected = selection(options);
  const { version, start } = positionOf(options, bounds);
  const found = history.at(version).filter(([key, object]) => key >= start && selected(object));
  // The watch cache, which answers for version 0, knows no pages.
  const limit = options.resourceVersion === "0" ? 0 : (options.limit ?? 0);
  const items = limit > 0 ? found.slice(0, limit) : found;
  const left = found.length - items.length;
  const [last] = items.at(-1) ?? [];
  return {
    metadata: {
      resourceVersion: `${version}`,
      ...(left > 0 && { continue: tokenFor({ version, start: `${last}\0` }) }),
      ...(left > 0 && !options.labelSelector && !options.fieldSelector && { remainingItemCount: left }),
    },
    items: items.map(([, object]) => object),
  };
}

function positionOf(options: ListOptions, { current, compacted }: Bounds): Position {
  const { continue: token, resourceVersion = "", resourceVersionMatch: match = "", limit = 0 } = options;
  if (token) {
    if (match)
      throw forbiddenOption("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    if (resourceVersion && resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    const position = readToken(token);
    if (position.version < 0) return { ...position, version: current };
    if (position.version < compacted) throw continueExpired(position);
    return position;
  }
  if (match && !resourceVersion) {
    throw forbiddenOption(
      "resourceVersionMatch",
      "resourceVersionMatch is forbidden unless resourceVersion is provided",
    );
  }
  const asked = parseVersion(resourceVersion);
  if (asked > current) throw tooLarge(asked, current);
  // Whoever wants pages and a version without saying how they match gets that version.
  if (!(match === "Exact" || (match === "" && asked > 0 && limit > 0))) return { version: current, start: "" };
  if (asked < compacted) throw new ApiFailure(410, "The resourceVersion for the provided list is too old.");
  return { version: asked, start: "" };
}

/** Nothing given counts as 0: any version will do. */
export function parseVersion(text: string): number {
  if (/^\d*$/.test(text)) return Number(text);
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: "${text}": invalid syntax`);
}

function tokenFor({ version, start }: Position): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start })).toString("base64url");
}

function readToken(token: string): Position {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Number.isInteger(rv) && typeof start === "string") return { version: rv, start };
  } catch {} // the same as a text that is JSON and no token
  throw badRequest("invalid continue token: continue key is not valid");
}

/** Comes with a token for who would rather have the rest as it is now than begin again. */
function continueExpired({ start }: Position): ApiFailure {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list " +
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the " +
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, " +
    "modified, or deleted between the time the first chunk was returned and now may show up in the list.";
  return new ApiFailure(410, message, { metadata: { continue: tokenFor({ version: -1, start }) } });
}
