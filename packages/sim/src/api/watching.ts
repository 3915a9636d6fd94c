/** Watches: what comes first, every change after it, bookmarks, and the end when the time is up. */
import type { Clock } from "@berth/kube";
import type { Collection } from "../storage/collection.ts";
import type { Store } from "../storage/store.ts";
import type { AnyObject } from "./json.ts";
import { checkListOptions } from "./list-options.ts";
import { flag, version as parseVersion, type Query, text, wholeNumber } from "./parameters.ts";
import { expired, tooLarge } from "./refusal.ts";
import type { Resource } from "./resource.ts";
import { type Selection, seenBy } from "./selection.ts";

/** One change, or how far a watch has come. */
export type WatchEvent = { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: AnyObject };

/** Where a watch's events go. Both are called in the moment of the change. */
export interface WatchOutput {
  send(event: WatchEvent): void;
  end(): void;
}

/** The annotation of the bookmark after the objects that were there already. */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

const BOOKMARK_INTERVAL_MS = 60_000;

/** Where a watch begins. */
interface Beginning {
  /** Objects that were there already come first, as ADDED. */
  readonly initial: boolean;
  /** Whether a bookmark says where they end. */
  readonly marked: boolean;
  /** Changes after this version follow. */
  readonly from: number;
}

/** Runs until its time is up or the function that it returns is called. Refuses before the first event, if it does. */
export function watch(
  resource: Resource,
  selection: Selection,
  query: Query,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  output: WatchOutput,
): () => void {
  const collection = store.collection(resource.storage);
  const { initial, marked, from } = beginningOf(query, store.version, collection);
  const bookmarks = flag(query, "allowWatchBookmarks");
  const timeoutSeconds = wholeNumber(query, "timeoutSeconds");
  const read = resource.conversion?.fromStored ?? ((object: AnyObject) => object);
  const { apiVersion, kind } = resource;
  const bookmark = (annotations?: Record<string, string>) => {
    const metadata = { resourceVersion: String(store.version), ...(annotations && { annotations }) };
    output.send({ type: "BOOKMARK", object: { apiVersion, kind, metadata } });
  };

  if (initial) {
    for (const key of collection.keys(selection.namespace)) {
      const object = collection.get(key) as AnyObject;
      if (selection.matches(object)) output.send({ type: "ADDED", object: read(object) });
    }
    if (marked) bookmark({ [INITIAL_EVENTS_END]: "true" });
  } else {
    for (const change of collection.since(from)) {
      const seen = seenBy(selection, change);
      if (seen) output.send({ type: seen.type, object: read(seen.object) });
    }
  }
  const ends = [
    store.listen(resource.storage, (change) => {
      if (change.version <= from) return; // somebody waits for a version to come
      const seen = seenBy(selection, change);
      if (seen) output.send({ type: seen.type, object: read(seen.object) });
    }),
  ];
  const stop = () => {
    for (const end of ends.splice(0)) end();
  };
  if (bookmarks) {
    let timer = clock.setTimer(BOOKMARK_INTERVAL_MS, function ring() {
      timer = clock.setTimer(BOOKMARK_INTERVAL_MS, ring);
      bookmark();
    });
    ends.push(() => timer.cancel());
  }
  if (timeoutSeconds) {
    const timer = clock.setTimer(timeoutSeconds * 1000, () => {
      stop();
      if (bookmarks) bookmark();
      output.end();
    });
    ends.push(() => timer.cancel());
  }
  return stop;
}

function beginningOf(query: Query, current: number, collection: Collection): Beginning {
  checkListOptions(query, true);
  const asked = text(query, "sendInitialEvents");
  const from = parseVersion(text(query, "resourceVersion"));
  if (flag(query, "sendInitialEvents")) {
    if (from > current) throw tooLarge(from, current);
    return { initial: true, marked: flag(query, "allowWatchBookmarks"), from: current };
  }
  // Who names no version and wants no list wants to know what happens from now on.
  if (asked !== "" && from === 0) return { initial: false, marked: false, from: current };
  if (from === 0) return { initial: true, marked: false, from: current };
  if (from < collection.forgotten) throw expired(`too old resource version: ${from} (${collection.forgotten})`);
  return { initial: false, marked: false, from };
}
