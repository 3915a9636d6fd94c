import { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { type AppCluster, appCluster, sparkApplication } from "../testing/app-cluster.ts";
import { SparkApplication } from "./application.ts";

const at = (name: string) => ({ namespace: "default", name });
const get = ({ api }: AppCluster, name = "pi") => {
  const found = api.get(SparkApplication, at(name));
  if (!found) throw new Error(`there is no application ${name}`);
  return found;
};
const stateOf = (cluster: AppCluster, name = "pi") => get(cluster, name).status?.applicationState.state ?? "";
const executorsOf = ({ api }: AppCluster) =>
  api.list(coreV1.Pod).filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");

/** All states that an application goes through, with the second in which it does. */
function states(cluster: AppCluster, name = "pi"): string[] {
  const start = cluster.clock.now();
  const seen: string[] = [];
  cluster.api.onChange(SparkApplication, ({ object }) => {
    const { state } = object.status?.applicationState ?? {};
    if (object.metadata.name !== name || !state || seen.at(-1)?.endsWith(` ${state}`)) return;
    seen.push(`${(cluster.clock.now() - start) / 1000} ${state}`);
  });
  return seen;
}

describe("an application that succeeds", () => {
  it("goes from submission to completion, and its executors with it", async () => {
    const cluster = await appCluster();
    const seen = states(cluster);
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(2);
    expect([stateOf(cluster), cluster.pods()]).toEqual(["", {}]);
    await cluster.pass(2);
    expect(cluster.pods()).toEqual({ "pi-driver": "Running" });
    await cluster.pass(3); // executors since 6, which work at once
    const names = executorsOf(cluster).map(({ metadata }) => metadata.name ?? "");
    expect(names).toEqual([expect.stringMatching(/^pi-[0-9a-f]{16,17}-exec-1$/), expect.stringMatching(/-exec-2$/)]);
    expect(get(cluster).status).toMatchObject({
      applicationState: { state: "RUNNING" },
      driverInfo: { podName: "pi-driver" },
      executionAttempts: 1,
      submissionAttempts: 1,
      lastSubmissionAttemptTime: "2020-01-01T00:00:03Z",
      terminationTime: null,
      sparkApplicationId: expect.stringMatching(/^spark-[0-9a-f]{32}$/),
      submissionID: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      executorState: Object.fromEntries(names.map((name) => [name, "RUNNING"])),
    });
    await cluster.clock.runUntilIdle();
    expect(seen).toEqual(["3 SUBMITTED", "3 RUNNING", "36 SUCCEEDING", "36 COMPLETED"]);
    expect(get(cluster).status).toMatchObject({
      terminationTime: "2020-01-01T00:00:36Z",
      executorState: Object.fromEntries(names.map((name) => [name, "COMPLETED"])),
    });
    expect(cluster.pods()).toEqual({ "pi-driver": "Succeeded" });
    expect(cluster.failures).toEqual([]);
  });

  it("keeps its executors if it is told to", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: 60, overhead: { shutdown: 5 } }]" });
    cluster.api.create(
      SparkApplication,
      sparkApplication("pi", { executor: { instances: 1, deleteOnTermination: false } }),
    );
    await cluster.clock.runUntilIdle();
    expect(Object.values(cluster.pods())).toEqual(["Succeeded", "Succeeded"]);
    expect(executorsOf(cluster)[0]?.metadata.labels).toMatchObject({ "spark-exec-inactive": "true" });
  });

  it("is removed when its time to live is up", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi", { timeToLiveSeconds: 100 }));
    await cluster.pass(130);
    expect(stateOf(cluster)).toBe("COMPLETED");
    await cluster.pass(10);
    expect(cluster.api.list(SparkApplication)).toEqual([]);
    expect(cluster.pods()).toEqual({});
  });

  it("runs again and again with restart policy Always", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi", { restartPolicy: { type: "Always" } }));
    await cluster.pass(120);
    expect(get(cluster).status?.executionAttempts).toBeGreaterThan(2);
  });
});

