/**
 * A scheduler: finds a node for each pod that names it, by the rules of kube-scheduler. Several with different names run
 * side by side; each sees all nodes and pods, and schedules its own.
 *
 * A pod goes through these files: `queue/` (when it is tried), `attempt.ts` and `filters/` (which nodes will do),
 * `scoring.ts` and `scores/` (which is best), `preemption/` (who has to go if none will do), `extenders/` (who else is
 * asked).
 *
 * Guarantees:
 * - One pod at a time. Without extenders it happens in the moment after the change that made it possible.
 * - What is decided counts at once: no two pods are given the same place.
 * - While an extender is asked, what else happens waits until the decision is made, and so does a virtual clock.
 */
import { type Clock, coreV1, policyV1, type Random } from "@berth/kube";
import { type Event, LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "../controllers/component.ts";
import { Attempt, type Scene } from "./attempt.ts";
import { bestNode, bestNodeByChance } from "./best-node.ts";
import type { Surrounded } from "./checks.ts";
import { ClusterCache } from "./cluster-cache.ts";
import { type Profile, profilesOf, type SchedulerConfiguration } from "./configuration.ts";
import { anyoneToPreempt, askToFilter, askToPreempt, askToPrioritize } from "./extenders/asking.ts";
import { type ConfiguredExtender, configured, isInterested } from "./extenders/extender.ts";
import { HttpExtender } from "./extenders/http-extender.ts";
import type { Node, NodeInfo } from "./node-info.ts";
import { Nominator } from "./nominator.ts";
import { changedStatus } from "./pod-conditions.ts";
import { isAssigned, isFinished, type Pod, PodInfo } from "./pod-info.ts";
import { budgetOf } from "./preemption/budgets.ts";
import type { Candidate } from "./preemption/candidate.ts";
import { Eviction } from "./preemption/eviction.ts";
import { pickCandidate } from "./preemption/pick-candidate.ts";
import { findCandidates, notEligible } from "./preemption/preemption.ts";
import { bare, nodeChanges, podChanges } from "./queue/cluster-events.ts";
import { type HintTable, hintTable } from "./queue/hints.ts";
import type { QueuedPod } from "./queue/queued-pod.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import type { Plugin } from "./rejection.ts";
import { SchedulerEvents } from "./scheduler-events.ts";
import { scoresOf } from "./scoring.ts";
import { kindSelector } from "./spread-constraints.ts";

export interface SchedulerOptions {
  /** Default: that of the default scheduler. */
  readonly configuration?: SchedulerConfiguration;
  /** Keeps a virtual clock from going on until the function that it returns is called. */
  readonly hold?: () => () => void;
}

/** Why a pod was not scheduled. */
interface Failure {
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** The rules that rejected it. None if something went wrong. */
  readonly plugins: ReadonlySet<Plugin>;
  /** Where it waits for place from now on: "" is nowhere, `undefined` is where it waits already. */
  readonly nominated: string | undefined;
  /** Who is to make place. */
  readonly candidate?: Candidate;
}

const NO_PLUGINS: ReadonlySet<Plugin> = new Set();
const NO_NODES: Failure = {
  reason: "Unschedulable",
  message: "no nodes available to schedule pods",
  plugins: NO_PLUGINS,
  nominated: "",
};

export class Scheduler implements Component {
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onFailure: (error: unknown) => void;
  readonly #hold: (() => () => void) | undefined;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #hints: ReadonlyMap<string, HintTable>;
  readonly #extenders: readonly ConfiguredExtender[];
  readonly #around: Surrounded;
  readonly #cache = new ClusterCache();
  readonly #nominator = new Nominator();
  readonly #scene: Scene;
  readonly #queue: SchedulingQueue;
  readonly #events: SchedulerEvents;
  readonly #eviction: Eviction;
  readonly #listeners: (() => void)[] = [];
  /** Where the next search for nodes begins. */
  #start = 0;
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
    this.#random = random;
    this.#onFailure = onFailure;
    this.#hold = hold;
    this.#around = surroundedBy(this.#api);
    const profiles = profilesOf(configuration);
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#hints = new Map(profiles.map((profile) => [profile.schedulerName, hintTable(profile, this.#around)]));
    this.#extenders = extendersOf(configuration);
    this.#events = new SchedulerEvents(this.#api, clock, events);
    this.#eviction = new Eviction(this.#api, clock, this.#nominator, this.#events);
    this.#scene = { cache: this.#cache, nominator: this.#nominator, around: this.#around };
    const { podInitialBackoffSeconds = 1, podMaxBackoffSeconds = 10 } = configuration;
    this.#queue = new SchedulingQueue({
      clock,
      initialBackoffMs: podInitialBackoffSeconds * 1000,
      maxBackoffMs: podMaxBackoffSeconds * 1000,
      nominator: this.#nominator,
      hints: ({ pod }) => this.#hints.get(pod.spec?.schedulerName ?? "") as HintTable,
      isPreempting: (uid) => this.#eviction.isUnderWay(uid),
      onReady: () => this.#wake(),
    });
  }

  start(): void {
    for (const node of this.#api.list(coreV1.Node)) this.#cache.setNode(node);
    for (const pod of this.#api.list(coreV1.Pod)) this.#onPod({ type: "ADDED", object: pod, before: undefined });
    this.#listeners.push(
      this.#api.onChange(coreV1.Node, (event) => this.#apply(() => this.#onNode(event))),
      this.#api.onChange(coreV1.Pod, (event) => this.#apply(() => this.#onPod(event))),
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

  // --- What happens in the cluster -----------------------------------------------------------------------------------

  #apply(change: () => void): void {
    if (this.#deferred) this.#deferred.push(change);
    else change();
  }

  #onNode({ type, object, before }: Event<Node>): void {
    if (type === "ADDED") {
      this.#cache.setNode(object);
      this.#queue.move({ on: "Node", action: "Add", after: bare(object) });
    } else if (type === "MODIFIED" && before) {
      this.#cache.setNode(object);
      for (const event of nodeChanges(before, object)) this.#queue.move(event);
    } else if (type === "DELETED") {
      this.#queue.move({ on: "Node", action: "Delete", before: bare(object) });
      this.#cache.removeNode(object.metadata.name ?? "");
    }
  }

  #onPod({ type, object, before }: Event<Pod>): void {
    const was = before && !isFinished(before) ? before : undefined;
    const is = type !== "DELETED" && !isFinished(object) ? object : undefined;
    if (is && was) this.#onPodChanged(was, is);
    else if (is) {
      if (isAssigned(is)) this.#onAssigned(is);
      else if (this.#isMine(is)) this.#queue.add(is);
    } else if (was) this.#onPodGone(object);
  }

  #onPodChanged(was: Pod, is: Pod): void {
    const uid = is.metadata.uid ?? "";
    if (isAssigned(was)) {
      const before = this.#cache.pod(uid);
      this.#cache.putPod(is);
      const after = this.#cache.pod(uid);
      if (before && after) for (const event of podChanges(before, after)) this.#queue.move(event);
    } else if (isAssigned(is)) {
      this.#onAssigned(is);
      if (this.#isMine(was)) this.#queue.delete(uid);
    } else if (this.#isMine(was)) this.#onWaitingChanged(was, is);
  }

  #onAssigned(pod: Pod): void {
    this.#cache.putPod(pod);
    this.#queue.move({ on: "Pod", action: "Add", after: this.#cache.pod(pod.metadata.uid ?? "") });
  }

  #onWaitingChanged(was: Pod, is: Pod): void {
    const uid = is.metadata.uid ?? "";
    if (this.#cache.isAssumed(uid)) {
      if (is.metadata.deletionTimestamp && !was.metadata.deletionTimestamp) this.#forget(uid);
      return;
    }
    this.#queue.update(was, is);
    const nominated = was.status?.nominatedNodeName;
    if (nominated && nominated !== is.status?.nominatedNodeName) this.#freeNomination(was);
  }

  #onPodGone(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    if (isAssigned(pod)) {
      const before = this.#cache.removePod(uid);
      this.#queue.move({ on: "Pod", action: "Delete", before: before ?? new PodInfo(pod) });
    } else if (this.#isMine(pod)) {
      this.#queue.delete(uid);
      if (this.#cache.isAssumed(uid)) this.#forget(uid);
      else if (pod.status?.nominatedNodeName) this.#freeNomination(pod);
    }
  }

  /** A pod that was given a place will not come. */
  #forget(uid: string): void {
    const before = this.#cache.pod(uid);
    if (this.#cache.forget(uid)) this.#queue.move({ on: "Pod", action: "Delete", before });
  }

  /** A pod does not wait any more where it did: for those who had to leave the place to it, it is as if it had gone. */
  #freeNomination(pod: Pod): void {
    const before = new PodInfo(pod);
    this.#queue.move({ on: "Pod", action: "Delete", before }, ({ priority }) => priority <= before.priority);
  }

  #isMine({ spec }: Pod): boolean {
    return this.#profiles.has(spec?.schedulerName ?? "");
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
      // Runs to its end in this moment, unless an extender is asked.
      this.#schedule(queued)
        .catch((error) => this.#onFailure(error))
        .finally(() => this.#wake());
    }
  }

  async #schedule(queued: QueuedPod): Promise<void> {
    const { info } = queued;
    const profile = this.#profiles.get(info.pod.spec?.schedulerName ?? "") as Profile;
    try {
      if (this.#isPointless(queued, profile)) return this.#queue.done(queued);
      const attempt = new Attempt(info, profile, this.#scene);
      const decision = this.#extenders.length === 0 ? this.#decide(attempt) : await this.#decideWithExtenders(attempt);
      this.#catchUp();
      if ("reason" in decision) return this.#fail(queued, decision, profile);
      this.#queue.done(queued);
      this.#nominator.remove(info.uid);
      this.#cache.assume(info, decision.name);
      const binder = this.#extenders.find((each) => each.extender.bind && isInterested(each, info.pod));
      const failure = binder ? await this.#bindBy(binder, info, decision.name) : this.#bind(info, decision.name);
      if (!failure) return this.#bound(info, decision.name, profile);
      this.#forget(info.uid);
      this.#fail(queued, failure, profile);
    } catch (error) {
      this.#catchUp();
      this.#onFailure(error);
      this.#fail(queued, failed(error), profile);
    } finally {
      this.#catchUp();
      this.#busy = false;
    }
  }

  /** A pod that is about to go, or that has its place already. */
  #isPointless({ info: { pod, uid, namespace, name } }: QueuedPod, { schedulerName }: Profile): boolean {
    if (pod.metadata.deletionTimestamp) {
      this.#events.tell(schedulerName, pod, { ...FAILED, note: `skip schedule deleting pod: ${namespace}/${name}` });
      return true;
    }
    return this.#cache.isAssumed(uid);
  }

  // --- The decision --------------------------------------------------------------------------------------------------

  #decide(attempt: Attempt): NodeInfo | Failure {
    if (this.#cache.nodes.length === 0) return NO_NODES;
    const nominated = attempt.nominated();
    if (nominated) return nominated;
    const nodes = this.#search(attempt);
    if (nodes.length === 1) return nodes[0] as NodeInfo;
    if (nodes.length > 1) return bestNode(nodes, this.#scores(attempt, nodes));
    const candidates = this.#candidates(attempt);
    return "reason" in candidates ? candidates : this.#preempt(attempt, candidates);
  }

  async #decideWithExtenders(attempt: Attempt): Promise<NodeInfo | Failure> {
    if (this.#cache.nodes.length === 0) return NO_NODES;
    const { pod } = attempt.pod;
    const note = attempt.diagnosis.note.bind(attempt.diagnosis);
    const nominated = attempt.nominated();
    if (nominated) {
      const left = await this.#ask(() => askToFilter(this.#extenders, pod, [nominated], note)).catch(() => []);
      if (left[0]) return left[0];
    }
    const found = this.#search(attempt);
    try {
      const nodes = await this.#ask(() => askToFilter(this.#extenders, pod, found, note));
      if (nodes.length !== found.length) attempt.diagnosis.plugins.add("Extender");
      if (nodes.length === 1) return nodes[0] as NodeInfo;
      if (nodes.length > 1) {
        const scores = this.#scores(attempt, nodes);
        const more = await this.#ask(() => askToPrioritize(this.#extenders, pod, nodes));
        for (const [index, { name }] of nodes.entries()) scores[index] = (scores[index] ?? 0) + (more.get(name) ?? 0);
        return bestNodeByChance(nodes, scores, this.#random);
      }
    } catch (error) {
      return failed(error);
    }
    const candidates = this.#candidates(attempt);
    if ("reason" in candidates) return candidates;
    if (!anyoneToPreempt(this.#extenders, pod)) return this.#preempt(attempt, candidates);
    try {
      const nodeOf = (name: string) => this.#cache.node(name);
      return this.#preempt(attempt, await this.#ask(() => askToPreempt(this.#extenders, pod, candidates, nodeOf)));
    } catch (error) {
      return this.#failedToHelp(attempt, error instanceof Error ? error.message : String(error));
    }
  }

  #search(attempt: Attempt): readonly NodeInfo[] {
    const nodes = attempt.find(this.#start);
    this.#start = (this.#start + nodes.length + attempt.diagnosis.size) % this.#cache.nodes.length;
    return nodes;
  }

  #scores(attempt: Attempt, nodes: readonly NodeInfo[]): number[] {
    const { pod, profile, checks } = attempt;
    return scoresOf(pod, nodes, checks?.required, profile, this.#cache, this.#around);
  }

  /** Where others could make place; or why not. */
  #candidates(attempt: Attempt): readonly Candidate[] | Failure {
    const { pod: info, profile, diagnosis, checks } = attempt;
    // What claims a pod has is found out after that, and asked for here: kube-scheduler stumbles over it.
    if (!checks && profile.speaksOfClaims) return this.#unschedulable(attempt, "not found", undefined);
    if (!profile.preempts) return this.#notHelped(attempt, [], profile.speaksOfClaims ? undefined : "");
    const pod = this.#api.get(coreV1.Pod, info);
    if (!pod) return this.#failedToHelp(attempt, `pod ${JSON.stringify(info.name)} not found`);
    const why = notEligible(pod, { diagnosis, cache: this.#cache });
    if (why !== undefined) return this.#notHelped(attempt, [`preemption: ${why}`], undefined);
    const found = findCandidates({
      checks,
      diagnosis,
      cache: this.#cache,
      nominator: this.#nominator,
      profile,
      budgets: () => this.#api.list(policyV1.PodDisruptionBudget).map(budgetOf),
      random: this.#random,
      now: this.#clock.now(),
    });
    if (!("why" in found)) return found;
    if (found.error) return this.#failedToHelp(attempt, found.why);
    return this.#notHelped(attempt, [`preemption: ${found.why}`], "");
  }

  #preempt(attempt: Attempt, candidates: readonly Candidate[]): Failure {
    const candidate = pickCandidate(candidates, this.#clock.now(), this.#random);
    if (!candidate) return this.#notHelped(attempt, ["preemption: no candidate node for preemption"], undefined);
    return { ...this.#unschedulable(attempt, "", candidate.node), candidate };
  }

  /** Nothing can be done for the pod. @param nominated - Where it waits from now on. */
  #notHelped(attempt: Attempt, reasons: readonly string[], nominated: string | undefined): Failure {
    const claims = attempt.profile.speaksOfClaims ? ["no new claims to deallocate"] : [];
    return this.#unschedulable(attempt, [...claims, ...reasons].join(", "), nominated);
  }

  /** Something went wrong when something was to be done for the pod. */
  #failedToHelp(attempt: Attempt, problem: string): Failure {
    return this.#unschedulable(attempt, `preemption: ${problem}`, undefined);
  }

  #unschedulable({ diagnosis }: Attempt, afterwards: string, nominated: string | undefined): Failure {
    diagnosis.afterwards = afterwards;
    const message = diagnosis.message(this.#cache.nodes.length);
    return { reason: "Unschedulable", message, plugins: diagnosis.plugins, nominated };
  }

  // --- What follows from it ------------------------------------------------------------------------------------------

  /** What went wrong, if anything. */
  #bind({ namespace, name, uid }: PodInfo, node: string): Failure | undefined {
    const target = { apiVersion: "v1", kind: "Node", name: node };
    try {
      this.#api.post(coreV1.Pod, { namespace, name }, "binding", {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { namespace, name, uid },
        target,
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
    if (pod && !isAssigned(pod) && pod.metadata.uid !== info.uid) {
      this.#queue.done(queued); // another of its name
      return;
    }
    if (candidate && pod) this.#eviction.begin(pod, candidate);
    if (pod && !isAssigned(pod)) {
      this.#queue.giveBack(queued, pod, plugins);
      this.#queue.nominate(queued.info, nominated);
    } else {
      this.#queue.done(queued);
      this.#nominator.remove(info.uid);
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

  // --- While an extender is asked --------------------------------------------------------------------------------------

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    this.#deferred ??= [];
    this.#holdClock();
    return await question();
  }

  #holdClock(): void {
    this.#release ??= this.#hold?.();
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }

  /** The decision is made: now for what has happened meanwhile. */
  #catchUp(): void {
    const deferred = this.#deferred ?? [];
    this.#deferred = undefined;
    for (const change of deferred) change();
    this.#letGo();
  }
}

const FAILED = { type: "Warning", reason: "FailedScheduling", action: "Scheduling" } as const;

/** Something went wrong: nothing is known about the pod. */
function failed(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: "SchedulerError", message, plugins: NO_PLUGINS, nominated: "" };
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
