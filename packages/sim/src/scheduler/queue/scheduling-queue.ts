/**
 * The pods that wait to be scheduled, as kube-scheduler has them wait:
 *
 * - active: to be tried now, the most important first;
 * - back-off: tried in vain, to be tried again in a while, or earlier if there is nothing else to do. After an error the
 *   while must pass;
 * - unschedulable: tried in vain, and nothing has happened since that could help; or not allowed in at all.
 *
 * One pod at a time is being scheduled. What happens meanwhile is remembered, in case it helps the pod.
 */
import type { Clock, Timer } from "@berth/kube";
import type { Nominator } from "../nominator.ts";
import { type Pod, PodInfo } from "../pod-info.ts";
import type { Plugin } from "../rejection.ts";
import { backoffMs, WINDOW_MS, windowOf } from "./backoff.ts";
import { type ClusterEvent, podChanges } from "./cluster-events.ts";
import type { HintTable } from "./hints.ts";
import { PodHeap } from "./pod-heap.ts";
import { goesBefore, QueuedPod } from "./queued-pod.ts";

export interface QueueOptions {
  readonly clock: Clock;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly nominator: Nominator;
  /** Of the profile that a pod asks for. */
  hints(pod: PodInfo): HintTable;
  /** Whether place is still being made for a pod: until then it is not tried again. */
  isPreempting(uid: string): boolean;
  /** Told when there may be something to pop. */
  onReady(): void;
}

/** After so long a pod is tried again whatever has happened; it is looked every so often whether there is one. */
const LONGEST_MS = 5 * 60_000;
const LOOK_EVERY_MS = 30_000;
const MOST_AT_ONCE = 100;

type Strategy = "skip" | "afterBackoff";

