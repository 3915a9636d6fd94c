/** Lists, whole or in pages. All pages of a list show the same moment, which the token for the next page names. */
import type { Collection } from "../storage/collection.ts";
import type { AnyObject } from "./json.ts";
import { checkListOptions } from "./list-options.ts";
import { version as parseVersion, type Query, text, wholeNumber } from "./parameters.ts";
import { badRequest, expired, type Refusal, tooLarge } from "./refusal.ts";
import type { Selection } from "./selection.ts";

export interface Page {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    /** Not known to the server if there is a selector. */
    readonly remainingItemCount?: number;
  };
  readonly items: readonly AnyObject[];
}

/** Where a page starts: at the first key that is not before `start`, in the list as it was at a version. */
interface Position {
  readonly version: number;
  readonly start: string;
}

export function page(collection: Collection, selection: Selection, query: Query, current: number): Page {
  checkListOptions(query, false);
  const { version, start } = positionOf(query, current, collection.forgotten);
  // Whoever names version 0 is content with whatever is at hand, and that is not in pages.
  const limit = text(query, "resourceVersion") === "0" ? 0 : (wholeNumber(query, "limit") ?? 0);
  const items: AnyObject[] = [];
  let last = "";
  let left = 0;
  for (const [key, object] of collection.at(version, selection.namespace)) {
    if (key < start || !selection.matches(object)) continue;
    if (limit > 0 && items.length === limit) {
      left++;
      continue;
    }
    items.push(object);
    last = key;
  }
  return {
    metadata: {
      resourceVersion: String(version),
      ...(left > 0 && { continue: tokenFor({ version, start: `${last}\0` }) }),
      ...(left > 0 && selection.everything && { remainingItemCount: left }),
    },
    items,
  };
}

function positionOf(query: Query, current: number, forgotten: number): Position {
  const [token, resourceVersion] = [text(query, "continue"), text(query, "resourceVersion")];
  const match = text(query, "resourceVersionMatch");
  if (token) {
    if (resourceVersion && resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    const position = readToken(token);
    if (position.version < 0) return { ...position, version: current };
    if (position.version < forgotten) throw continueExpired(position);
    return position;
  }
  const asked = parseVersion(resourceVersion);
  if (asked > current) throw tooLarge(asked, current);
  // Whoever wants pages and a version without saying how they match gets that version.
  const exact = match === "Exact" || (match === "" && asked > 0 && (wholeNumber(query, "limit") ?? 0) > 0);
  if (!exact) return { version: current, start: "" };
  if (asked < forgotten) throw expired("The resourceVersion for the provided list is too old.");
  return { version: asked, start: "" };
}

function tokenFor({ version, start }: Position): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start })).toString("base64url");
}

function readToken(token: string): Position {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Number.isInteger(rv) && typeof start === "string") return { version: rv, start };
  } catch {} // the same as a text that is JSON and no token
  throw badRequest("continue key is not valid: invalid character in the token");
}

/** Comes with a token for who would rather have the rest as it is now than begin again. */
function continueExpired({ start }: Position): Refusal {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list " +
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the " +
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, " +
    "modified, or deleted between the time the first chunk was returned and now may show up in the list.";
  return expired(message, { metadata: { continue: tokenFor({ version: -1, start }) } });
}
