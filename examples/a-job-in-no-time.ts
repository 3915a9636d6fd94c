/**
 * An hour of a Job on a simulated cluster takes no time at all. Prints how many of its pods have succeeded.
 *
 *   node tools/with-node.mjs examples/a-job-in-no-time.ts
 */
import { batchV1, VirtualClock } from "@berth/kube";
import { startSim } from "@berth/sim";

const clock = new VirtualClock();
await using sim = await startSim({ clock, nodes: 10 });
const metadata = { name: "pi", namespace: "default" };
const containers = [{ name: "main", image: "busybox", command: ["sleep", "3600"] }];
const template = { spec: { restartPolicy: "Never" as const, containers } };
await sim.client.create(batchV1.Job, { metadata, spec: { completions: 20, parallelism: 20, template } });
await clock.advance(3700_000); // an hour and a bit, at once
console.log((await sim.client.get(batchV1.Job, metadata)).status?.succeeded); // 20
