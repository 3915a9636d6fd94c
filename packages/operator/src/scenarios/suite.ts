/** How stories are told: each in a corner of its own of a cluster. */
import type { Testbed } from "@berth/model";
import { it } from "vitest";
import type { Target } from "./target.ts";
import { World } from "./world.ts";

/** @param nodes - How many there are. @param spec - Over that of the testbed on them: two slots each, which fill them. */
export type Tell = (
  title: string,
  nodes: number,
  story: (world: World) => Promise<void>,
  spec?: Partial<Testbed["spec"]>,
) => void;

export interface SuiteOptions {
  /** Whether several may be told at once: not in virtual time, of which there is only one. */
  readonly atOnce: boolean;
}

/** @param target - Only called inside of tests. */
export function teller(target: () => Target, { atOnce }: SuiteOptions): Tell {
  const test = atOnce ? it.concurrent : it;
  return (title, nodes, story, spec = {}) =>
    test(title, async () => {
      const world = await World.with(target(), nodes, spec);
      try {
        await story(world);
      } finally {
        await world.tidyUp();
      }
    });
}
