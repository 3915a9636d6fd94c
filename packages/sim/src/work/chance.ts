/** What is left to chance in a work model: how much work there is, and what fails. Pure, given a `Random`. */
import type { Random } from "@berth/kube";
import type { WorkKind } from "./model.ts";

/** By what factor this run has more or less work than its kind usually has. Its mean is 1. */
export function variationOf({ variation: { distribution, cv } }: WorkKind, random: Random): number {
  if (cv === 0) return 1;
  if (distribution === "uniform") return 1 + Math.sqrt(3) * cv * (2 * random.next() - 1);
  // The logarithm is normal, with the variance that gives this cv and the mean that makes 1 of the whole.
  const variance = Math.log1p(cv * cv);
  return Math.exp(Math.sqrt(variance) * normal(random) - variance / 2);
}

/** After what share of the (remaining) work something of this probability fails; `undefined`: it does not. */
export function failsAfterShare(probability: number, luck: () => Random): number | undefined {
  if (probability === 0) return undefined;
  const random = luck();
  const [happens, where] = [random.next() < probability, random.next()];
  return happens ? where : undefined;
}

/** After how many seconds something fails that fails within an hour with this probability: without memory. */
export function failsAfterSeconds(probabilityPerHour: number, luck: () => Random): number | undefined {
  if (probabilityPerHour === 0) return undefined;
  const ratePerSecond = -Math.log1p(-probabilityPerHour) / 3600;
  return -Math.log1p(-luck().next()) / ratePerSecond;
}

/** Standard normal, by Box and Muller. */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log1p(-random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
