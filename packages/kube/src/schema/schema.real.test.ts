/** Definitions, held to what the real API server makes of them. */
import { type Cluster, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badByRule, badSpecs, goodSpecs, Sample } from "./testing/sample.ts";

let cluster: Cluster;
const objects = `/apis/${Sample.apiVersion}/namespaces/default/${Sample.plural}`;
const strictly = `${objects}?dryRun=All&fieldValidation=Strict`;
const object = (spec: unknown, name = "sample") => ({
  apiVersion: Sample.apiVersion,
  kind: Sample.kind,
  metadata: { name, namespace: "default" },
  spec,
});

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-schema` });
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await cluster.api.create(`${definitions}?fieldValidation=Strict`, Sample.crd());
  await cluster.kubectl("wait", "--for=condition=Established", `crd/${Sample.plural}.${Sample.group}`, "--timeout=60s");
});
afterAll(() => cluster?.stop());

describe("the API server", () => {
  it("X7 finds nothing wrong with the definition, structure included", async () => {
    const crd = await cluster.api.get(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${Sample.plural}.${Sample.group}`,
    );
    const conditions = crd.status.conditions as { type: string; status: string; message: string }[];
    expect(conditions.filter(({ type, status }) => type === "NonStructuralSchema" && status === "True")).toEqual([]);
    expect(await cluster.kubectl("get", "smp")).toBe("");
  });

  it("X8 accepts and refuses what we accept and refuse", async () => {
    for (const spec of goodSpecs) {
      await expect(cluster.api.create(strictly, object(spec)), JSON.stringify(spec)).resolves.toBeDefined();
    }
    for (const [, spec] of badSpecs) {
      await expect(cluster.api.create(strictly, object(spec)), JSON.stringify(spec)).rejects.toMatchObject({
        status: expect.toSatisfy((status: number) => status === 422 || status === 400),
      });
    }
  });

  it("X9 evaluates rules, which we leave to it", async () => {
    for (const spec of badByRule) {
      expect(Sample.validate(object(spec))).toEqual([]);
      await expect(cluster.api.create(strictly, object(spec))).rejects.toThrow("more than 50 need the Gate");
    }
    await expect(cluster.api.create(strictly, object({ name: "abc" }, "forbidden"))).rejects.toThrow(
      "this name is taken",
    );
  });

  it("fills in defaults, keeps what is free, and prints our columns", async () => {
    const created = await cluster.api.create(objects, object({ name: "abc", free: { a: [1] }, open: { other: 2 } }));
    expect(created.spec).toEqual({ name: "abc", count: 2, mode: "Gate", free: { a: [1] }, open: { other: 2 } });
    expect(await cluster.kubectl("get", "smp")).toMatch(/NAME +COUNT\nsample +2/);
  });
});
