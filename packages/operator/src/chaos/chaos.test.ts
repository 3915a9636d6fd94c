/** In virtual time, from several seeds. `npm run bench -- chaos` does the same for longer, and on a real control plane. */
import { expect, it } from "vitest";
import { chaos } from "./chaos.ts";
import { simArena } from "./sim-arena.ts";

const { BERTH_CHAOS_SEEDS = "4", BERTH_CHAOS_FIRST = "1" } = process.env;
const seeds = Array.from({ length: Number(BERTH_CHAOS_SEEDS) }, (_, index) => Number(BERTH_CHAOS_FIRST) + index);

it.each(seeds)(
  "C1 no slot ever holds two, everybody is where they were told, and nothing is stuck or left behind (seed %i)",
  async (number) => {
    const seed = `chaos-${number}`;
    const arena = await simArena({ seed, placement: number % 2 === 0 ? "extender" : "gate" });
    try {
      const {
        bound,
        happened: _,
        ...wrong
      } = await chaos(arena, {
        ...{ seed, nodes: 10, slotsPerNode: 4, jobs: 50, steps: 40, pauseMs: 6000, longestRunSeconds: 60 },
      });
      expect(wrong).toEqual({ complaints: [], stuck: [], leaks: [] });
      expect(bound).toBeGreaterThan(50);
    } finally {
      await arena.close();
    }
  },
);
