/** A simulated cluster in virtual time. */
import { coreV1, VirtualClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import { install } from "../../install/install.ts";
import { filtered, victims } from "../../placement/extender.ts";
import type { Target, TargetOptions } from "../target.ts";
import { operatorOn, type Running } from "./operator-on.ts";

const STEP_MS = 250;
/** Of virtual time: whatever takes longer than this never happens. */
const PATIENCE_MS = 10 * 60_000;

export async function simTarget({ placement, clock = new VirtualClock() }: TargetOptions): Promise<Target> {
  let operator: Running | undefined;
  // In this process, and asked as kube-scheduler asks.
  const seats = () => (operator as Running).seats;
  const extender = {
    filter: async (args: Parameters<typeof filtered>[0]) => filtered(args, seats()),
    preempt: async (args: Parameters<typeof victims>[0]) => victims(args, seats()),
  };
  const second = { profiles: [{ schedulerName: "berth" }], extenders: [{ extender, nodeCacheCapable: true }] };
  const sim = await startSim({ clock, schedulers: [{}, second] });
  const installing = install(sim.client, clock);
  await clock.advance(5000);
  await installing;
  operator = await operatorOn(sim.transport, clock, {
    placement: placement === "gate" ? { type: "gate" } : { type: "extender", schedulerName: "berth" },
  });
  await clock.advance(5000);
  return {
    name: "sim",
    client: sim.client,
    addNode: async (name, labels) => sim.addNode({ name, labels }),
    removeNode: async (name) => void (await sim.client.delete(coreV1.Node, { name })),
    breakNode: async (name) => sim.failNode(name),
    mendNode: async (name) => sim.recoverNode(name),
    pass: (milliseconds) => clock.advance(milliseconds),
    eventually: async (what, ask) => {
      for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        const answer = await ask();
        if (answer) return answer;
        await clock.advance(STEP_MS);
      }
      throw new Error(`waited in vain: ${what}`);
    },
    close: async () => {
      await operator?.stop();
      await sim.stop();
    },
  };
}
