/** On a real control plane, in a short form. */
import { expect, it } from "vitest";
import { chaos } from "./chaos.ts";
import { realArena } from "./real-arena.ts";

it("C1 on a real control plane, with processes that are killed", { timeout: 600_000 }, async () => {
  const seed = "real";
  const arena = await realArena({ seed, placement: "gate" });
  try {
    const {
      bound,
      happened: _,
      ...wrong
    } = await chaos(arena, {
      ...{ seed, nodes: 10, slotsPerNode: 4, jobs: 50, steps: 40, pauseMs: 1000, longestRunSeconds: 4 },
    });
    expect(wrong).toEqual({ complaints: [], stuck: [], leaks: [] });
    expect(bound).toBeGreaterThan(50);
  } finally {
    await arena.close();
  }
});