describe("executors", () => {
  it("are asked for a few at a time", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi", { executor: { instances: 12 } }));
    await cluster.pass(6);
    const counts = [executorsOf(cluster).length];
    for (let second = 0; second < 3; second++) {
      await cluster.pass(1);
      counts.push(executorsOf(cluster).length);
    }
    expect(counts).toEqual([5, 10, 12, 12]); // Spark 3: five each second
  });

  it("that wait for their gates keep their driver waiting", async () => {
    const cluster = await appCluster();
    const template = {
      spec: { schedulingGates: [{ name: "berth.dev/slot" }], containers: [{ name: "spark-kubernetes-executor" }] },
    };
    cluster.api.create(SparkApplication, sparkApplication("pi", { executor: { instances: 2, template } }));
    await cluster.pass(500);
    expect(stateOf(cluster)).toBe("RUNNING");
    expect(executorsOf(cluster).map(({ spec }) => spec?.schedulingGates)).toEqual([
      [{ name: "berth.dev/slot" }],
      [{ name: "berth.dev/slot" }],
    ]);
    expect(Object.values(get(cluster).status?.executorState ?? {})).toEqual(["PENDING", "PENDING"]);
  });

  it("that fail are replaced under new numbers", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    const [first] = executorsOf(cluster);
    cluster.api.delete(coreV1.Pod, at(first?.metadata.name ?? ""));
    await cluster.pass(3);
    expect(executorsOf(cluster).map(({ metadata }) => metadata.labels?.["spark-exec-id"])).toEqual(["2", "3"]);
    await cluster.clock.runUntilIdle();
    expect(stateOf(cluster)).toBe("COMPLETED");
    expect(get(cluster).status?.executorState?.[first?.metadata.name ?? ""]).toMatch(/FAILED|UNKNOWN/);
  });

  it("that keep failing make the driver give up", async () => {
    const cluster = await appCluster({ work: "kinds: [{ name: plain, work: 1000, failures: { executor: 1 } }]" });
    cluster.api.create(SparkApplication, sparkApplication("pi", { executor: { instances: 1 } }));
    await cluster.clock.runUntilIdle();
    expect(get(cluster).status).toMatchObject({
      applicationState: { state: "FAILED", errorMessage: "driver container failed with ExitCode: 11, Reason: Error" },
    });
    expect(cluster.pods()).toEqual({ "pi-driver": "Failed" });
  });

  it("on a node that is lost are replaced elsewhere", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    const [first] = executorsOf(cluster);
    cluster.kubelet.failNode(first?.spec?.nodeName ?? "");
    cluster.api.delete(coreV1.Pod, at(first?.metadata.name ?? ""), { gracePeriodSeconds: 0 });
    await cluster.pass(3);
    expect(executorsOf(cluster)).toHaveLength(2);
  });
});

describe("an application that fails", () => {
  const failing = "kinds: [{ name: plain, work: 60, failures: { application: 1 } }]";

  it("says why", async () => {
    const cluster = await appCluster({ work: failing });
    const seen = states(cluster);
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.clock.runUntilIdle();
    expect(seen.map((line) => line.split(" ")[1])).toEqual(["SUBMITTED", "RUNNING", "FAILING", "FAILED"]);
    expect(get(cluster).status?.applicationState.errorMessage).toBe(
      "driver container failed with ExitCode: 1, Reason: Error",
    );
    expect(cluster.pods()).toEqual({ "pi-driver": "Failed" });
  });

  it("is run again as often, and after as long, as its policy says", async () => {
    const cluster = await appCluster({ work: failing });
    const seen = states(cluster);
    const restartPolicy = { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 100 } as const;
    cluster.api.create(SparkApplication, sparkApplication("pi", { restartPolicy }));
    await cluster.clock.runUntilIdle();
    const again = seen.filter((line) => line.endsWith("PENDING_RERUN")).map((line) => Number(line.split(" ")[0]));
    // The wait grows with each submission, and counts from the last: 100 s after 3, then 200 s after the next.
    expect(again).toEqual([103, 306]);
    expect(seen.at(-1)).toMatch(/ FAILED$/);
    expect(get(cluster).status).toMatchObject({ executionAttempts: 3, submissionAttempts: 3 });
  });

  it("because its driver is gone", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    cluster.api.delete(coreV1.Pod, at("pi-driver"));
    await cluster.clock.runUntilIdle();
    expect(get(cluster).status?.applicationState).toMatchObject({ state: "FAILED" });
    expect(cluster.pods()).toEqual({});
  });
});

describe("a submission that fails", () => {
  it.each([
    [{ image: undefined as never }, "Must specify the driver container image"],
    [{ driver: { memory: "1Gi" } }, "Driver memory must be a positive number"],
    [{ executor: { memory: "lots" } }, "Executor memory must be a positive number"],
    [{ executor: { memoryOverhead: "1Gi" } }, "Failed to parse byte string: 1Gi"],
    [{ mainClass: undefined as never }, "No main class set"],
    [{ memoryOverheadFactor: "much" }, "spark.kubernetes.memoryOverheadFactor is invalid"],
  ])("says why: %j", async (spec, message) => {
    const cluster = await appCluster();
    const seen = states(cluster);
    cluster.api.create(SparkApplication, sparkApplication("pi", spec));
    await cluster.clock.runUntilIdle();
    expect(seen.map((line) => line.split(" ")[1])).toEqual(["SUBMISSION_FAILED", "FAILED"]);
    expect(get(cluster).status?.applicationState.errorMessage).toMatch(/^failed to submit spark application: /);
    expect(get(cluster).status?.applicationState.errorMessage).toContain(message);
    expect(get(cluster).status?.executionAttempts).toBeUndefined();
  });

  it("is tried again as its policy says", async () => {
    const cluster = await appCluster();
    cluster.api.create(coreV1.Pod, { metadata: at("pi-driver"), spec: { containers: [{ name: "x", image: "x" }] } });
    const restartPolicy = { type: "OnFailure", onSubmissionFailureRetries: 1 } as const;
    cluster.api.create(SparkApplication, sparkApplication("pi", { restartPolicy }));
    await cluster.pass(4);
    expect(get(cluster).status?.applicationState).toEqual({
      state: "SUBMISSION_FAILED",
      errorMessage: "failed to submit spark application: failed to run spark-submit: driver pod already exist",
    });
    await cluster.clock.runUntilIdle(); // the other pod is taken for a remnant, and removed
    expect(get(cluster).status).toMatchObject({ applicationState: { state: "COMPLETED" }, submissionAttempts: 2 });
  });

  it("does not hold up the others, of which ten are submitted at a time", async () => {
    const cluster = await appCluster({ bind: false });
    for (let index = 0; index < 25; index++) cluster.api.create(SparkApplication, sparkApplication(`app-${index}`));
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      await cluster.pass(3);
      counts.push(Object.keys(cluster.pods()).length);
    }
    expect(counts).toEqual([10, 20, 25]);
  });
});

