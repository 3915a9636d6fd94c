/** A simulated cluster in virtual time. */
import { coreV1, VirtualClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import type { Target } from "../target.ts";
import { operatorOn } from "./operator-on.ts";

const STEP_MS = 250;
/** Of virtual time: whatever takes longer than this never happens. */
const PATIENCE_MS = 10 * 60_000;

export async function simTarget(): Promise<Target> {
  const clock = new VirtualClock();
  const sim = await startSim({ clock });
  const stop = await operatorOn(sim.transport, sim.client, clock);
  await clock.advance(5000);
  return {
    name: "sim",
    client: sim.client,
    addNode: async (name, labels) => sim.addNode({ name, labels }),
    removeNode: async (name) => void (await sim.client.delete(coreV1.Node, { name })),
    lastWord: async () => {}, // simulated kubelets have said it
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
      await stop();
      await sim.stop();
    },
  };
}
