/** Conditions of pods, as the server itself sets them. Pure. */
import type { WriteContext } from "../../api/resource.ts";
import type { PodStatus } from "../pod/types.ts";

type Condition = NonNullable<PodStatus["conditions"]>[number];

/** With one condition set; since when it is what it is stays, if it was that before. */
export function withCondition(
  conditions: readonly Condition[] = [],
  condition: Condition,
  { time }: Pick<WriteContext, "time">,
): Condition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? old?.lastTransitionTime : undefined;
  const fresh = { ...condition, lastTransitionTime: since ?? time };
  if (!old) return [...conditions, fresh];
  return conditions.map((each) => (each === old ? fresh : each));
}
