/** The types of Kubernetes' kinds, and what packages/sim knows of them, held to the Kubernetes that this repository runs. */
import { type Cluster, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generate, readGenerated } from "./generate.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-kinds`, nodes: 0 });
});
afterAll(() => cluster?.stop());

it("the files are what would be generated: if not, run tools/kinds/generate.ts", async () => {
  const [present, wanted] = [readGenerated(), await generate(cluster.api)];
  expect([...present.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [file, text] of wanted) expect(present.get(file), file).toBe(text);
});
