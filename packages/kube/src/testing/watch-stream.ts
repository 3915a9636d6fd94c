/** Honest watches: what comes first, bookmarks, and the end when the time is up. */
import type { Clock } from "../time/clock.ts";
import { numberOf, selectionOptions } from "./answers.ts";
import type { ModelApi, WatchOptions } from "./model-api.ts";
import { apiVersionOf } from "./object-rules.ts";
import { parseVersion } from "./pages.ts";
import { type ApiRequest, isTrue } from "./routes.ts";
import { selection, type WatchEvent } from "./selection.ts";
import { ApiFailure, forbiddenOption, type ResourceName } from "./status.ts";

/**
 * What the server makes of `sendInitialEvents`: streams the list; does not know the parameter, and answers as if it were
 * not there; or knows it, and refuses since the feature is switched off.
 */
export type WatchListSupport = "supported" | "ignored" | "refused";

/** Where a watch's events go. */
export interface WatchOutput {
  send(event: WatchEvent): void;
  end(): void;
}

export interface WatchPlan {
  readonly resource: ResourceName;
  readonly options: WatchOptions;
  /** Whether a bookmark says where the objects that were there already end. */
  readonly marksInitialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** The annotation of the bookmark after the objects that were there already. */
export const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Reads and checks a watch's parameters; fails as long as there is a status line to say so. */
export function planWatch(request: ApiRequest, model: ModelApi, support: WatchListSupport): WatchPlan {
  const { resource, query } = request;
  const known = support !== "ignored";
  const initial = known ? query.get("sendInitialEvents") : null;
  const match = known ? query.get("resourceVersionMatch") : null;
  if (initial !== null && match !== "NotOlderThan") {
    const why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    throw forbiddenOption("resourceVersionMatch", why);
  }
  if (initial !== null && support === "refused") {
    const why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    throw forbiddenOption("sendInitialEvents", why);
  }
  if (initial === null && match !== null) {
    const why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    throw forbiddenOption("resourceVersionMatch", why);
  }
  const selected = selectionOptions(request);
  selection(selected);
  const from = parseVersion(query.get("resourceVersion") ?? "");
  // Who names no version and wants no list wants to know what happens from now on.
  const start = initial !== null && from === 0 ? model.resourceVersion : `${from}`;
  const wantsList = isTrue(initial);
  const bookmarks = isTrue(query.get("allowWatchBookmarks"));
  return {
    resource,
    options: { ...selected, ...(wantsList ? { notOlderThan: `${from}` } : { resourceVersion: start }) },
    marksInitialEvents: wantsList && bookmarks,
    bookmarks,
    timeoutSeconds: numberOf(query, "timeoutSeconds"),
  };
}

/** Runs until its time is up or the function that it returns is called. */
export function runWatch(
  plan: WatchPlan,
  { model, clock, bookmarkInterval }: { model: ModelApi; clock: Clock; bookmarkInterval: number },
  output: WatchOutput,
): () => void {
  const { resource, options, bookmarks, timeoutSeconds } = plan;
  const sendBookmark = (annotations?: Record<string, string>) => {
    const metadata = { resourceVersion: model.resourceVersion, ...(annotations && { annotations }) };
    output.send({
      type: "BOOKMARK",
      object: { apiVersion: apiVersionOf(resource), kind: model.kindOf(resource), metadata },
    });
  };
  const ends: (() => void)[] = [];
  const stop = () => {
    for (const end of ends.splice(0)) end();
  };
  const every = (interval: number, callback: () => void) => {
    let timer = clock.setTimer(interval, function ring() {
      timer = clock.setTimer(interval, ring);
      callback();
    });
    ends.push(() => timer.cancel());
  };

  try {
    ends.push(model.watch(resource, options, (event) => output.send(event)));
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    output.send({ type: "ERROR", object: error.status });
    output.end();
    return stop;
  }
  if (plan.marksInitialEvents) sendBookmark({ [INITIAL_EVENTS_END]: "true" });
  if (bookmarks) every(bookmarkInterval, sendBookmark);
  if (timeoutSeconds) {
    const timer = clock.setTimer(timeoutSeconds * 1000, () => {
      stop();
      if (bookmarks) sendBookmark();
      output.end();
    });
    ends.push(() => timer.cancel());
  }
  return stop;
}
