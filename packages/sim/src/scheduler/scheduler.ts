/**
 * A scheduler: finds a node for each pod that names it, by the rules of kube-scheduler. Several with different names run
 * side by side; each sees all nodes and pods, and schedules its own.
 *
 * A pod goes through these files: `changes.ts` (it is heard of), `queue/` (when it is tried), `decision.ts` with
 * `attempt.ts` and `filters/` (which nodes will do), `scoring.ts` and `scores/` (which is best), `preemption/` (who has to
 * go if none will do) and `extenders/` (who else is asked). What follows from a decision is written here.
 *
 * Guarantees:
 * - One pod at a time. Without extenders it happens in the moment after the change that made it possible.
 * - What is decided counts at once: no two pods are given the same place.
 * - While an extender is asked, what else happens waits until the decision is made, and so does a virtual clock.
 */
import { type Clock, coreV1 } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "../controllers/component.ts";
import type { Scene } from "./attempt.ts";
import { Changes } from "./changes.ts";
import type { Surrounded } from "./checks.ts";
import { ClusterCache } from "./cluster-cache.ts";
import { type Profile, profilesOf, type SchedulerConfiguration } from "./configuration.ts";
import { Decisions, type Failure, failed, isFailure } from "./decision.ts";
import { type ConfiguredExtender, configured, isInterested } from "./extenders/extender.ts";
import { HttpExtender } from "./extenders/http-extender.ts";
import { Nominator } from "./nominator.ts";
import { changedStatus } from "./pod-conditions.ts";
import { isAssigned, type PodInfo } from "./pod-info.ts";
import { Eviction } from "./preemption/eviction.ts";
import { type HintTable, hintTable } from "./queue/hints.ts";
import type { QueuedPod } from "./queue/queued-pod.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import { SchedulerEvents } from "./scheduler-events.ts";
import { kindSelector } from "./spread-constraints.ts";

export interface SchedulerOptions {
  /** Default: that of the default scheduler. */
  readonly configuration?: SchedulerConfiguration;
  /** Keeps a virtual clock from going on until the function that it returns is called. */
  readonly hold?: () => () => void;
}

const FAILED = { type: "Warning", reason: "FailedScheduling", action: "Scheduling" } as const;

export class Scheduler implements Component {
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #hold: (() => () => void) | undefined;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #extenders: readonly ConfiguredExtender[];
  readonly #cache = new ClusterCache();
  readonly #nominator = new Nominator();
  readonly #queue: SchedulingQueue;
  readonly #changes: Changes;
  readonly #decisions: Decisions;
  readonly #events: SchedulerEvents;
  readonly #eviction: Eviction;
  readonly #listeners: (() => void)[] = [];
  #awake = false;
  #busy = false;
  #stopped = false;
  /** Changes that wait until a decision is made. */
  #deferred: (() => void)[] | undefined;
  #release: (() => void) | undefined;

  constructor(surroundings: Surroundings, { configuration = {}, hold }: SchedulerOptions = {}) {
    const { server, clock, random, onFailure, events = true } = surroundings;
    this.#api = new LocalApi(server, "system:kube-scheduler");
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#hold = hold;
    const profiles = profilesOf(configuration);
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#extenders = extendersOf(configuration);
    this.#events = new SchedulerEvents(this.#api, clock, events);
    this.#eviction = new Eviction(this.#api, clock, this.#nominator, this.#events);
    const around = surroundedBy(this.#api);
    const hints = new Map(profiles.map((profile) => [profile.schedulerName, hintTable(profile, around)]));
    const { podInitialBackoffSeconds = 1, podMaxBackoffSeconds = 10 } = configuration;
    this.#queue = new SchedulingQueue({
      clock,
      initialBackoffMs: podInitialBackoffSeconds * 1000,
      maxBackoffMs: podMaxBackoffSeconds * 1000,
      nominator: this.#nominator,
      hints: ({ pod }) => hints.get(pod.spec?.schedulerName ?? "") as HintTable,
      isPreempting: (uid) => this.#eviction.isUnderWay(uid),
      onReady: () => this.#wake(),
    });
    this.#changes = new Changes(this.#cache, this.#queue, ({ spec }) => this.#profiles.has(spec?.schedulerName ?? ""));
    const scene: Scene = { cache: this.#cache, nominator: this.#nominator, around };
    const ask = <T>(question: () => Promise<T>) => this.#ask(question);
    this.#decisions = new Decisions({ api: this.#api, clock, random, scene, extenders: this.#extenders, ask });
  }

