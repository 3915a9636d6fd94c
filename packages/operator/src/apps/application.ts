/** What the operator has to know of a kind of application; one adapter for each is in this folder. */
import type { coreV1, KubernetesObject, WritableKind } from "@berth/kube";
import type { ApplicationKind, BatchJob } from "@berth/model";

/**
 * Who makes room for executors, which wait behind a gate in either case until they are told their slots. "gate": we do, and
 * any scheduler binds them. "extender": a second kube-scheduler does, which asks us whom to evict.
 */
export type Placement = { readonly type: "gate" } | { readonly type: "extender"; readonly schedulerName: string };

/** One run of a job, and what it is to run in. */
export interface RunOrder {
  readonly job: BatchJob;
  /** The name of the application. */
  readonly name: string;
  /** Counts from 1. */
  readonly run: number;
  readonly testbed: { readonly namespace: string; readonly name: string };
  /** One executor for each of them. */
  readonly slots: readonly number[];
  /** What a slot has: an executor asks for exactly that. */
  readonly resources: Readonly<Record<string, string>>;
  /** Taints that executors have to put up with. */
  readonly tolerations: readonly coreV1.Toleration[];
  readonly placement: Placement;
}

/** Why an application cannot be made: a stable code, and words that tell a person what to change. */
export interface RenderProblem {
  /** Too large: it asks for more than a slot has. Too small: it could not use all that a slot has. Invalid: anything else. */
  readonly code: "BERTH_APPLICATION_TOO_LARGE" | "BERTH_APPLICATION_TOO_SMALL" | "BERTH_APPLICATION_INVALID";
  readonly message: string;
}

/** How it stands with an application, whatever its own operator calls it. */
export interface Observation {
  /** pending: its operator has not started it yet, or is about to start it again. */
  readonly phase: "pending" | "running" | "completed" | "failed";
  /** In the words of its operator, for people. */
  readonly message?: string;
  /** When it began to run, and when it ended, as objects have times. */
  readonly startTime?: string;
  readonly endTime?: string;
}

/** A kind of application. All of its functions are pure. */
export interface ApplicationAdapter<T extends KubernetesObject = KubernetesObject> {
  readonly kind: ApplicationKind;
  /** The resource that stands for one. */
  readonly resource: WritableKind<T, T>;
  /** The object to be created, without an owner; or why there can be none. */
  render(order: RunOrder): { readonly object: T } | { readonly problem: RenderProblem };
  /** What its operator has said of it so far. An object without a status is pending. */
  observe(object: T): Observation;
  /** Whether it goes on with fewer executors than it was made for, and gets along without those that never come back. */
  readonly survivesLoss: boolean;
  /** Whether a pod is one of its executors, which are placed; drivers and job managers are not. */
  isExecutor(pod: coreV1.Pod): boolean;
}
