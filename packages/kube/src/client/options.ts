/** What can be said along with a request. */
import type { FieldSelector, LabelSelector, LabelSelectorSpec } from "../values/selectors.ts";

/** Of every request. */
export interface RequestOptions {
  /** Gives up, and rejects with the signal's reason. A write may have happened nevertheless. */
  readonly signal?: AbortSignal | undefined;
}

/** Of a read of one object. */
export interface GetOptions extends RequestOptions {
  /** "0": any state will do, from the server's cache. Default: the latest. */
  readonly resourceVersion?: string;
}

/** Which objects of a kind are meant. */
export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** "app=web,tier in (a,b)", a selector, or one out of a spec (`{ matchLabels: … }`). Default: all. */
  readonly labelSelector?: string | LabelSelector | LabelSelectorSpec;
  /** "metadata.name=x", or a selector. Default: all. */
  readonly fieldSelector?: string | FieldSelector;
}

/** Of a list. */
export interface ListOptions extends Selection, RequestOptions {
  /** How many objects to ask for at a time. Default: 500. */
  readonly pageSize?: number;
  /** See `resourceVersionMatch`. Default: the latest. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** Of a watch. */
export interface WatchOptions extends Selection, RequestOptions {
  /** Where to begin: after this state. Default: with all objects that exist, as ADDED. */
  readonly resourceVersion?: string;
  /** When the server shall end it. Default: when it likes to, after half an hour or more. */
  readonly timeoutSeconds?: number;
  /** Whether to be told now and then how far it has come. Default: no. */
  readonly bookmarks?: boolean;
  /** All objects first, then a bookmark, then changes. Default: no. */
  readonly sendInitialEvents?: boolean;
}

/** Of a write. */
export interface WriteOptions extends RequestOptions {
  /** Check everything, change nothing. Default: no. */
  readonly dryRun?: boolean;
  /** Who is recorded as the owner of the fields. Default: the client's. */
  readonly fieldManager?: string;
  /** What to do with fields that the kind does not have. Default: the client's, and else the server's, "Warn". */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Take fields over that belong to others. Default: no; then it is a conflict. */
  readonly force?: boolean;
}

/** Of a deletion. */
export interface DeleteOptions extends RequestOptions {
  readonly dryRun?: boolean;
  /** Default: what the object says; 0 for at once. */
  readonly gracePeriodSeconds?: number;
  /** What becomes of the objects that it owns. Default: the kind's own, mostly "Background". */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Delete it only if it is still this one. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Of a container's log. */
export interface LogOptions extends RequestOptions {
  /** Default: the only container. */
  readonly container?: string;
  /** Go on until the container ends. Default: no. */
  readonly follow?: boolean;
  /** The log of the container before the last restart. */
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
}

/** Of a command in a container. */
export interface ExecOptions extends RequestOptions {
  /** Default: the only container. */
  readonly container?: string;
  readonly command: readonly string[];
  /** Whether the command gets input. Default: no. */
  readonly stdin?: boolean;
  /** Whether it runs in a terminal; then standard error comes with standard output. Default: no. */
  readonly tty?: boolean;
}
