/** Whatever stands in a job, there is an answer: an object or a problem, and never an exception. */
import type { BatchJob } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ApplicationSpec, minimal, orderFor } from "../testing/orders.ts";
import type { ApplicationAdapter } from "./application.ts";
import { flink } from "./flink.ts";
import { job } from "./job.ts";
import { spark } from "./spark.ts";

/** Names of fields that mean something, so that what is made up gets beyond the first look. */
const NAMES = [
  ...[
    "template",
    "podTemplate",
    "metadata",
    "spec",
    "labels",
    "annotations",
    "containers",
    "initContainers",
    "sidecars",
  ],
  ...["resources", "requests", "limits", "cpu", "memory", "tolerations", "schedulingGates", "name", "restartPolicy"],
  ...["executor", "driver", "sparkConf", "gpu", "quantity", "cores", "coreRequest", "memoryOverhead", "memoryLimit"],
  ...["taskManager", "jobManager", "resource", "flinkConfiguration", "job", "parallelism", "taskmanager"],
  ...["podFailurePolicy", "rules", "action", "numberOfTaskSlots", "__proto__", "constructor"],
];
const CONTAINERS = ["spark-kubernetes-executor", "flink-main-container", "main", "log"];

const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "large", withCrossShrink: true },
    fc.constantFrom(null, true, 0, 1, -1, 1.5, "", "1", "700m", "1g", "1Gi", "true", "Always", ...CONTAINERS),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 6 }),
  ),
})).value;

const kinds: readonly [ApplicationSpec, ApplicationAdapter, readonly string[]][] = [
  ["sparkSpec", spark as ApplicationAdapter, ["executor", "sparkConf", "driver", "dynamicAllocation", "anything"]],
  ["flinkSpec", flink as ApplicationAdapter, ["taskManager", "jobManager", "job", "podTemplate", "flinkConfiguration"]],
  ["jobSpec", job as ApplicationAdapter, ["template", "podFailurePolicy", "anything"]],
];

describe.each(kinds)("any %s", (kind, adapter, fields) => {
  const amounts = fc.oneof(anything, fc.dictionary(fc.constantFrom("cpu", "memory"), anything));
  const container = fc.record(
    {
      name: fc.oneof(fc.constantFrom(...CONTAINERS), anything),
      resources: fc.oneof(anything, fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] })),
    },
    { requiredKeys: [] },
  );
  const containers = fc.oneof(anything, fc.array(fc.oneof(container, anything), { maxLength: 3 }));
  const pod = fc.record(
    {
      metadata: anything,
      spec: fc.record(
        {
          containers,
          initContainers: containers,
          tolerations: anything,
          schedulingGates: anything,
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  const holders = { sparkSpec: "executor", flinkSpec: "taskManager", jobSpec: "template" } as const;
  const nested = pod.map((template) => ({
    [holders[kind]]: kind === "jobSpec" ? template : { template, podTemplate: template },
  }));
  const spec = fc.oneof(fc.dictionary(fc.constantFrom(...fields), anything), nested);

  it("is rendered or refused, without changing what people wrote", () => {
    fc.assert(
      fc.property(spec, (given) => {
        const order = orderFor(kind, given);
        const before = JSON.stringify(order);
        const result = adapter.render(order);
        expect("object" in result || result.problem.message.length > 0).toBe(true);
        expect(JSON.stringify(order)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  it("is the same every time", () => {
    const order = orderFor(kind, { ...minimal[kind] });
    expect(adapter.render(order)).toEqual(adapter.render(structuredClone(order)));
    const empty = { ...order, job: { ...order.job, spec: { [kind]: {} } } as unknown as BatchJob };
    expect(adapter.render(empty)).toMatchObject({ problem: { code: "BERTH_APPLICATION_INVALID" } });
  });
});
