/**
 * Calls a reconciler for every object of a kind: when it, or something that concerns it, changes; and again after failures.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - T1 The reconciler never runs twice at once for one object.
 * - T2 After every change it runs once more, though not once for each.
 * - T3 A reconciler that throws is called again later, and later each time; the others do not notice.
 * - T4 Nothing is reconciled before the cache knows all objects of all kinds that the controller looks at.
 */
import type { Client } from "../client/client.ts";
import { KubeError } from "../errors.ts";
import type { Cache } from "../informer/cache.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics, ReconcileOutcome } from "../metrics/metrics.ts";
import { keyText, type ObjectKey } from "../objects/key.ts";
import type { Kind, KubernetesObject } from "../objects/meta.ts";
import { LOW_PRIORITY, type WorkItem, WorkQueue } from "../queue/work-queue.ts";
import type { Clock } from "../time/clock.ts";
import { integer, type Random } from "../time/random.ts";
import type { ObjectEvent, Predicate } from "./predicates.ts";
import { type Request, type Result, requestOf, TerminalError } from "./request.ts";
import { controllingOwner, itself, type Owned, type Watch, watch } from "./watches.ts";

/** Makes an object as it should be. Is called again if it throws. */
export type Reconcile = (
  request: Request,
  context: ReconcileContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: what an async function without a return has
) => Promise<Result | undefined | void>;

/** What a reconciler has to work with. */
export interface ReconcileContext {
  /** Reads from the cache; sees what was written with it at once. Writes nothing once leadership is lost. */
  readonly client: Client;
  /** Logs with the controller's name, the object and the reconcile's id. */
  readonly log: Logger;
  /** Aborted when the time is up, and when the program has to end before the reconciler has. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a controller looks at, and what it does about it. */
export interface ControllerOptions<T extends KubernetesObject = KubernetesObject> {
  /** The kind whose objects are reconciled. */
  readonly for: Kind<T>;
  /** Kinds of objects that belong to those: a change in one leads to its controlling owner. */
  readonly owns?: readonly (Kind | Owned)[];
  /** Other kinds that concern them. */
  readonly watches?: readonly Watch[];
  readonly reconcile: Reconcile;
  /** In logs and metrics. Default: the kind in lower case. */
  readonly name?: string;
  /** Which changes of the kind itself are worth a look. Default: all. */
  readonly predicates?: readonly Predicate<T>[];
  /** How many objects may be reconciled at once. Default: 64. */
  readonly maxConcurrentReconciles?: number;
  /** How long one reconcile may take. Default: for ever. */
  readonly reconcileTimeout?: number;
  /** The first pause after a failure, each further one twice as long. Default: 5 ms. */
  readonly baseDelay?: number;
  /** The longest pause after failures. Default: 1000 s. */
  readonly maxDelay?: number;
}

/** What a controller needs from its surroundings; a manager has it. */
export interface ControllerContext {
  readonly client: Client;
  readonly cache: Cache;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: Metrics | undefined;
}

/** Calls a reconciler for every object of a kind. */
export class Controller<T extends KubernetesObject = KubernetesObject> {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #context: ControllerContext;
  readonly #log: Logger;
  readonly #queue: WorkQueue<string>;
  readonly #watches: readonly Watch[];
  /** Aborted when reconcilers that still run must come to an end. */
  readonly #halt = new AbortController();
  readonly #unlisten: (() => void)[] = [];
  #workers: Promise<void>[] = [];

