/**
 * All objects of a kind, kept up to date in this process.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - I1 Once it has synced, the cache becomes equal to the server's list, whatever happens to connections and servers.
 * - I2 Handlers are told of each difference between two states of the cache, in order; one that throws harms nobody else.
 * - I3 It gives up only when it is stopped.
 *
 * Caveats: states that came and went while the connection was down are not told. Objects are shared between all who read
 * them: they must not be changed, and in development they cannot be.
 */
import type { Client } from "../client/client.ts";
import type { Selection } from "../client/options.ts";
import { KubeError } from "../errors.ts";
import { type Logger, silent } from "../log/logger.ts";
import { keyOf, keyText, type ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";
import { type Clock, sleep, type Timer, WallClock } from "../time/clock.ts";
import { orAborted } from "../time/or-aborted.ts";
import { integer, type Random, SystemRandom } from "../time/random.ts";
import { ApiError, isExpired } from "../transport/api-error.ts";
import type { Parameters, WatchEvent } from "../transport/transport.ts";
import { FieldSelector, fieldOf, LabelSelector } from "../values/selectors.ts";
import { copyOf, deepFreeze, type Projection, withIdentity, withoutManagedFields } from "./admission.ts";
import type { IndexFunction } from "./indexes.ts";
import { after, begin, type Outcome, pauseOf, type State, start } from "./machine.ts";
import { type Change, Store } from "./store.ts";
import { Watchdog } from "./watchdog.ts";

/** Which objects are kept, what of them, and how it behaves. */
export interface InformerOptions<T extends KubernetesObject> extends Omit<Selection, "namespace"> {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /**
   * What to keep of each object; may change and return the one that it is given, which nobody else has.
   * Default: everything but `managedFields`.
   */
  readonly project?: Projection<T>;
  /** Whether objects are made unchangeable. Default: unless NODE_ENV is "production". */
  readonly freeze?: boolean;
  /** After how many milliseconds each object is told again as an update of itself. Default: never. */
  readonly resyncMs?: number;
  /** After how long without a word from the server a watch is begun again. Default: 70 s; bookmarks come every 60 s. */
  readonly inactivityMs?: number;
  /** Whether to ask for the first list as a stream, which spares the server's memory. Default: yes. */
  readonly streamLists?: boolean;
  /** How many objects to ask for at a time if not. Default: 500. */
  readonly pageSize?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
}

/** Who is told of changes. */
export interface EventHandler<T> {
  /** @param initial - Whether it is one of the first list, and so nothing new. */
  onAdd?(object: T, initial: boolean): void;
  /** @param resync - Whether nothing has changed, and it is only told again. */
  onUpdate?(old: T, object: T, resync: boolean): void;
  /** @param object - As it was last seen. */
  onDelete?(object: T): void;
}

const MARKER = "k8s.io/initial-events-end";
const NAMESPACE_INDEX = "metadata.namespace";

/** All objects of a kind, or those that are meant, kept up to date in this process. */
export class Informer<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  readonly #client: Client;
  readonly #options: InformerOptions<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #freeze: boolean;
  readonly #labels: LabelSelector;
  readonly #fields: FieldSelector;
  readonly #store: Store<T>;
  readonly #handlers = new Set<EventHandler<T>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #stopped = new AbortController();
  #state: State;
  #hasSynced = false;
  #running: Promise<void> | undefined;

  constructor(client: Client, kind: Kind<T>, options: InformerOptions<T> = {}) {
    this.kind = kind;
    this.#client = client;
    this.#options = options;
    this.#clock = options.clock ?? new WallClock();
    this.#random = options.random ?? new SystemRandom();
    this.#log = (options.log ?? silent).with({ kind: kind.kind });
    this.#freeze = options.freeze ?? process.env.NODE_ENV !== "production";
    this.#labels = LabelSelector.from(options.labelSelector ?? "");
    this.#fields = FieldSelector.parse(String(options.fieldSelector ?? ""));
    this.#store = new Store({
      onChange: (change) => this.#tell(change),
      onIndexError: (error, index, key) => this.#log.error(`index "${index}" failed for ${key}`, { error }),
    });
    this.#state = start(options.streamLists === false ? "no" : "perhaps");
    this.#synced.promise.catch(() => {}); // nobody need wait for it
  }

  /** Begins. Calling it again changes nothing. */
  start(): this {
    this.#running ??= this.#run(this.#stopped.signal);
    return this;
  }

  /** Ends, and waits for the end. What is known stays readable. */
  async stop(): Promise<void> {
    const reason = new KubeError("KUBE_SHUT_DOWN", `the informer of ${this.kind.plural} was stopped`);
    this.#stopped.abort(reason);
    this.#synced.reject(reason);
    await this.#running;
  }

  /** Whether the first list is complete. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** What it is doing; for people who wonder. */
  get phase(): State["phase"] {
    return this.#state.phase;
  }

  /** Resolves when the first list is complete. */
  waitForSync({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return orAborted(this.#synced.promise, signal);
  }

  /** Whether it has been started and not been stopped. */
  get isRunning(): boolean {
    return this.#running !== undefined && !this.#stopped.signal.aborted;
  }

  /** The only namespace that it looks at; `undefined` for all. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /** The version of the server's list that the cache is as of; empty before the first one. */
  get resourceVersion(): string {
    return this.#store.position ?? "";
  }

  /** How many objects there are. */
  get size(): number {
    return this.#store.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(keyText(key));
  }

  /** All objects, or those of a namespace; in no particular order. */
  list({ namespace, labelSelector }: Omit<Selection, "fieldSelector"> = {}): T[] {
    const objects = namespace === undefined ? [...this.#store.values()] : this.#inNamespace(namespace);
    if (labelSelector === undefined) return objects;
    const selector = LabelSelector.from(labelSelector);
    return objects.filter(({ metadata }) => selector.matches(metadata.labels));
  }

  /** By an index that is made when it is first needed: many informers know a single namespace, or are never asked for one. */
  #inNamespace(namespace: string): T[] {
    this.addIndex(NAMESPACE_INDEX, ({ metadata }) => [metadata.namespace ?? ""]);
    return this.byIndex(NAMESPACE_INDEX, namespace);
  }

  /** Lets objects be found by what they say; may be called at any time. An index of that name stays as it is. */
  addIndex(name: string, valuesOf: IndexFunction<T>): this {
    if (!this.#store.hasIndex(name)) this.#store.addIndex(name, valuesOf);
    return this;
  }

  /** The objects that an index has under a value. */
  byIndex(name: string, value: string): T[] {
    return this.#store.byIndex(name, value);
  }

  /** Tells a handler of all changes from now on, and first of all that is there. Returns how to end that. */
  addEventHandler(handler: EventHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#store.values()) this.#tellOne(handler, { type: "add", object, initial: true });
    return () => void this.#handlers.delete(handler);
  }

  /** This process has written an object: it is seen here at once, not only when the server tells of it. */
  wrote(object: T): void {
    // The writer keeps the object that it got, and may change it.
    if (this.#isMeant(object)) this.#store.wrote(this.#admit(copyOf(object)));
    else this.#store.outgrew(keyText(keyOf(object)), object.metadata.resourceVersion);
  }

  /** This process has deleted an object, and it is gone. */
  wroteDeletion(key: ObjectKey, uid: string | undefined): void {
    this.#store.wroteDeletion(keyText(key), uid);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const resync = this.#scheduleResync();
    while (!signal.aborted) {
      this.#state = begin(this.#state);
      const outcome = await this.#attempt(signal);
      this.#state = after(this.#state, outcome);
      await sleep(this.#clock, pauseOf(this.#state, this.#random), signal).catch(() => {}); // stopped: the loop ends
    }
    resync?.cancel();
  }

  /** Does what the state asks for, until it ends one way or another. */
  async #attempt(signal: AbortSignal): Promise<Outcome> {
    try {
      if (this.#state.phase === "listing") return await this.#listPages(signal);
      return await this.#watch(signal);
    } catch (error) {
      if (signal.aborted) return { type: "ended" };
      if (error instanceof Disorder) return { type: "disorder" };
      if (isExpired(error)) return { type: "expired" };
      const refused = error instanceof ApiError && (error.status === 400 || error.status === 422);
      if (refused && this.#state.phase === "streaming") return { type: "refused" };
      this.#log.warn(`${this.#state.phase} ${this.kind.plural} failed; trying again`, { error });
      return { type: "failed" };
    }
  }

  async #listPages(signal: AbortSignal): Promise<Outcome> {
    this.#store.beginList();
    let resourceVersion = "";
    const { namespace, labelSelector, fieldSelector, pageSize } = this.#options;
    const asked = {
      signal,
      namespace,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(pageSize !== undefined && { pageSize }),
    };
    for await (const page of this.#client.pages(this.kind, asked)) {
      for (const object of page.items) this.#store.listed(this.#admit(object));
      resourceVersion = page.resourceVersion;
    }
    this.#endList(resourceVersion);
    return { type: "listed", resourceVersion };
  }

  /** Follows a stream to its end: changes after a version, or all objects first. */
  async #watch(signal: AbortSignal): Promise<Outcome> {
    const watchdog = new Watchdog(this.#clock, this.#options.inactivityMs ?? 70_000);
    if (this.#state.phase === "streaming") this.#store.beginList();
    try {
      await this.#client.transport.watch(
        {
          kind: this.kind,
          namespace: this.#options.namespace,
          parameters: this.#watchParameters(),
          signal: AbortSignal.any([signal, watchdog.signal]),
        },
        (event) => {
          watchdog.heard();
          this.#state = after(this.#state, this.#received(event as WatchEvent<T>));
        },
      );
      return { type: "ended" };
    } catch (error) {
      if (error instanceof Unmarked) return { type: "unmarked" };
      if (watchdog.signal.aborted && !signal.aborted) return { type: "silent" };
      throw error;
    } finally {
      watchdog.cancel();
    }
  }

  #watchParameters(): Parameters {
    const state = this.#state;
    return {
      labelSelector: this.#labels.toString() || undefined,
      fieldSelector: this.#fields.toString() || undefined,
      allowWatchBookmarks: true,
      // The server shall end each watch now and then, not all of them at once: so they spread over its replicas again.
      timeoutSeconds: integer(this.#random, 300, 600),
      ...(state.phase === "watching"
        ? { resourceVersion: state.resourceVersion }
        : { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }),
    };
  }

  /** Takes an event in. What has been reached by it is the next state's affair. */
  #received(event: WatchEvent<T>): Outcome {
    const { metadata } = event.object;
    const resourceVersion = metadata.resourceVersion ?? "";
    if (this.#store.isListing) {
      if (event.type === "BOOKMARK") {
        if (metadata.annotations?.[MARKER] !== "true") throw new Unmarked();
        this.#endList(resourceVersion);
        return { type: "reached", resourceVersion };
      }
      if (event.type === "DELETED") this.#store.unlisted(event.object);
      else this.#store.listed(this.#admit(event.object));
      return { type: "listing" };
    }
    if (event.type === "BOOKMARK") this.#store.reached(resourceVersion);
    else {
      const object = this.#admit(event.object);
      const order = event.type === "DELETED" ? this.#store.deleted(object) : this.#store.applied(object);
      if (order === "disorder") throw new Disorder();
    }
    return { type: "reached", resourceVersion };
  }

  #endList(resourceVersion: string): void {
    this.#store.endList(resourceVersion);
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  #admit(object: T): T {
    const kept = withoutManagedFields(this.#projected(object));
    return this.#freeze ? deepFreeze(kept) : kept;
  }

  /** One that cannot be projected is kept whole: what others wait for must not stand still because of it. */
  #projected(object: T): T {
    const { project } = this.#options;
    if (!project) return object;
    const { namespace, name, uid, resourceVersion } = object.metadata;
    try {
      // Without these it would not be known which object it is, and whether it has changed.
      return withIdentity(project(object), { namespace, name, uid, resourceVersion });
    } catch (error) {
      this.#log.error(`the projection failed for ${keyText(keyOf(object))}`, { error });
      return object;
    }
  }

  #isMeant(object: T): boolean {
    const { namespace } = this.#options;
    return (
      (namespace === undefined || object.metadata.namespace === namespace) &&
      this.#labels.matches(object.metadata.labels) &&
      this.#fields.matches((field) => fieldOf(object, field))
    );
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) this.#tellOne(handler, change);
  }

  #tellOne(handler: EventHandler<T>, change: Change<T>, resync = false): void {
    try {
      if (change.type === "add") handler.onAdd?.(change.object, change.initial);
      else if (change.type === "update") handler.onUpdate?.(change.old, change.object, resync);
      else handler.onDelete?.(change.object);
    } catch (error) {
      this.#log.error(`a handler failed at the ${change.type} of ${keyText(keyOf(change.object))}`, { error });
    }
  }

  #scheduleResync(): Timer | undefined {
    const { resyncMs } = this.#options;
    if (resyncMs === undefined) return undefined;
    let timer: Timer;
    const wait = () => {
      timer = this.#clock.setTimer(resyncMs, () => {
        for (const handler of this.#handlers) {
          for (const object of this.#store.values())
            this.#tellOne(handler, { type: "update", object, old: object }, true);
        }
        wait();
      });
    };
    wait();
    return { cancel: () => timer.cancel() };
  }
}

/** Events in an order that cannot be: the stream is not to be trusted. */
class Disorder extends Error {}

/** A bookmark where the end of the first objects should have been marked. */
class Unmarked extends Error {}
