/** What becomes of Jobs: the pods that they make, how they count them, and how they end. */
import { batchV1, coreV1, isConditionTrue } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import { eventually, timeless, WorkloadWorld } from "./workload-world.ts";

const { Job } = batchV1;
const isOver = ({ status }: batchV1.Job) =>
  isConditionTrue(status?.conditions, "Complete") || isConditionTrue(status?.conditions, "Failed");
const condition = (type: string, reason: string, message: string) => ({
  ...{ type, status: "True", reason, message },
  ...{ lastProbeTime: "TIME", lastTransitionTime: "TIME" },
});
const indexOf = ({ metadata }: coreV1.Pod) => metadata.annotations?.["batch.kubernetes.io/job-completion-index"];

export const jobs = suite("jobs", (it, target) => {
  const inWorld = (name: string, test: (world: WorkloadWorld) => Promise<void>) =>
    it(name, () => WorkloadWorld.in(target(), test));

  inWorld("run to completion, and say so", async (world) => {
    const { client, namespace } = world;
    const spec = { completions: 3, parallelism: 2, template: world.template({ "run-time": "100ms" }) };
    const { metadata } = await client.create(Job, world.job("j", spec));
    const { status } = await world.until(Job, "j", isOver);
    const [reason, message] = ["CompletionsReached", "Reached expected number of succeeded pods"];
    expect(timeless(status)).toEqual({
      startTime: "TIME",
      completionTime: "TIME",
      succeeded: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [condition("SuccessCriteriaMet", reason, message), condition("Complete", reason, message)],
    });
    const pods = await world.pods();
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(pod.metadata.name).toMatch(/^j-[a-z0-9]{5}$/);
      expect(pod.metadata.generateName).toBe("j-");
      expect(pod.metadata.finalizers).toBeUndefined();
      expect(pod.metadata.labels).toEqual({
        "batch.kubernetes.io/controller-uid": metadata.uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": metadata.uid,
        "job-name": "j",
      });
      expect(pod.metadata.ownerReferences).toEqual([
        {
          ...{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: metadata.uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ]);
    }
    const told = await world.told("Job", "j", "Completed");
    expect(told).toContain("Normal Completed: Job completed");
    expect(told.filter((line) => line.startsWith("Normal SuccessfulCreate: Created pod: j-"))).toHaveLength(3);
    expect(namespace).toBe(metadata.namespace);
  });

  inWorld("track their pods by a finalizer while these run", async (world) => {
    await world.client.create(Job, world.job("j", { template: world.template({ "run-time": "1h" }) }));
    const { status } = await world.until(Job, "j", (job) => job.status?.ready === 1);
    expect(timeless(status)).toEqual({
      ...{ startTime: "TIME", active: 1, ready: 1, terminating: 0, uncountedTerminatedPods: {} },
    });
    const [pod] = await world.pods();
    expect(pod?.metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
  });

  inWorld("give each index a pod, a name and a place in the status", async (world) => {
    const spec: batchV1.JobSpec = {
      completionMode: "Indexed",
      completions: 4,
      parallelism: 4,
      template: world.template({ "run-time": "100ms" }),
    };
    await world.client.create(Job, world.job("j", spec));
    const { status } = await world.until(Job, "j", isOver);
    expect(status).toMatchObject({ completedIndexes: "0-3", succeeded: 4 });
    const pods = (await world.pods()).toSorted((a, b) => Number(indexOf(a)) - Number(indexOf(b)));
    expect(pods.map(indexOf)).toEqual(["0", "1", "2", "3"]);
    for (const [index, pod] of pods.entries()) {
      expect(pod.metadata.name).toMatch(new RegExp(`^j-${index}-[a-z0-9]{5}$`));
      expect(pod.metadata.labels?.["batch.kubernetes.io/job-completion-index"]).toBe(String(index));
      expect(pod.spec?.hostname).toBe(`j-${index}`);
      expect(pod.spec?.containers[0]?.env).toEqual([
        {
          name: "JOB_COMPLETION_INDEX",
          valueFrom: {
            fieldRef: {
              apiVersion: "v1",
              fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']",
            },
          },
        },
      ]);
    }
  });

  inWorld("fail when too many of their pods have, and wait longer before each", async (world) => {
    const template = world.template({ "run-time": "0s", "exit-code": "3" });
    await world.client.create(Job, world.job("j", { backoffLimit: 1, template }));
    const { status } = await world.until(Job, "j", isOver);
    const [reason, message] = ["BackoffLimitExceeded", "Job has reached the specified backoff limit"];
    expect(timeless(status)).toEqual({
      startTime: "TIME",
      failed: 2,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [condition("FailureTarget", reason, message), condition("Failed", reason, message)],
    });
    const times = (await world.pods()).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ""));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual(9000);
    expect(await world.told("Job", "j", reason)).toContain(`Warning ${reason}: ${message}`);
  });

  inWorld("end what still runs when they fail, and count it", async (world) => {
    const spec: batchV1.JobSpec = {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 3,
      activeDeadlineSeconds: 3,
      template: world.template({ "run-time": "1h" }),
    };
    await world.client.create(Job, world.job("j", spec));
    const { status } = await world.until(Job, "j", isOver);
    const [reason, message] = ["DeadlineExceeded", "Job was active longer than specified deadline"];
    expect(timeless(status)).toEqual({
      startTime: "TIME",
      failed: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [condition("FailureTarget", reason, message), condition("Failed", reason, message)],
    });
    expect(await world.pods()).toEqual([]);
  });

  inWorld("can be suspended and resumed", async (world) => {
    const { client, namespace } = world;
    const key = { namespace, name: "j" };
    await client.create(Job, world.job("j", { suspend: true, template: world.template({ "run-time": "1s" }) }));
    const suspended = await world.until(Job, "j", (job) => isConditionTrue(job.status?.conditions, "Suspended"));
    expect(timeless(suspended.status)).toEqual({
      ...{ ready: 0, terminating: 0, uncountedTerminatedPods: {} },
      conditions: [condition("Suspended", "JobSuspended", "Job suspended")],
    });
    expect(await world.pods()).toEqual([]);
    await client.patch(Job, key, { merge: { spec: { suspend: false } } });
    const resumed = await world.until(Job, "j", (job) => (job.status?.active ?? 0) > 0);
    expect(resumed.status?.conditions?.[0]).toMatchObject({ type: "Suspended", status: "False", reason: "JobResumed" });
    expect(resumed.status?.startTime).toBeDefined();
    await client.patch(Job, key, { merge: { spec: { suspend: true } } });
    await world.until(Job, "j", (job) => isConditionTrue(job.status?.conditions, "Suspended"));
    await eventually("no pods", async () => ((await world.pods()).length === 0 ? true : undefined));
    const again = await client.get(Job, key);
    expect(again.status?.startTime).toBeUndefined();
    expect(again.status?.failed).toBeUndefined();
    await client.patch(Job, key, { merge: { spec: { suspend: false } } });
    await world.until(Job, "j", isOver);
    const told = await world.told("Job", "j", "Resumed");
    expect(told).toEqual(expect.arrayContaining(["Normal Suspended: Job suspended", "Normal Resumed: Job resumed"]));
  });

  inWorld("go some time after they are over, with their pods", async (world) => {
    const spec = { ttlSecondsAfterFinished: 1, template: world.template({ "run-time": "0s" }) };
    await world.client.create(Job, world.job("j", spec));
    await world.gone(Job, "j");
    await eventually("no pods", async () => ((await world.pods()).length === 0 ? true : undefined));
  });

  inWorld("lose pods that somebody deletes, and make others", async (world) => {
    await world.client.create(Job, world.job("j", { template: world.template({ "run-time": "1h" }) }));
    await world.until(Job, "j", (job) => job.status?.ready === 1);
    const [first] = await world.pods();
    const name = first?.metadata.name ?? "";
    await world.client.delete(coreV1.Pod, { namespace: world.namespace, name });
    const { status } = await world.until(Job, "j", (job) => job.status?.failed === 1 && job.status.ready === 1);
    expect(status).toMatchObject({ active: 1, failed: 1 });
    expect((await world.pods()).map(({ metadata }) => metadata.name)).not.toContain(name);
  });

  inWorld("take no notice of failures that do not count, and end by those that decide", async (world) => {
    const onExitCodes = { containerName: "main", operator: "In" as const, values: [42] };
    const podFailurePolicy = { rules: [{ action: "FailJob" as const, onExitCodes }] };
    const template = world.template({ "run-time": "0s", "exit-code": "42" });
    await world.client.create(Job, world.job("j", { podFailurePolicy, template }));
    const { status } = await world.until(Job, "j", isOver);
    const [pod] = await world.pods();
    const message = `Container main for pod ${world.namespace}/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 0`;
    expect(timeless(status?.conditions)).toEqual([
      condition("FailureTarget", "PodFailurePolicy", message),
      condition("Failed", "PodFailurePolicy", message),
    ]);
    expect(status?.failed).toBe(1);
  });

  inWorld("try each index as often as it may, and tell which are lost", async (world) => {
    const spec: batchV1.JobSpec = {
      completionMode: "Indexed",
      completions: 2,
      parallelism: 2,
      backoffLimitPerIndex: 0,
      template: world.template({ "run-time": "0s", "exit-code": "1" }),
    };
    await world.client.create(Job, world.job("j", spec));
    const { status } = await world.until(Job, "j", isOver);
    expect(timeless(status)).toEqual({
      startTime: "TIME",
      failed: 2,
      failedIndexes: "0,1",
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [
        condition("FailureTarget", "FailedIndexes", "Job has failed indexes"),
        condition("Failed", "FailedIndexes", "Job has failed indexes"),
      ],
    });
    const counts = (await world.pods()).map(
      ({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"],
    );
    expect(counts).toEqual(["0", "0"]);
  });

  inWorld("are over when enough has succeeded", async (world) => {
    const spec: batchV1.JobSpec = {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 1,
      successPolicy: { rules: [{ succeededCount: 1 }] },
      template: world.template({ "run-time": "0s" }),
    };
    await world.client.create(Job, world.job("j", spec));
    const { status } = await world.until(Job, "j", isOver);
    expect(status?.conditions?.map(({ type, reason, message }) => [type, reason, message])).toEqual([
      ["SuccessCriteriaMet", "SuccessPolicy", "Matched rules at index 0"],
      ["Complete", "SuccessPolicy", "Matched rules at index 0"],
    ]);
  });

  inWorld("leave their pods behind as orphans, if that is asked for", async (world) => {
    await world.client.create(Job, world.job("j", { template: world.template({ "run-time": "1h" }) }));
    await world.until(Job, "j", (job) => job.status?.ready === 1);
    await world.client.delete(Job, { namespace: world.namespace, name: "j" }, { propagationPolicy: "Orphan" });
    await world.gone(Job, "j");
    const pod = await eventually("an orphan", async () => {
      const [found] = await world.pods();
      return found && !found.metadata.ownerReferences && !found.metadata.finalizers ? found : undefined;
    });
    expect(pod.metadata.deletionTimestamp).toBeUndefined();
  });
});
