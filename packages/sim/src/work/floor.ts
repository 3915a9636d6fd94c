/**
 * Who works where, and how fast. Applications have work to do, executors join them on nodes; whenever somebody joins or
 * leaves, the speeds on that node are computed anew, and the rates of the applications that work there, and nothing else.
 * Knows no clock: whoever calls says what time it is.
 */
import type { WorkKind, WorkModel } from "./model.ts";
import { atRate, begun, doneAt, type Progress, reachedAt } from "./progress.ts";
import { applicationRate, type Crowd, speedIn } from "./speed.ts";

/** A place where executors work side by side. */
interface Workplace {
  readonly name: string;
  readonly speed: number;
  readonly executors: Set<Executor>;
}

/** Somebody who works for an application. */
interface Executor {
  readonly name: string;
  readonly application: Application;
  readonly workplace: Workplace;
  speed: number;
}

/** Something that happens when so much of the work is done. */
interface Milestone {
  readonly amount: number;
  readonly name: string;
}

/** How much later than computed a moment may be seen, in milliseconds: what rounding leaves. */
const ROUNDING_MS = 1e-5;

export class Application {
  readonly name: string;
  readonly kind: WorkKind;
  /** With fewer executors it stands still. */
  readonly minimum: number;
  progress: Progress;
  readonly executors = new Map<string, Executor>();
  /** Those nearest to the start first. */
  readonly milestones: Milestone[] = [];

  constructor(name: string, kind: WorkKind, work: number, minimum: number, now: number) {
    this.name = name;
    this.kind = kind;
    this.minimum = minimum;
    this.progress = begun(work, now);
  }

  /** When something is to happen next: a milestone, or the end. Infinite if never. */
  get nextAt(): number {
    const amount = this.milestones[0]?.amount ?? this.progress.total;
    return amount === Number.POSITIVE_INFINITY ? amount : reachedAt(this.progress, amount);
  }

  isDone(now: number): boolean {
    const { total } = this.progress;
    return total !== Number.POSITIVE_INFINITY && reachedAt(this.progress, total) <= now + ROUNDING_MS;
  }

  /** Takes out the milestones that are reached. */
  passed(now: number): string[] {
    const passed: string[] = [];
    while (this.milestones[0] && reachedAt(this.progress, this.milestones[0].amount) <= now + ROUNDING_MS) {
      passed.push((this.milestones.shift() as Milestone).name);
    }
    return passed;
  }

  /** Something is to happen when such a share of what is left now is done. There is no such moment if it never ends. */
  addMilestone(name: string, share: number, now: number): void {
    const { total } = this.progress;
    if (total === Number.POSITIVE_INFINITY) return;
    const done = doneAt(this.progress, now);
    const amount = done + share * (total - done);
    const after = this.milestones.findIndex((each) => each.amount > amount);
    this.milestones.splice(after === -1 ? this.milestones.length : after, 0, { name, amount });
  }

  removeMilestone(name: string): void {
    const index = this.milestones.findIndex((each) => each.name === name);
    if (index !== -1) this.milestones.splice(index, 1);
  }
}

export class Floor {
  readonly #model: WorkModel;
  readonly #workplaces = new Map<string, Workplace>();
  readonly #executors = new Map<string, Executor>();
  /** Whose rate has changed, and nobody asked yet. */
  readonly #changed = new Set<Application>();

  constructor(model: WorkModel) {
    this.#model = model;
  }

  /** An executor begins to work for an application. @param nodeSpeed - Counts if nobody works there yet. */
  join(executor: string, application: Application, node: string, nodeSpeed: number, now: number): void {
    if (this.#executors.has(executor)) return;
    let workplace = this.#workplaces.get(node);
    if (!workplace) {
      workplace = { name: node, speed: nodeSpeed, executors: new Set() };
      this.#workplaces.set(node, workplace);
    }
    const joined: Executor = { name: executor, application, workplace, speed: workplace.speed };
    this.#executors.set(executor, joined);
    workplace.executors.add(joined);
    application.executors.set(executor, joined);
    this.#adjust(workplace, application, now);
  }

  /** An executor works no more. What it has done stays done. */
  leave(executor: string, now: number): void {
    const left = this.#executors.get(executor);
    if (!left) return;
    const { application, workplace } = left;
    this.#executors.delete(executor);
    workplace.executors.delete(left);
    application.executors.delete(executor);
    if (workplace.executors.size === 0) this.#workplaces.delete(workplace.name);
    this.#adjust(workplace, application, now);
  }

  /** The applications whose rate has changed since the last time somebody asked. */
  takeChanged(): Application[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  #adjust({ executors, speed: nodeSpeed }: Workplace, joinedOrLeft: Application, now: number): void {
    const affected = new Set([joinedOrLeft]);
    const crowd = crowdOf(executors);
    const speeds = new Map(crowd.map(([kind]) => [kind, speedIn(crowd, kind, nodeSpeed, this.#model)]));
    for (const executor of executors) {
      const speed = speeds.get(executor.application.kind) ?? nodeSpeed;
      if (speed === executor.speed) continue;
      executor.speed = speed;
      affected.add(executor.application);
    }
    for (const application of affected) {
      const { executors: its, minimum, kind } = application;
      const rate = its.size < minimum ? 0 : applicationRate(kind, speedsOf(its.values()));
      const progress = atRate(application.progress, rate, now);
      if (progress === application.progress) continue;
      application.progress = progress;
      this.#changed.add(application);
    }
  }
}

function crowdOf(executors: Iterable<Executor>): Crowd {
  const counts = new Map<WorkKind, number>();
  for (const { application } of executors) counts.set(application.kind, (counts.get(application.kind) ?? 0) + 1);
  // Always in the same order: products of rounded numbers depend on it.
  return [...counts].sort(([a], [b]) => a.index - b.index);
}

function* speedsOf(executors: Iterable<Executor>): Generator<number> {
  for (const { speed } of executors) yield speed;
}
