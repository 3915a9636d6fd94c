/** A program for tests to kill: starts a cluster, says so, and waits. `node hold-cluster.ts NAME REAL_NODES` */

import { sleep } from "../clock.ts";
import { startCluster } from "../start.ts";
import { createPod, podIn } from "./support.ts";

const [name = "", realNodes = "0"] = process.argv.slice(2);
const cluster = await startCluster({ name, nodes: 1, realNodes: Number(realNodes) });
if (Number(realNodes) > 0) {
  await createPod(cluster, { name: "sleeper", node: "real-0", script: "sleep 1000" });
  await podIn(cluster, "sleeper", "Running");
}
console.log("ready");
await sleep(10 * 60 * 1000);
