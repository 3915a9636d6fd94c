/**
 * The line between us and an API server: objects in, objects out. Everything above it (client, informers, controllers) is
 * the same whether the server is at the other end of a network (`HttpTransport`) or in this process.
 */

import type { ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";

/** As RBAC names them. */
export type Verb = "get" | "list" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** How to understand the body of a patch. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/** What is asked of the API server, apart from how it travels. */
export interface ApiRequest {
  readonly verb: Verb;
  readonly kind: Kind;
  /** Absent for kinds without namespaces, and for lists over all of them. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** "status", "scale", "eviction" … */
  readonly subresource?: string | undefined;
  /** As in the query of a URL: limit, continue, labelSelector, dryRun, fieldManager … Absent ones are `undefined`. */
  readonly parameters?: Parameters;
  /** An object, a list of JSON patch operations, delete options … */
  readonly body?: unknown;
  /** How to understand the body of a patch. */
  readonly patchType?: PatchType;
  /** Must not wait behind other requests. Default: takes its turn. */
  readonly urgent?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What goes into the query of a URL. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Always a list of a kind's objects as they change. */
export interface WatchRequest extends Omit<ApiRequest, "verb" | "body" | "patchType" | "subresource"> {}

/** One change, or how far a watch has come. */
export type WatchEvent<T = KubernetesObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Nothing has changed up to the object's resourceVersion. */
  | { readonly type: "BOOKMARK"; readonly object: KubernetesObject };

/** Whoever returns a promise is waited for before the next event: that is how a slow reader slows the stream down. */
export type OnEvent = (event: WatchEvent) => void | Promise<void>;

/** What a container says, or takes: bytes with the number of their stream. */
export interface ExecRequest {
  readonly pod: ObjectKey;
  readonly container?: string | undefined;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Output as it comes. Whoever returns nothing cannot slow it down. */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void;
}

/** A command that runs at the other end. */
export interface ExecConnection {
  /** Whoever waits for what it returns, if anything, sends no faster than the connection takes it. */
  write(bytes: Uint8Array): void | Promise<void>;
  /** Says that no more input will come. */
  endInput(): void;
  resize(columns: number, rows: number): void;
  close(): void;
  /** The exit code of the command. */
  readonly exitCode: Promise<number>;
}

/**
 * Guarantees:
 * - Whatever the server refuses is an `ApiError`; whatever keeps a request from being answered is a `KubeError` with code
 *   KUBE_CONNECTION_FAILED, or the signal's reason.
 * - Objects handed out are not changed afterwards by the transport; whether they may be changed by the caller is the
 *   transport's affair: `HttpTransport` makes new ones, one in this process may hand out frozen ones.
 */
export interface Transport {
  /** The namespace that is meant where none is given. */
  readonly namespace: string;
  request(request: ApiRequest): Promise<unknown>;
  /**
   * Hands events over until the server ends the stream (then it resolves), the connection breaks or the server reports an
   * error (then it rejects), or the signal is aborted (then it rejects with its reason).
   */
  watch(request: WatchRequest, onEvent: OnEvent): Promise<void>;
  /** Bytes that are not an object: a container's log. */
  bytes(request: ApiRequest): AsyncIterable<Uint8Array>;
  exec(request: ExecRequest): Promise<ExecConnection>;
  /** Ends all that is under way. */
  close(): Promise<void>;
}
