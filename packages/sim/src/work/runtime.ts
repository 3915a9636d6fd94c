/**
 * The kubelets' runtime that follows a work model: applications end when their work is done, and how fast that goes depends
 * on how many executors they have and on who works beside them. Runs that are part of no application are left to another
 * runtime.
 */
import { type Clock, coreV1, type Random, SeededRandom } from "@berth/kube";
import { behaviourOf } from "../kubelet/annotations.ts";
import { DefaultRuntime } from "../kubelet/default-runtime.ts";
import type { Outcome, Run, Runtime, Stopping } from "../kubelet/runtime.ts";
import { failsAfterSeconds, failsAfterShare, variationOf } from "./chance.ts";
import { Application, Floor } from "./floor.ts";
import { Group, type Worker } from "./group.ts";
import type { Describe, Membership } from "./membership.ts";
import { defaultWorkModel, type WorkModel } from "./model.ts";
import { describePlain, type Objects } from "./plain.ts";
import { doneAt } from "./progress.ts";

export interface WorkModelRuntimeOptions {
  readonly clock: Clock;
  /** What is left to chance depends on this and on applications' names, not on the order in which they run. */
  readonly random: Random;
  /** Where nodes, Jobs and applications are looked up. */
  readonly objects: Objects;
  /** Default: the one that comes with this package. */
  readonly model?: WorkModel;
  /** How applications are recognised, beside Jobs and annotated pods. Default: not at all. */
  readonly describe?: readonly Describe[];
  /** For everything else. Default: `DefaultRuntime`. */
  readonly otherwise?: Runtime;
}

/** How it stands with an application. */
export interface ApplicationState {
  readonly name: string;
  readonly kind: string;
  /** starting: its leader is not ready; waiting: too few workers; failed: its leader failed; done: its work is. */
  readonly phase: "starting" | "waiting" | "working" | "failed" | "done";
  /** Executor-seconds. */
  readonly done: number;
  readonly total: number;
  readonly workers: number;
  /** When there was work to do for the first time, in milliseconds. */
  readonly since: number | undefined;
}

const FAILED: Outcome = { exitCode: 1 };
const APPLICATION_FAILS = "application";
/** For how long a worker tries to reach a leader that is not there. */
const LONELY_MS = 120_000;

export class WorkModelRuntime implements Runtime {
  readonly #clock: Clock;
  readonly #objects: Objects;
  readonly #describe: readonly Describe[];
  readonly #otherwise: Runtime;
  readonly #seed: number;
  #model: WorkModel | undefined;
  #floorInUse: Floor | undefined;
  readonly #groups = new Map<string, Group>();
  readonly #memberships = new Map<Run, Membership>();
  /** Runs of the same pod that end with its main container. */
  readonly #companions = new Map<string, Set<Run>>();
  /** How often an application of a name has run. */
  readonly #runs = new Map<string, number>();
  readonly #listeners = new Set<(application: string) => void>();

  constructor(options: WorkModelRuntimeOptions) {
    const { clock, random, objects, model, describe = [], otherwise = new DefaultRuntime() } = options;
    this.#model = model;
    this.#clock = clock;
    this.#objects = objects;
    this.#describe = [...describe, describePlain(objects)];
    this.#otherwise = otherwise;
    this.#seed = random.next();
  }

  /** The default one is read when the first pod asks for it: most clusters are gone before. */
  get model(): WorkModel {
    this.#model ??= defaultWorkModel();
    return this.#model;
  }

