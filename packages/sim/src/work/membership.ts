/** What a container is to the work model: part of which application, in which role, with how much to do. */
import type { coreV1 } from "@berth/kube";
import type { ApplicationFacts, WorkKind, WorkModel } from "./model.ts";

/** On an application or its pods: the name of its kind in the work model. */
export const WORK_ANNOTATION = "sim.berth.dev/work";
/** On an application or its pods: executor-seconds, in the place of the kind's own. */
export const WORK_SECONDS_ANNOTATION = "sim.berth.dev/work-seconds";

/**
 * - `leader`: the driver, the JobManager. The application runs as long as it does.
 * - `worker`: an executor, a TaskManager, a Job's pod. Does the work.
 * - `companion`: a container beside one of these in the same pod. Ends when that one does.
 */
export type Role = "leader" | "worker" | "companion";

/** How an application's processes take it when things end. */
export interface Manners {
  /** Whether there is a leader, without which nobody works. */
  readonly led: boolean;
  /** When the work is done: all processes end with success, or they stay until somebody removes them. */
  readonly whenDone: "exit" | "stay";
  /** When the leader ends too early: the workers end with an error, or wait for another leader, who begins anew. */
  readonly whenLeaderless: "exit" | "wait";
}

/** What a container is part of. */
export interface Membership {
  /** The same for all containers of one run of an application, and for no others. */
  readonly application: string;
  /** The same for all runs of an application, now and later: chance depends on it. */
  readonly name: string;
  readonly role: Role;
  readonly kind: WorkKind;
  /** Executor-seconds of the whole application, before chance. */
  readonly work: number;
  /** With fewer workers the work stands still. */
  readonly minimum: number;
  readonly manners: Manners;
  /** What people should know, in the log of the container. */
  readonly note?: string;
}

/** Finds out what a container is part of; `undefined`: of nothing that this function knows. */
export type Describe = (pod: coreV1.Pod, container: coreV1.Container, model: WorkModel) => Membership | undefined;

type Annotations = Readonly<Record<string, string>>;

/** The kind that annotations name, or that the model finds; `undefined` if neither. */
export function kindFor(facts: ApplicationFacts, annotations: Annotations, model: WorkModel): WorkKind | undefined {
  const named = annotations[WORK_ANNOTATION];
  return (named === undefined ? undefined : model.kindNamed(named)) ?? model.kindOf(facts);
}

/** What is wrong with the annotations of an application, if anything is. */
export function noteOn(annotations: Annotations, model: WorkModel): { note?: string } {
  const { [WORK_ANNOTATION]: named, [WORK_SECONDS_ANNOTATION]: seconds } = annotations;
  if (named !== undefined && !model.kindNamed(named)) {
    const known = model.kinds.map(({ name }) => name).join(", ");
    return { note: `${WORK_ANNOTATION}: there is no kind ${JSON.stringify(named)}; there are ${known}` };
  }
  if (seconds !== undefined && !(SECONDS.test(seconds) && Number(seconds) > 0)) {
    return { note: `${WORK_SECONDS_ANNOTATION}: ${JSON.stringify(seconds)} is not a number of seconds above 0` };
  }
  return {};
}

const SECONDS = /^\d{1,12}(\.\d{1,9})?$/;

/** How much there is to do, by annotation or by kind. What is not a number above 0 does not count. */
export function workFor(kind: WorkKind, annotations: Annotations): number {
  const text = annotations[WORK_SECONDS_ANNOTATION];
  const seconds = text !== undefined && SECONDS.test(text) ? Number(text) : 0;
  return seconds > 0 ? seconds : kind.work;
}
