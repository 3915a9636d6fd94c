/** Conditions: what is true of an object, since when, and as of which of its generations. */
import type { Clock } from "../time/clock.ts";
import { kubernetesTime } from "./times.ts";

/** One thing that is true of an object, or not, since when, and why. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  /** One word in CamelCase, for programs. */
  reason: string;
  /** A sentence for people. */
  message: string;
  /** When the status last changed; not the reason, not the message. */
  lastTransitionTime: string;
  /** The `metadata.generation` that this was found out for. */
  observedGeneration?: number | undefined;
}

/** A finding; since when it is so is found out by comparing. */
export type ConditionUpdate = Omit<Condition, "lastTransitionTime" | "message"> & { message?: string | undefined };

/** What the conditions of all kinds have in common; Kubernetes' own kinds leave out more than newer ones do. */
export interface AnyCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number | undefined;
}

/** The condition of a type, if there is one. */
export function findCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether a condition is True; with a generation, whether it is so of that generation or a later one. */
export function isConditionTrue(
  conditions: readonly AnyCondition[] | undefined,
  type: string,
  generation = 0,
): boolean {
  const condition = findCondition(conditions, type);
  return condition?.status === "True" && (condition.observedGeneration ?? 0) >= generation;
}

/**
 * The conditions with one of them updated. Returns the same list if nothing changes: then there is nothing to write.
 * A finding about an older generation than the one recorded comes too late, and changes nothing.
 */
export function withCondition(conditions: Condition[] | undefined, update: ConditionUpdate, clock: Clock): Condition[];
export function withCondition(
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  clock: Clock,
): readonly Condition[];
export function withCondition(
  conditions: readonly Condition[] | undefined,
  { message = "", ...update }: ConditionUpdate,
  clock: Clock,
): readonly Condition[] {
  const present = findCondition(conditions, update.type);
  if (present?.observedGeneration !== undefined && (update.observedGeneration ?? 0) < present.observedGeneration) {
    return conditions ?? [];
  }
  const lastTransitionTime =
    present?.status === update.status ? present.lastTransitionTime : kubernetesTime(clock.now());
  const next: Condition = { ...update, message, lastTransitionTime };
  if (!present) return [...(conditions ?? []), next];
  if (sameCondition(present, next)) return conditions ?? [];
  return (conditions ?? []).map((condition) => (condition === present ? next : condition));
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
