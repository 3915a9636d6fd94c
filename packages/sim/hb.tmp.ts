import { Client, HttpTransport, connectionFrom, coreV1 } from "@berth/kube";
import { parse } from "yaml";
import { startSim } from "./src/simulation.ts";
const sim = await startSim({ http: { tls: process.argv[2] !== "plain" } });
const client = new Client(new HttpTransport(connectionFrom(parse(sim.kubeconfig()))));
const mk = (i: number) => client.create(coreV1.ConfigMap, { metadata: { name: `c${i}`, namespace: "default" }, data: { a: "b" } });
await mk(-1);
for (const [what, run] of [["create", mk], ["get", (i: number) => client.get(coreV1.ConfigMap, { namespace: "default", name: `c${i}` })]] as const) {
  const t = performance.now(); const N = 3000; let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => { while (next < N) await run(next++); }));
  console.log(what, Math.round(N / ((performance.now() - t) / 1000)), "per second");
}
const t = performance.now(); const list = await client.list(coreV1.ConfigMap, { namespace: "default" }); console.log("list", list.items.length, Math.round(performance.now() - t), "ms");
process.exit(0);