export class SchedulingQueue {
  readonly #options: QueueOptions;
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active = new PodHeap(goesBefore);
  readonly #backoff: PodHeap;
  readonly #errorBackoff: PodHeap;
  /** By the rules that rejected them: most events matter to few. */
  readonly #unschedulable = new Map<Plugin, Set<QueuedPod>>();
  readonly #started: number;
  #flying: { readonly pod: QueuedPod; readonly events: ClusterEvent[] } | undefined;
  #order = 0;
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #leftoverTimer: { readonly at: number; readonly timer: Timer } | undefined;
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#started = options.clock.now();
    const byTime = (a: QueuedPod, b: QueuedPod) => this.#backoffUntil(a) - this.#backoffUntil(b);
    this.#backoff = new PodHeap((a, b) => byTime(a, b) < 0 || (byTime(a, b) === 0 && goesBefore(a, b)));
    this.#errorBackoff = new PodHeap((a, b) => byTime(a, b) < 0 || (byTime(a, b) === 0 && a.order < b.order));
  }

  /** How many pods wait, wherever. */
  get size(): number {
    return this.#pods.size;
  }

  get(uid: string): QueuedPod | undefined {
    return this.#pods.get(uid);
  }

  /** A pod that nobody has tried yet. */
  add(pod: Pod): void {
    const queued = new QueuedPod(new PodInfo(pod));
    this.#pods.set(queued.info.uid, queued);
    this.#stamp(queued);
    this.#toActive(queued);
    if (queued.whereabouts === "active") this.nominate(queued.info, undefined);
  }

  /** A pod that waits has changed. */
  update(before: Pod, after: Pod): void {
    const queued = this.#pods.get(after.metadata.uid ?? "");
    if (!queued) {
      this.add(after);
      return;
    }
    const was = queued.info;
    const info = new PodInfo(after, was);
    if (queued.whereabouts === "flying") {
      if (this.#flying?.pod === queued) this.#flying.events.push(...podChanges(was, info));
      return; // it comes back as it is then
    }
    queued.info = info; // its rank is the same: nobody can change a pod's priority
    this.#renominate(before, info);
    if (queued.whereabouts !== "unschedulable") return;
    for (const event of podChanges(was, info)) {
      if (!this.#options.hints(info).helps(info, queued.rejectedBy, event)) continue;
      this.#requeue(queued);
      if (queued.whereabouts !== "unschedulable") return;
    }
  }

  /** A pod does not wait any more: it is gone, or somebody else has bound it. */
  delete(uid: string): void {
    this.#options.nominator.remove(uid);
    const queued = this.#pods.get(uid);
    if (!queued) return;
    this.#takeOut(queued);
    this.#pods.delete(uid);
  }

  /** The next pod to try; from then on it is being scheduled, until `done` or `giveBack`. */
  pop(): QueuedPod | undefined {
    // With nothing else to do, nobody needs to wait; only errors must be given time.
    const early = this.#backoff.peek();
    const queued = this.#active.pop() ?? (early && !this.#isOverdoing(early) ? this.#backoff.pop() : undefined);
    if (!queued) return undefined;
    queued.whereabouts = "flying";
    queued.attempts++;
    queued.attemptsAtOnce = queued.since === this.#options.clock.now() ? queued.attemptsAtOnce + 1 : 1;
    this.#flying = { pod: queued, events: [] };
    return queued;
  }

  /** The pod that was being scheduled need not wait any more. */
  done(queued: QueuedPod): void {
    if (this.#flying?.pod === queued) this.#flying = undefined;
    if (queued.whereabouts !== "flying") return;
    queued.whereabouts = "nowhere";
    if (this.#pods.get(queued.info.uid) === queued) this.#pods.delete(queued.info.uid);
  }

  /** The pod that was being scheduled must go on waiting. @param pod - As it is now. */
  giveBack(queued: QueuedPod, pod: Pod, rejectedBy: ReadonlySet<Plugin>): void {
    const events = this.#flying?.pod === queued ? this.#flying.events : [];
    this.#flying = undefined;
    queued.info = new PodInfo(pod, queued.info);
    queued.rejectedBy = new Set(rejectedBy);
    queued.gate = undefined;
    if (rejectedBy.size === 0) queued.errorCount++;
    else {
      queued.unschedulableCount++;
      queued.errorCount = 0;
    }
    this.#pods.set(queued.info.uid, queued);
    this.#stamp(queued);
    queued.backoffUntil = undefined;
    const { helps } = this.#options.hints(queued.info);
    const worthIt = rejectedBy.size === 0 || events.some((event) => helps(queued.info, rejectedBy, event));
    this.#requeue(queued, worthIt ? "afterBackoff" : "skip");
  }

  /** Something has happened: whoever it may help is tried again. @param only - Of those that this holds for. */
  move(event: ClusterEvent, only: (pod: PodInfo) => boolean = () => true): void {
    if (this.#flying) this.#flying.events.push(event);
    if (this.#unschedulable.size === 0) return;
    for (const queued of this.#concerned(event)) {
      if (!only(queued.info)) continue;
      const hints = this.#options.hints(queued.info);
      if (queued.gate !== undefined && !hints.mayOpen(queued.gate, event)) continue;
      if (hints.helps(queued.info, queued.rejectedBy, event)) this.#requeue(queued);
    }
  }

  /** A pod is to be tried again, whatever it waits for. */
  activate(uid: string): void {
    const queued = this.#pods.get(uid);
    if (!queued) return;
    if (queued.whereabouts === "flying") this.#flying?.events.push({ on: "*", uid });
    else if (queued.whereabouts !== "active") {
      this.#takeOut(queued);
      this.#toActive(queued);
    }
  }

  /** Notes where a pod waits for place: at the given node, or where it says itself. */
  nominate(info: PodInfo, node: string | undefined): void {
    const { nominator } = this.#options;
    const name = node ?? info.pod.status?.nominatedNodeName;
    nominator.remove(info.uid);
    if (name) nominator.put(info, name);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.timer.cancel();
    this.#leftoverTimer?.timer.cancel();
  }

  /** Whoever has been told in the meantime where a pod waits knows better than an update that says nothing of it. */
  #renominate({ status }: Pod, info: PodInfo): void {
    const { nominator } = this.#options;
    if (status?.nominatedNodeName || info.pod.status?.nominatedNodeName) this.nominate(info, undefined);
    else nominator.refresh(info);
  }

  #concerned(event: ClusterEvent): Iterable<QueuedPod> {
    const concerned = new Set<QueuedPod>();
    if (event.on === "*") {
      for (const pods of this.#unschedulable.values()) for (const queued of pods) concerned.add(queued);
      return concerned;
    }
    for (const [plugin, pods] of this.#unschedulable) {
      // All profiles hear of the same events; whether it helps is asked of the pod's own.
      for (const queued of pods) {
        if (!this.#options.hints(queued.info).interested(event).includes(plugin)) break;
        concerned.add(queued);
      }
    }
    return concerned;
  }

  #requeue(queued: QueuedPod, strategy: Strategy = "afterBackoff"): void {
    if (strategy === "skip") this.#toUnschedulable(queued);
    else if (this.#isBackingOff(queued)) this.#toBackoff(queued);
    else this.#toActive(queued);
  }

  #toActive(queued: QueuedPod): void {
    if (this.#isGated(queued)) {
      this.#toUnschedulable(queued);
      return;
    }
    this.#takeOut(queued);
    queued.whereabouts = "active";
    this.#active.push(queued);
    this.#options.onReady();
  }

  #toBackoff(queued: QueuedPod): void {
    if (this.#isGated(queued)) {
      this.#toUnschedulable(queued);
      return;
    }
    this.#takeOut(queued);
    const error = queued.rejectedBy.size === 0;
    queued.whereabouts = error ? "errorBackoff" : "backoff";
    (error ? this.#errorBackoff : this.#backoff).push(queued);
    if (!error) this.#options.onReady();
    this.#setTimer();
  }

  #toUnschedulable(queued: QueuedPod): void {
    this.#takeOut(queued);
    queued.whereabouts = "unschedulable";
    for (const plugin of queued.rejectedBy) {
      const pods = this.#unschedulable.get(plugin);
      if (pods) pods.add(queued);
      else this.#unschedulable.set(plugin, new Set([queued]));
    }
    if (queued.gate === undefined) this.#setLeftoverTimer(queued.since);
  }

  /** Pods with scheduling gates, and pods for which place is still being made, are not let in. */
  #isGated(queued: QueuedPod): boolean {
    const { info } = queued;
    const gated = (info.pod.spec?.schedulingGates?.length ?? 0) > 0;
    const gate = gated ? "SchedulingGates" : this.#options.isPreempting(info.uid) ? "DefaultPreemption" : undefined;
    if (gate !== undefined && !queued.rejectedBy.has(gate)) {
      if (queued.whereabouts === "unschedulable") this.#takeOut(queued);
      queued.rejectedBy.add(gate);
    }
    queued.gate = gate;
    return gate !== undefined;
  }

  #takeOut(queued: QueuedPod): void {
    switch (queued.whereabouts) {
      case "active":
        this.#active.remove(queued);
        break;
      case "backoff":
        this.#backoff.remove(queued);
        break;
      case "errorBackoff":
        this.#errorBackoff.remove(queued);
        break;
      case "unschedulable":
        for (const plugin of queued.rejectedBy) {
          const pods = this.#unschedulable.get(plugin);
          pods?.delete(queued);
          if (pods?.size === 0) this.#unschedulable.delete(plugin);
        }
        break;
    }
    if (queued.whereabouts !== "flying") queued.whereabouts = "nowhere";
  }

  /**
   * Trying takes no time here, and anything is reason enough to ask an extender again, even that its last answer was noted
   * on the pod: one that says something new each time would be asked for ever in one moment.
   */
  #isOverdoing({ since, attemptsAtOnce, rejectedBy }: QueuedPod): boolean {
    return attemptsAtOnce >= MOST_AT_ONCE && rejectedBy.has("Extender") && since === this.#options.clock.now();
  }

  #stamp(queued: QueuedPod): void {
    queued.since = this.#options.clock.now();
    queued.order = this.#order++;
  }

  #backoffUntil(queued: QueuedPod): number {
    const { initialBackoffMs, maxBackoffMs } = this.#options;
    const count = queued.errorCount > 0 ? queued.errorCount : queued.unschedulableCount;
    if (maxBackoffMs === 0 || count === 0) return Number.NEGATIVE_INFINITY;
    queued.backoffUntil ??= windowOf(queued.since + backoffMs(count, initialBackoffMs, maxBackoffMs));
    return queued.backoffUntil;
  }

  /** To the end of the second in which its time is up. */
  #isBackingOff(queued: QueuedPod): boolean {
    return this.#backoffUntil(queued) >= windowOf(this.#options.clock.now());
  }

  /** Only if somebody waits: a timer that always rings would keep a virtual clock from ever standing still. */
  #setTimer(): void {
    const next = [this.#backoff.peek(), this.#errorBackoff.peek()].filter((each) => each !== undefined);
    if (next.length === 0 || this.#stopped) return;
    const at = Math.min(...next.map((queued) => this.#backoffUntil(queued))) + WINDOW_MS;
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.timer.cancel();
    const { clock } = this.#options;
    this.#timer = { at, timer: clock.setTimer(at - clock.now(), () => this.#flushBackoff()) };
  }

  #flushBackoff(): void {
    this.#timer = undefined;
    for (const heap of [this.#backoff, this.#errorBackoff]) {
      for (let next = heap.peek(); next && !this.#isBackingOff(next); next = heap.peek()) {
        this.#takeOut(next);
        next.whereabouts = "active";
        this.#active.push(next);
        this.#options.onReady();
      }
    }
    this.#setTimer();
  }

  #setLeftoverTimer(since: number): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    // The first look after its time is up.
    const looks = Math.floor((since + LONGEST_MS - this.#started) / LOOK_EVERY_MS) + 1;
    const at = this.#started + looks * LOOK_EVERY_MS;
    if (this.#leftoverTimer && this.#leftoverTimer.at <= at) return;
    this.#leftoverTimer?.timer.cancel();
    this.#leftoverTimer = { at, timer: clock.setTimer(at - clock.now(), () => this.#flushLeftovers()) };
  }

  #flushLeftovers(): void {
    this.#leftoverTimer = undefined;
    const now = this.#options.clock.now();
    for (const queued of this.#concerned({ on: "*" })) {
      if (queued.gate !== undefined) continue;
      if (now - queued.since > LONGEST_MS) this.#requeue(queued);
      else this.#setLeftoverTimer(queued.since);
    }
  }
}