  start(): void {
    for (const node of this.#api.list(coreV1.Node)) this.#cache.setNode(node);
    for (const pod of this.#api.list(coreV1.Pod))
      this.#changes.onPod({ type: "ADDED", object: pod, before: undefined });
    this.#listeners.push(
      this.#api.onChange(coreV1.Node, (event) => this.#apply(() => this.#changes.onNode(event))),
      this.#api.onChange(coreV1.Pod, (event) => this.#apply(() => this.#changes.onPod(event))),
    );
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#listeners) stop();
    this.#queue.stop();
    this.#events.stop();
    for (const { extender } of this.#extenders) extender.close?.();
    this.#letGo();
  }

  // --- One pod after the other ---------------------------------------------------------------------------------------

  #wake(): void {
    if (this.#awake || this.#stopped) return;
    this.#awake = true;
    queueMicrotask(() => {
      this.#awake = false;
      this.#run();
    });
  }

  /** Until there is nothing to try, or somebody has to be waited for. */
  #run(): void {
    while (!this.#busy && !this.#stopped) {
      const queued = this.#queue.pop();
      if (!queued) return;
      this.#busy = true;
      // Comes to its end in this moment, unless an extender is asked.
      const scheduled = this.#schedule(queued);
      if (this.#busy) scheduled.then(() => this.#run());
    }
  }

  /** Never rejects. */
  async #schedule(queued: QueuedPod): Promise<void> {
    const { info } = queued;
    const profile = this.#profiles.get(info.pod.spec?.schedulerName ?? "") as Profile;
    try {
      if (this.#isPointless(info, profile)) return this.#queue.done(queued);
      const decision =
        this.#extenders.length === 0
          ? this.#decisions.decide(info, profile)
          : await this.#decisions.decideWithExtenders(info, profile);
      this.#catchUp();
      if (isFailure(decision)) return this.#fail(queued, decision, profile);
      this.#queue.done(queued);
      this.#nominator.remove(info.uid);
      this.#cache.assume(info, decision.name);
      const binder = this.#extenders.find((each) => each.extender.bind && isInterested(each, info.pod));
      const failure = binder ? await this.#bindBy(binder, info, decision.name) : this.#bind(info, decision.name);
      if (!failure) return this.#bound(info, decision.name, profile);
      this.#changes.forget(info.uid);
      this.#fail(queued, failure, profile);
    } catch (error) {
      this.#onFailure(error);
      this.#catchUp();
      this.#changes.forget(info.uid);
      this.#fail(queued, failed(error), profile);
    } finally {
      this.#busy = false;
    }
  }

  /** A pod that is about to go, or that has its place already. */
  #isPointless({ pod, uid, namespace, name }: PodInfo, { schedulerName }: Profile): boolean {
    if (pod.metadata.deletionTimestamp) {
      this.#events.tell(schedulerName, pod, { ...FAILED, note: `skip schedule deleting pod: ${namespace}/${name}` });
      return true;
    }
    return this.#cache.isAssumed(uid);
  }

  // --- What follows from a decision ----------------------------------------------------------------------------------

  /** What went wrong, if anything. */
  #bind({ namespace, name, uid }: PodInfo, node: string): Failure | undefined {
    try {
      this.#api.post(coreV1.Pod, { namespace, name }, "binding", {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { namespace, name, uid },
        target: { kind: "Node", name: node },
      });
      return undefined;
    } catch (error) {
      return failed(error);
    }
  }

  async #bindBy(binder: ConfiguredExtender, info: PodInfo, node: string): Promise<Failure | undefined> {
    const args = { PodName: info.name, PodNamespace: info.namespace, PodUID: info.uid, Node: node };
    this.#holdClock();
    try {
      const result = await binder.extender.bind?.(args);
      if (result?.Error) throw new Error(result.Error);
      return undefined;
    } catch (error) {
      return binder.ignorable ? this.#bind(info, node) : failed(error);
    } finally {
      this.#letGo();
    }
  }

  #bound({ pod, namespace, name }: PodInfo, node: string, { schedulerName }: Profile): void {
    const note = `Successfully assigned ${namespace}/${name} to ${node}`;
    this.#events.tell(schedulerName, pod, { type: "Normal", reason: "Scheduled", action: "Binding", note });
  }

  #fail(queued: QueuedPod, failure: Failure, { schedulerName }: Profile): void {
    const { info } = queued;
    const { reason, message, plugins, nominated, candidate } = failure;
    const pod = this.#api.get(coreV1.Pod, info);
    const waits = pod !== undefined && !isAssigned(pod);
    if (waits && pod.metadata.uid === info.uid) {
      if (candidate) this.#eviction.begin(pod, candidate);
      this.#queue.giveBack(queued, pod, plugins);
      this.#queue.nominate(queued.info, nominated);
    } else {
      this.#queue.done(queued);
      this.#nominator.remove(info.uid);
      if (waits) return; // another of its name: it has its own chance
    }
    this.#events.tell(schedulerName, pod ?? info.pod, { ...FAILED, note: message });
    if (!pod) return;
    const finding = { type: "PodScheduled", status: "False", reason, message };
    const status = changedStatus(pod, finding, nominated, this.#clock.now());
    try {
      if (status) this.#api.updateStatus(coreV1.Pod, { ...pod, status });
      if (candidate) this.#eviction.carryOut(pod, candidate);
    } catch (error) {
      this.#onFailure(error);
      this.#queue.activate(info.uid); // lest it wait for what will not happen
    }
  }

  // --- While an extender is asked ------------------------------------------------------------------------------------

  #ask<T>(question: () => Promise<T>): Promise<T> {
    this.#deferred ??= [];
    this.#holdClock();
    return question();
  }

  #apply(change: () => void): void {
    if (this.#deferred) this.#deferred.push(change);
    else change();
  }

  /** The decision is made: now for what has happened meanwhile. */
  #catchUp(): void {
    if (!this.#deferred) return;
    const deferred = this.#deferred;
    this.#deferred = undefined;
    for (const change of deferred) change();
    this.#letGo();
  }

  #holdClock(): void {
    this.#release ??= this.#hold?.();
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

function surroundedBy(api: LocalApi): Surrounded {
  return {
    namespaces: () => api.list(coreV1.Namespace).map(({ metadata }) => [metadata.name ?? "", metadata.labels] as const),
    namespaceLabels: (name) => api.get(coreV1.Namespace, { name })?.metadata.labels,
    kindSelector: kindSelector(api),
  };
}

/** Those that may fail come last. */
function extendersOf({ extenders = [] }: SchedulerConfiguration): ConfiguredExtender[] {
  const all = extenders.map((each) => configured("extender" in each ? each.extender : new HttpExtender(each), each));
  if (all.filter(({ extender }) => extender.bind).length > 1)
    throw new RangeError("only one extender can implement bind");
  return [...all.filter(({ ignorable }) => !ignorable), ...all.filter(({ ignorable }) => ignorable)];
}