describe("an application that is changed", () => {
  it("begins anew", async () => {
    const cluster = await appCluster();
    const seen = states(cluster);
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    const before = get(cluster).status?.submissionID;
    cluster.api.patch(SparkApplication, at("pi"), { spec: { executor: { instances: 4 } } });
    await cluster.pass(10);
    expect(seen.map((line) => line.split(" ")[1]).slice(2)).toEqual([
      "INVALIDATING",
      "PENDING_RERUN",
      "SUBMITTED",
      "RUNNING",
    ]);
    expect(get(cluster).status?.submissionID).not.toBe(before);
    expect(get(cluster).status?.executionAttempts).toBe(1);
    expect(executorsOf(cluster)).toHaveLength(4);
  });

  it("goes on if only its time to live changes, or what was the default anyway", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    const before = get(cluster).status?.submissionID;
    cluster.api.patch(SparkApplication, at("pi"), {
      spec: { timeToLiveSeconds: 1000, mode: "cluster", driver: { cores: 1 } },
    });
    await cluster.pass(5);
    expect(get(cluster).status).toMatchObject({ submissionID: before, applicationState: { state: "RUNNING" } });
  });

  it("can be suspended and resumed", async () => {
    const cluster = await appCluster();
    const seen = states(cluster);
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    cluster.api.patch(SparkApplication, at("pi"), { spec: { suspend: true } });
    await cluster.pass(10);
    expect(seen.map((line) => line.split(" ")[1]).slice(2)).toEqual(["SUSPENDING", "SUSPENDED"]);
    expect(cluster.pods()).toEqual({});
    cluster.api.patch(SparkApplication, at("pi"), { spec: { suspend: false } });
    await cluster.clock.runUntilIdle();
    expect(seen.map((line) => line.split(" ")[1]).slice(4)).toEqual([
      "RESUMING",
      "SUBMITTED",
      "RUNNING",
      "SUCCEEDING",
      "COMPLETED",
    ]);
  });
});

describe("an application that is deleted", () => {
  it("takes its pods with it, in whatever state it is", async () => {
    for (const seconds of [1, 4, 10, 60]) {
      const cluster = await appCluster();
      cluster.api.create(SparkApplication, sparkApplication("pi"));
      await cluster.pass(seconds);
      cluster.api.delete(SparkApplication, at("pi"), { propagationPolicy: "Background" });
      await cluster.clock.runUntilIdle();
      expect(cluster.pods()).toEqual({});
      expect(cluster.failures).toEqual([]);
    }
  });

  it("and created again is another", async () => {
    const cluster = await appCluster();
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(10);
    cluster.api.delete(SparkApplication, at("pi"), { propagationPolicy: "Background" });
    await cluster.pass(1);
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.clock.runUntilIdle();
    expect(stateOf(cluster)).toBe("COMPLETED");
  });
});

describe("whatever stands in an application", () => {
  it.each([
    [{ spec: null }],
    [{ spec: [] }],
    [{ spec: { driver: 1, executor: "x", sparkVersion: 3 } }],
    [{ spec: { ...sparkApplication("x").spec, executor: { template: "no", instances: 1 } } }],
    [
      {
        spec: {
          ...sparkApplication("x").spec,
          executor: { template: { spec: { containers: [null, 1, { name: 2 }] } } },
        },
      },
    ],
    [{ spec: { ...sparkApplication("x").spec, driver: { template: { metadata: { labels: ["a"] }, spec: [] } } } }],
    [{ spec: { ...sparkApplication("x").spec, sparkConf: { "spark.executor.instances": "-1", __proto__: "x" } } }],
  ])("nothing crashes: %j", async (fields) => {
    const cluster = await appCluster();
    try {
      cluster.api.create(SparkApplication, { metadata: { name: "odd", namespace: "default" }, ...fields } as never);
    } catch {
      return; // refused by the server
    }
    cluster.api.create(SparkApplication, sparkApplication("pi"));
    await cluster.pass(200);
    expect(stateOf(cluster)).toBe("COMPLETED");
    expect(cluster.failures).toEqual([]);
  });
});
