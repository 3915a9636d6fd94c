/** Conditions: what is true of an object, since when, and as of which of its generations. */
import type { Clock } from "../time/clock.ts";

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
  observedGeneration?: number;
}

export type ConditionUpdate = Omit<Condition, "lastTransitionTime" | "message"> & { message?: string };

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether a condition is True; with a generation, whether it is so of that generation or a later one. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string, generation = 0): boolean {
  const condition = findCondition(conditions, type);
  return condition?.status === "True" && (condition.observedGeneration ?? 0) >= generation;
}

/**
 * The conditions with one of them updated. Returns the same list if nothing changes: then there is nothing to write.
 * A finding about an older generation than the one recorded comes too late, and changes nothing.
 */
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

/** A moment as Kubernetes writes it: to the second. */
export function kubernetesTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
