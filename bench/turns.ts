/** The order in which several take turns. */
import type { Random } from "@berth/kube";

/** Whoever comes after somebody with much to do behind him has it harder: chance decides who that is, each time. */
export function shuffled<T>(all: readonly T[], random: Random): T[] {
  const drawn = all.map((item) => [random.next(), item] as const);
  return drawn.sort(([a], [b]) => a - b).map(([, item]) => item);
}