  constructor(given: ControllerOptions<T>, context: ControllerContext) {
    const options = given as unknown as ControllerOptions; // its predicates see objects of its kind alone
    this.name = options.name ?? options.for.kind.toLowerCase();
    this.#options = options;
    this.#context = context;
    this.#log = context.log.with({ controller: this.name });
    this.#queue = new WorkQueue<string>({
      clock: context.clock,
      ...(options.baseDelay !== undefined && { baseDelay: options.baseDelay }),
      ...(options.maxDelay !== undefined && { maxDelay: options.maxDelay }),
      ...(context.metrics && { observer: context.metrics.queueObserver(this.name) }),
    });
    this.#watches = [
      watch(options.for, itself, { predicates: options.predicates ?? [] }),
      ...(options.owns ?? []).map((owns) => {
        const { kind, predicates } = "predicates" in owns ? owns : { kind: owns, predicates: [] };
        return watch(kind, controllingOwner(options.for), { predicates });
      }),
      ...(options.watches ?? []),
    ];
    // So that the cache has them from the start; what happens there concerns us only once we work.
    for (const { kind } of this.#watches) context.cache.informer(kind);
    context.metrics?.controllerStarted(this.name, this.#concurrency);
    context.metrics?.trackQueue(this.name, this.#queue);
  }

  get #concurrency(): number {
    return this.#options.maxConcurrentReconciles ?? 64;
  }

  /** Waits for the caches, then works until it is stopped. */
  async start({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    const informers = this.#watches.map(({ kind }) => this.#context.cache.informer(kind));
    await Promise.all(informers.map((informer) => informer.waitForSync({ signal })));
    for (const each of this.#watches) this.#unlisten.push(this.#listen(each));
    this.#log.info("working", { workers: this.#concurrency });
    this.#workers = Array.from({ length: this.#concurrency }, () => this.#work());
  }

  /** Takes nothing new up, and waits for what is under way. Whoever is not done by the signal is told to stop. */
  async stop({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    this.#queue.shutDown();
    for (const end of this.#unlisten.splice(0)) end();
    const hurry = () => this.#halt.abort(new KubeError("KUBE_SHUT_DOWN", `controller ${this.name} has to end`));
    if (signal?.aborted) hurry();
    signal?.addEventListener("abort", hurry, { once: true });
    await Promise.all(this.#workers);
    signal?.removeEventListener("abort", hurry);
  }

  /** Asks for an object to be looked at, as an event would. */
  enqueue(request: Request, options: { priority?: number; after?: number } = {}): void {
    this.#queue.add(keyText(request), options);
  }

  /** The objects that are being reconciled. */
  get working(): string[] {
    return this.#queue.workedOn();
  }

  /** From now on, changes lead to work. Returns how to end that. */
  #listen({ kind, map, predicates }: Watch): () => void {
    const { client, cache } = this.#context;
    const lead = (event: ObjectEvent, priority: number): unknown => {
      const told = new Set<string>();
      const add = (keys: Iterable<ObjectKey>) => {
        for (const each of keys) {
          const key = keyText(each);
          if (told.has(key)) continue;
          told.add(key);
          this.#queue.add(key, { priority });
        }
      };
      // It may have moved from one owner to another: both want to know.
      const states = event.type === "update" && !event.resync ? [event.object, event.old] : [event.object];
      const found = states.map((state) => map(state, client));
      // At once, if it can be: whoever has just changed must not wait for its turn.
      const isSlow = found.some((keys) => keys instanceof Promise);
      if (isSlow) return Promise.all(found).then((all) => all.forEach(add));
      for (const keys of found) add(keys as Iterable<ObjectKey>);
      return undefined;
    };
    const react = (event: ObjectEvent, priority: number) => {
      // A predicate that fails has no opinion: better one reconcile too many.
      const matters = () => predicates.every((predicate) => predicate(event));
      if (!this.#contained(`a predicate of ${kind.kind} failed`, true, matters)) return;
      void this.#contained(`the mapper of ${kind.kind} failed`, undefined, () => lead(event, priority));
    };
    return cache.informer<KubernetesObject>(kind).addEventHandler({
      onAdd: (object, initial) => react({ type: "create", object, initial }, initial ? LOW_PRIORITY : 0),
      onUpdate: (old, object, resync) => react({ type: "update", object, old, resync }, resync ? LOW_PRIORITY : 0),
      onDelete: (object) => react({ type: "delete", object }, 0),
    });
  }

  /** What others have written is called here, and may throw, or reject: that is reported, and harms nobody. */
  #contained<R>(failure: string, instead: R, attempt: () => R): R {
    const report = (error: unknown) => this.#log.error(failure, { error });
    try {
      const result = attempt();
      if (result instanceof Promise) result.catch(report);
      return result;
    } catch (error) {
      report(error);
      return instead;
    }
  }

  async #work(): Promise<void> {
    // After a shut-down the queue would hand out what is ready; whoever works next will find it anyway.
    for (let item = await this.#queue.get(); item && !this.#queue.isShutDown; item = await this.#queue.get()) {
      try {
        await this.#handle(item);
      } finally {
        this.#queue.done(item.key);
      }
    }
  }

  /** Reconciles one object, and decides what becomes of it. Never throws. */
  async #handle({ key, priority }: WorkItem<string>): Promise<void> {
    const { clock, metrics } = this.#context;
    const request = requestOf(key);
    const log = this.#logOf(request);
    const started = clock.now();
    let outcome: ReconcileOutcome = "success";
    try {
      const { requeueAfter, requeue, ...result } = (await this.#reconcile(request, log)) ?? {};
      const next = result.priority ?? priority;
      if (requeueAfter !== undefined && requeueAfter > 0) {
        outcome = "requeue_after";
        this.#queue.forget(key);
        this.#queue.add(key, { after: requeueAfter, priority: next });
      } else if (requeue) {
        outcome = "requeue";
        this.#queue.retry(key, { priority: next });
      } else {
        this.#queue.forget(key);
      }
    } catch (error) {
      outcome = "error";
      const terminal = error instanceof TerminalError;
      metrics?.reconcileFailed(this.name, { terminal, timeout: isTimeout(error) });
      if (terminal) {
        this.#queue.forget(key);
        log().error("reconcile failed for good", { error });
      } else if (this.#halt.signal.aborted) {
        log().info("reconcile was cut short", { error });
      } else {
        this.#queue.retry(key, { priority });
        log().error("reconcile failed; trying again", { error, failures: this.#queue.failures(key) });
      }
    }
    metrics?.reconcileEnded(this.name, outcome, (clock.now() - started) / 1000);
  }

  /** Of one reconcile; most say nothing, so it is made when it is first asked for. */
  #logOf(request: Request): () => Logger {
    let log: Logger | undefined;
    return () => {
      log ??= this.#log.with({ ...request, reconcileID: newId(this.#context.random) });
      return log;
    };
  }

  async #reconcile(request: Request, log: () => Logger): Promise<Result | undefined> {
    const { client, clock } = this.#context;
    const { reconcile, reconcileTimeout } = this.#options;
    const contextWith = (signal: AbortSignal): ReconcileContext => ({
      client,
      clock,
      signal,
      get log() {
        return log();
      },
    });
    if (reconcileTimeout === undefined) {
      return (await reconcile(request, contextWith(this.#halt.signal))) ?? undefined;
    }
    const late = new AbortController();
    const timer = clock.setTimer(reconcileTimeout, () =>
      late.abort(new KubeError("KUBE_RECONCILE_TIMEOUT", `the reconcile took longer than ${reconcileTimeout} ms`)),
    );
    const signal = AbortSignal.any([this.#halt.signal, late.signal]);
    try {
      const result = await reconcile(request, contextWith(signal));
      late.signal.throwIfAborted(); // done, but too late
      return result ?? undefined;
    } catch (error) {
      // What a signal's listener throws may be anything; that the time was up is what matters.
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }
}

const isTimeout = (error: unknown) => error instanceof KubeError && error.code === "KUBE_RECONCILE_TIMEOUT";

/** Short, and different enough to find one reconcile's lines in a log. */
const newId = (random: Random) =>
  integer(random, 0, 2 ** 40)
    .toString(16)
    .padStart(10, "0");
