/**
 * Everything at once, for longer than tests can: executors where they were told, no slot with two, nothing stuck and nothing left,
 * by the API server's own record, in virtual time from many seeds and on a real control plane with processes that are killed.
 */
import { stopwatch } from "@berth/cluster";
import type { Arena, ArenaOptions } from "../packages/operator/src/chaos/arena.ts";
import { chaos } from "../packages/operator/src/chaos/chaos.ts";
import { realArena } from "../packages/operator/src/chaos/real-arena.ts";
import { simArena } from "../packages/operator/src/chaos/sim-arena.ts";
import type { Measurement, MeasureOptions } from "./report.ts";

const WORLD = { nodes: 40, slotsPerNode: 4, jobs: 200 };
const QUICK = { nodes: 10, slotsPerNode: 4, jobs: 50 };
const PLACEMENTS = ["gate", "extender"] as const;

export async function measure({ quick, log, signal }: MeasureOptions): Promise<Measurement[]> {
  const world = quick ? QUICK : WORLD;
  const rows: Measurement[] = [];
  for (const placement of PLACEMENTS) {
    const seeds = Array.from({ length: quick ? 1 : 5 }, (_, index) => `bench-${index + 1}`);
    const virtual = { ...world, steps: quick ? 40 : 150, pauseMs: 6000, longestRunSeconds: 60 };
    rows.push(...(await played(simArena, placement, seeds, virtual, "sim", log, signal)));
    const real = { ...world, steps: quick ? 40 : 120, pauseMs: 1500, longestRunSeconds: 6 };
    rows.push(...(await played(realArena, placement, ["bench"], real, "real", log, signal)));
  }
  return rows;
}

type Size = Omit<Parameters<typeof chaos>[1], "seed">;

async function played(
  open: (options: ArenaOptions) => Promise<Arena>,
  placement: ArenaOptions["placement"],
  seeds: readonly string[],
  size: Size,
  where: string,
  log: MeasureOptions["log"],
  signal: AbortSignal,
): Promise<Measurement[]> {
  const sum = { bound: 0, kills: 0, complaints: 0, stuck: 0, leaks: 0 };
  for (const seed of seeds) {
    signal.throwIfAborted();
    const time = stopwatch();
    const arena = await open({ seed, placement });
    try {
      const outcome = await chaos(arena, { seed, ...size });
      const wrong = [...outcome.complaints, ...outcome.stuck, ...outcome.leaks];
      for (const line of wrong.slice(0, 10)) log(line);
      log(
        `${where}, ${placement}, ${seed}: ${outcome.bound} executors, ${wrong.length} wrong, ${(time() / 1000).toFixed(0)} s`,
      );
      sum.bound += outcome.bound;
      sum.kills +=
        (outcome.happened["the operator is killed"] ?? 0) + (outcome.happened["kube-scheduler is killed"] ?? 0);
      sum.complaints += outcome.complaints.length;
      sum.stuck += outcome.stuck.length;
      sum.leaks += outcome.leaks.length;
    } finally {
      await arena.close();
    }
  }
  const none = { of: "ours", atMost: 0 } as const;
  const title = `${where}, ${placement}:`;
  return [
    { measure: `${title} executors bound`, unit: "", ours: sum.bound },
    { measure: `${title} processes killed`, unit: "", ours: sum.kills },
    { measure: `${title} misplaced, or two in a slot`, unit: "", ours: sum.complaints, target: none },
    { measure: `${title} stuck`, unit: "", ours: sum.stuck, target: none },
    { measure: `${title} left behind`, unit: "", ours: sum.leaks, target: none },
  ];
}