  get #floor(): Floor {
    this.#floorInUse ??= new Floor(this.model);
    return this.#floorInUse;
  }

  started(run: Run): void {
    const membership = this.#membershipOf(run);
    if (!membership) {
      this.#otherwise.started(run);
      return;
    }
    this.#memberships.set(run, membership);
    if (membership.note !== undefined) run.log(membership.note);
    if (membership.role === "companion") {
      this.#accompany(run);
      return;
    }
    const group = this.#groupOf(membership);
    // Who comes too late finds nothing left to do.
    const isOver = group.outcome !== undefined && membership.manners.whenDone === "exit";
    if (isOver) run.endIn(0, group.outcome === "done" ? {} : FAILED);
    else if (membership.role === "leader") this.#lead(group, run);
    else this.#hire(group, run);
  }

  stopping(run: Run): Stopping {
    return this.#otherwise.stopping?.(run) ?? {};
  }

  ended(run: Run): void {
    const membership = this.#memberships.get(run);
    if (!membership) {
      this.#otherwise.ended?.(run);
      return;
    }
    this.#memberships.delete(run);
    if (membership.role === "companion") {
      this.#companions.get(podOf(run))?.delete(run);
      return;
    }
    for (const companion of this.#companions.get(podOf(run)) ?? []) companion.endIn(0);
    this.#companions.delete(podOf(run));
    const group = this.#groups.get(membership.application);
    if (!group) return;
    if (group.leader === run) this.#deposed(group);
    else this.#left(group, run);
    if (!group.leader && group.workers.size === 0) this.#forget(group);
  }

  /** How it stands with an application, while any of its processes runs. */
  find(application: string): ApplicationState | undefined {
    const group = this.#groups.get(application);
    if (!group) return undefined;
    const { membership, work, since, outcome } = group;
    const waiting = work.executors.size < Math.max(1, work.minimum);
    return {
      name: membership.name,
      kind: membership.kind.name,
      phase: outcome ?? (!group.ready ? "starting" : waiting ? "waiting" : "working"),
      done: outcome === "done" ? work.progress.total : doneAt(work.progress, this.#clock.now()),
      total: work.progress.total,
      workers: work.executors.size,
      since,
    };
  }

  /** Hears of applications whose work begins, is done, or fails. Returns a function that ends this. */
  onChange(listener: (application: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Lets an application fail, as if its leader had: its driver gives up. `false` if it has no leader that runs. */
  fail(application: string, outcome: Outcome = FAILED): boolean {
    const group = this.#groups.get(application);
    if (!group?.leader || group.outcome) return false;
    this.#failed(group, outcome);
    return true;
  }

  #membershipOf({ pod, container }: Run): Membership | undefined {
    if (pod.spec?.initContainers?.some(({ name }) => name === container.name)) return undefined;
    // Who says how long a pod is to run means it.
    if (behaviourOf(pod).runMs !== undefined) return undefined;
    for (const describe of this.#describe) {
      const membership = describe(pod, container, this.model);
      if (membership) return membership;
    }
    return undefined;
  }

  #accompany(run: Run): void {
    const companions = this.#companions.get(podOf(run)) ?? new Set();
    this.#companions.set(podOf(run), companions.add(run));
  }

  #groupOf(membership: Membership): Group {
    const { application: key, name, kind, work, minimum } = membership;
    const known = this.#groups.get(key);
    if (known) return known;
    const count = (this.#runs.get(name) ?? 0) + 1;
    this.#runs.set(name, count);
    // The same run of the same application has the same luck, whatever runs before or beside it.
    const random = new SeededRandom(`${this.#seed}/${name}/${count}`);
    const total = work * variationOf(kind, random);
    const group = new Group(membership, count, new Application(key, kind, total, minimum, this.#clock.now()));
    const fails = failsAfterShare(kind.failures.application, () => random);
    if (fails !== undefined) group.work.addMilestone(APPLICATION_FAILS, fails, this.#clock.now());
    this.#groups.set(key, group);
    return group;
  }

  #lead(group: Group, run: Run): void {
    group.leader = run;
    run.log(`${group.membership.name} is of the kind ${group.membership.kind.name}`);
    this.#prepare(group);
  }

  /** The application's own start. */
  #prepare(group: Group): void {
    group.starting ??= this.#clock.setTimer(group.membership.kind.overhead.application * 1000, () => {
      group.starting = undefined;
      group.ready = true;
      group.since ??= this.#clock.now();
      for (const [run, worker] of group.workers) if (worker.ready) this.#join(group, run, worker);
      this.#settle();
      this.#tell(group);
    });
  }

  #hire(group: Group, run: Run): void {
    const { kind, manners } = group.membership;
    const worker = group.newWorker(this.#seed);
    group.workers.set(run, worker);
    if (!manners.led && !group.ready) this.#prepare(group);
    worker.starting = this.#clock.setTimer(kind.overhead.executor * 1000, () => {
      worker.starting = undefined;
      worker.ready = true;
      if (!group.ready || group.outcome) return;
      this.#join(group, run, worker);
      this.#settle();
    });
    const seconds = failsAfterSeconds(kind.failures.executorPerHour, worker.luck);
    const isLonely = manners.led && !group.leader && manners.whenLeaderless === "exit";
    const after = isLonely ? LONELY_MS : seconds === undefined ? undefined : seconds * 1000;
    if (after !== undefined) worker.failing = this.#clock.setTimer(after, () => run.endIn(0, FAILED));
  }

  #join(group: Group, run: Run, worker: Worker): void {
    const now = this.#clock.now();
    const fails = failsAfterShare(group.membership.kind.failures.executor, worker.luck);
    if (fails !== undefined) group.work.addMilestone(worker.name, fails, now);
    this.#floor.join(worker.name, group.work, run.node, this.#speedOf(run.node), now);
  }

  #left(group: Group, run: Run): void {
    const worker = group.workers.get(run);
    if (!worker) return;
    group.workers.delete(run);
    worker.starting?.cancel();
    worker.failing?.cancel();
    group.work.removeMilestone(worker.name);
    this.#floor.leave(worker.name, this.#clock.now());
    this.#settle();
  }

  #deposed(group: Group): void {
    const { manners, kind } = group.membership;
    group.leader = undefined;
    group.starting?.cancel();
    group.starting = undefined;
    if (group.outcome === "done") return;
    group.ready = false;
    this.#idle(group);
    if (manners.whenLeaderless === "exit") {
      group.outcome = "failed";
      for (const run of group.workers.keys()) run.endIn(0, FAILED);
    } else {
      // The next leader knows nothing of what was done.
      group.outcome = undefined;
      group.work = new Application(group.key, kind, group.work.progress.total, group.work.minimum, this.#clock.now());
    }
    this.#tell(group);
  }

  /** All of an application's workers stop working, wherever they are. */
  #idle(group: Group): void {
    group.next?.cancel();
    group.next = undefined;
    for (const worker of group.workers.values()) {
      this.#floor.leave(worker.name, this.#clock.now());
    }
    this.#settle();
  }

  /** Sets the clock for every application whose rate has changed. */
  #settle(): void {
    for (const { name } of this.#floor.takeChanged()) {
      const group = this.#groups.get(name);
      if (group && !group.outcome) this.#await(group);
    }
  }

  #await(group: Group): void {
    group.next?.cancel();
    group.next = undefined;
    const at = group.work.nextAt;
    if (at === Number.POSITIVE_INFINITY) return;
    // Whole milliseconds, and not a whole one more for the sake of a rounded digit.
    const wait = Math.max(0, Math.ceil(at - this.#clock.now() - 1e-6));
    group.next = this.#clock.setTimer(wait, () => this.#arrive(group));
  }

  #arrive(group: Group): void {
    group.next = undefined;
    const now = this.#clock.now();
    for (const passed of group.work.passed(now)) {
      if (passed === APPLICATION_FAILS) {
        this.#failed(group, FAILED);
        return;
      }
      for (const [run, { name }] of group.workers) if (name === passed) run.endIn(0, FAILED);
    }
    if (group.work.isDone(now)) this.#done(group);
    else this.#await(group);
  }

  #done(group: Group): void {
    const { kind, manners } = group.membership;
    group.outcome = "done";
    this.#idle(group);
    if (manners.whenDone === "exit") {
      for (const run of group.workers.keys()) run.endIn(0);
      group.leader?.endIn(kind.overhead.shutdown * 1000);
    }
    this.#tell(group);
  }

  #failed(group: Group, outcome: Outcome): void {
    group.outcome = "failed";
    this.#idle(group);
    if (group.membership.manners.whenDone === "exit") {
      for (const run of group.workers.keys()) run.endIn(0, FAILED);
      group.leader?.endIn(0, outcome);
    }
    this.#tell(group);
  }

  #forget(group: Group): void {
    group.next?.cancel();
    group.starting?.cancel();
    this.#groups.delete(group.key);
  }

  #speedOf(node: string): number {
    return this.model.nodeSpeed(this.#objects.get(coreV1.Node, { name: node })?.metadata.labels ?? {});
  }

  #tell({ key }: Group): void {
    for (const listener of this.#listeners) listener(key);
  }
}

const podOf = ({ pod }: Run) => pod.metadata.uid ?? `${pod.metadata.namespace}/${pod.metadata.name}`;
