/**
 * One measurement of the simulated cluster in a process of its own: `lives NODES PODS AT_ONCE`, `memory NODES PODS` or
 * `start`. Prints a line of JSON.
 */
import { Client, VirtualClock, WallClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import { fill, liveAndDie } from "./life-cycles.ts";

/** As a process of its own has it: since its beginning. */
const world = new WallClock();

const [mode, ...numbers] = process.argv.slice(2);
const [nodes = 0, pods = 0, atOnce = 0] = numbers.map(Number);

const clock = new VirtualClock();
const sim = await startSim({ clock, nodes });
const ready = world.steady();

const over = new AbortController();
const running = clock.run(undefined, over.signal);
let seconds = 0;
if (mode === "lives") {
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  await liveAndDie({ transport: sim.transport, clock, nodes: names, pods: Math.ceil(pods / 10), atOnce }); // warm-up
  const started = world.steady();
  await liveAndDie({ transport: sim.transport, clock, nodes: names, pods, atOnce });
  seconds = (world.steady() - started) / 1000;
}
if (mode === "memory") await fill(new Client(sim.transport, { clock }), clock, nodes, pods);
over.abort();
await running;
globalThis.gc?.();
const { rss, heapUsed } = process.memoryUsage();
console.log(JSON.stringify({ ready, seconds, rss, heapUsed, virtual: clock.now() }));
await sim.stop();
