import { batchV1, coreV1, SeededRandom } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forbidden } from "../../api/refusal.ts";
import type { Admission } from "../../api/write.ts";
import { Kubelet } from "../../kubelet/kubelet.ts";
import type { Run } from "../../kubelet/runtime.ts";
import { PodGarbage } from "../node/pod-garbage.ts";
import { bindPods, testCluster } from "../testing/cluster.ts";
import { FinishedJobs } from "./finished-jobs.ts";
import { JobController } from "./job-controller.ts";

interface Options {
  /** How long a pod runs and how it ends. */
  readonly run?: (run: Run) => void;
  readonly isBound?: boolean;
  readonly admissions?: readonly Admission[];
}

function world({ run = (each) => each.endIn(1000), isBound = true, admissions = [] }: Options = {}) {
  const cluster = testCluster({ admissions });
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet"), { runtime: { started: run } }));
  cluster.start(new JobController(cluster.surroundings("jobs")));
  cluster.start(new FinishedJobs(cluster.surroundings("finished")));
  kubelet.addNode({ name: "n1" });
  if (isBound) bindPods(cluster, "n1");
  const create = (name: string, spec: Partial<batchV1.JobSpec> = {}, podSpec: Partial<coreV1.PodSpec> = {}) =>
    cluster.api.create(batchV1.Job, {
      metadata: { name, namespace: "default" },
      spec: {
        template: { spec: { containers: [{ name: "main", image: "x" }], restartPolicy: "Never", ...podSpec } },
        ...spec,
      },
    });
  const get = (name: string) => cluster.api.get(batchV1.Job, { namespace: "default", name });
  const update = (name: string, spec: Partial<batchV1.JobSpec>) => {
    const job = get(name) as batchV1.Job;
    cluster.api.update(batchV1.Job, { ...job, spec: { ...(job.spec as batchV1.JobSpec), ...spec } });
  };
  const pods = () => cluster.api.list(coreV1.Pod, "default");
  const events = () =>
    cluster.api.list(coreV1.Event, "default").filter(({ involvedObject }) => involvedObject.kind === "Job");
  return { ...cluster, kubelet, create, get, update, pods, events };
}

const conditions = (job: batchV1.Job | undefined) =>
  job?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe("a Job", () => {
  it("runs its pods, as many at a time as it may, and is Complete", async () => {
    const { clock, create, get, pods, events, failures } = world();
    create("j", { completions: 5, parallelism: 2 });
    await clock.settle();
    expect(pods()).toHaveLength(2);
    expect(get("j")?.status).toMatchObject({ active: 2, ready: 0, terminating: 0, startTime: "2020-01-01T00:00:00Z" });
    await clock.advance(60_000);
    expect(get("j")?.status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect(get("j")?.status?.active).toBeUndefined();
    expect(get("j")?.status?.completionTime).toBeDefined();
    expect(conditions(get("j"))).toEqual([
      "SuccessCriteriaMet=True CompletionsReached",
      "Complete=True CompletionsReached",
    ]);
    expect(pods().map(({ metadata }) => metadata.finalizers ?? [])).toEqual([[], [], [], [], []]);
    expect(events().map(({ reason }) => reason)).toContain("Completed");
    expect(failures).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("without a number of completions is over with the first success, when the others have ended", async () => {
    let count = 0;
    const { clock, create, get, pods } = world({ run: (run) => run.endIn(1000 * ++count) });
    create("j", { parallelism: 3 });
    await clock.advance(60_000);
    expect(pods()).toHaveLength(3);
    expect(get("j")?.status).toMatchObject({ succeeded: 3 });
    expect(conditions(get("j"))?.at(-1)).toBe("Complete=True CompletionsReached");
  });

  it("replaces pods that failed, later and later, up to its limit", async () => {
    const { clock, create, get, pods, api, events } = world({ run: (run) => run.endIn(0, { exitCode: 1 }) });
    const times: number[] = [];
    api.onChange(coreV1.Pod, ({ type }) => {
      if (type === "ADDED") times.push((clock.now() - Date.UTC(2020, 0, 1)) / 1000);
    });
    create("j", { backoffLimit: 3 });
    await clock.advance(300_000);
    expect(times).toEqual([0, 10, 30, 70]);
    expect(pods()).toHaveLength(4);
    expect(get("j")?.status).toMatchObject({ failed: 4 });
    expect(conditions(get("j"))).toEqual([
      "FailureTarget=True BackoffLimitExceeded",
      "Failed=True BackoffLimitExceeded",
    ]);
    expect(get("j")?.status?.conditions?.[1]?.message).toBe("Job has reached the specified backoff limit");
    expect(events().find(({ type }) => type === "Warning")).toMatchObject({
      reason: "BackoffLimitExceeded",
      message: "Job has reached the specified backoff limit",
    });
  });

  it("that fails ends the pods that still run, and counts them", async () => {
    let count = 0;
    const { clock, create, get, pods } = world({
      run: (run) => (count++ === 0 ? run.endIn(1000, { exitCode: 1 }) : run.endNever()),
    });
    create("j", { parallelism: 3, completions: 3, backoffLimit: 0 });
    await clock.advance(30_000);
    expect(get("j")?.status).toMatchObject({ failed: 3, terminating: 0, ready: 0 });
    expect(conditions(get("j"))?.at(-1)).toBe("Failed=True BackoffLimitExceeded");
    expect(pods()).toHaveLength(1);
  });

  it("gives up at its deadline", async () => {
    const { clock, create, get, pods } = world({ run: () => {} });
    create("j", { activeDeadlineSeconds: 30 });
    await clock.advance(29_999);
    expect(conditions(get("j"))).toBeUndefined();
    await clock.advance(2000);
    expect(conditions(get("j"))).toEqual(["FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"]);
    expect(get("j")?.status?.conditions?.[1]?.message).toBe("Job was active longer than specified deadline");
    expect(pods()).toEqual([]);
  });

  it("counts the restarts of pods that restart themselves", async () => {
    const { clock, create, get } = world({ run: (run) => run.endIn(0, { exitCode: 1 }) });
    create("j", { backoffLimit: 2 }, { restartPolicy: "OnFailure" });
    await clock.advance(60_000);
    expect(conditions(get("j"))?.at(-1)).toBe("Failed=True BackoffLimitExceeded");
  });

  it("can be suspended and resumed", async () => {
    const { clock, create, get, update, pods, events } = world({ run: (run) => run.endIn(60_000) });
    create("j", { suspend: true, parallelism: 2, completions: 2 });
    await clock.advance(5000);
    expect(pods()).toEqual([]);
    expect(conditions(get("j"))).toEqual(["Suspended=True JobSuspended"]);
    expect(get("j")?.status?.startTime).toBeUndefined();
    update("j", { suspend: false });
    await clock.advance(5000);
    expect(pods()).toHaveLength(2);
    expect(conditions(get("j"))).toEqual(["Suspended=False JobResumed"]);
    expect(get("j")?.status?.startTime).toBe("2020-01-01T00:00:05Z");
    update("j", { suspend: true });
    await clock.advance(5000);
    expect(pods()).toEqual([]);
    expect(get("j")?.status?.failed).toBeUndefined();
    update("j", { suspend: false });
    await clock.advance(120_000);
    expect(conditions(get("j"))?.at(-1)).toBe("Complete=True CompletionsReached");
    expect(events().map(({ reason }) => reason)).toEqual(expect.arrayContaining(["Suspended", "Resumed"]));
  });

  it("follows a change of its parallelism", async () => {
    const { clock, create, update, pods } = world({ run: () => {} });
    create("j", { parallelism: 1, completions: 10 });
    await clock.advance(2000);
    update("j", { parallelism: 4 });
    await clock.advance(2000);
    expect(pods()).toHaveLength(4);
    update("j", { parallelism: 2 });
    await clock.advance(2000);
    expect(pods()).toHaveLength(2);
  });

  it("goes when its time has passed", async () => {
    const { clock, create, get } = world();
    create("j", { ttlSecondsAfterFinished: 100 });
    await clock.advance(3000);
    expect(conditions(get("j"))?.at(-1)).toContain("Complete=True");
    await clock.advance(95_000);
    expect(get("j")).toBeDefined();
    await clock.advance(10_000);
    expect(get("j")?.metadata.deletionTimestamp).toBeDefined();
  });

  it("lets its pods go when it is gone", async () => {
    const { clock, create, api, pods } = world({ run: () => {} });
    create("j");
    await clock.settle();
    api.delete(batchV1.Job, { namespace: "default", name: "j" });
    await clock.settle();
    expect(pods()).toHaveLength(1);
    expect(pods()[0]?.metadata.finalizers).toBeUndefined();
  });

  it("of somebody else is left alone", async () => {
    const { clock, create, pods } = world();
    create("j", { managedBy: "example.org/other" });
    await clock.advance(10_000);
    expect(pods()).toEqual([]);
  });

  it("tells why it cannot make pods, and tries again", async () => {
    let isFull = true;
    const refuse: Admission = {
      admit: (_, resource) => {
        if (isFull && resource.plural === "pods") throw forbidden(resource, "p", "exceeded quota: q");
      },
    };
    const { clock, create, get, events, failures } = world({ admissions: [refuse] });
    create("j");
    await clock.advance(500);
    expect(get("j")?.status?.active).toBeUndefined();
    expect(events().map(({ reason, message }) => `${reason} ${message}`)).toEqual([
      'FailedCreate Error creating: pods "p" is forbidden: exceeded quota: q',
    ]);
    isFull = false;
    await clock.advance(10_000);
    expect(conditions(get("j"))?.at(-1)).toBe("Complete=True CompletionsReached");
    expect(failures).toEqual([]);
  });
});

describe("pods that are deleted", () => {
  it("are replaced at once, and counted as failed", async () => {
    const { clock, create, get, pods, api } = world({ run: () => {} });
    create("j", { completions: 1 });
    await clock.settle();
    const [first] = pods();
    api.delete(coreV1.Pod, { namespace: "default", name: first?.metadata.name ?? "" });
    await clock.advance(20_000);
    expect(pods()).toHaveLength(1);
    expect(pods()[0]?.metadata.uid).not.toBe(first?.metadata.uid);
    expect(get("j")?.status).toMatchObject({ failed: 1, active: 1 });
  });

  it("are replaced only when they have ended, if that is asked for", async () => {
    const { clock, create, pods, api } = world({ run: () => {} });
    const annotations = { "berth.dev/termination-delay": "20s" };
    create("j", {
      podReplacementPolicy: "Failed",
      template: {
        metadata: { annotations },
        spec: { containers: [{ name: "main", image: "x" }], restartPolicy: "Never" },
      },
    });
    await clock.settle();
    const [first] = pods();
    api.delete(coreV1.Pod, { namespace: "default", name: first?.metadata.name ?? "" });
    await clock.advance(1);
    expect(pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(0);
    await clock.advance(60_000);
    expect(pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(1);
  });

  it("before they had a node end with the garbage collector's help", async () => {
    const cluster = world({ isBound: false });
    const { clock, create, pods, api, get } = cluster;
    cluster.start(new PodGarbage(cluster.surroundings("garbage")));
    create("j", { podReplacementPolicy: "Failed" });
    await clock.settle();
    const name = pods()[0]?.metadata.name ?? "";
    api.delete(coreV1.Pod, { namespace: "default", name });
    await clock.advance(60_000);
    expect(get("j")?.status).toMatchObject({ failed: 1, active: 1 });
    expect(pods().map(({ metadata }) => metadata.name)).not.toContain(name);
  });
});

describe("an Indexed Job", () => {
  it("has one pod for each index, and says which have succeeded", async () => {
    const { clock, create, get, pods } = world({
      run: (run) =>
        run.endIn(1000 * (1 + Number(run.pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]))),
    });
    create("j", { completionMode: "Indexed", completions: 4, parallelism: 4 });
    await clock.advance(3500);
    expect(get("j")?.status).toMatchObject({ completedIndexes: "0-2", succeeded: 3 });
    await clock.advance(10_000);
    expect(get("j")?.status).toMatchObject({ completedIndexes: "0-3", succeeded: 4 });
    expect(pods().map(({ spec }) => spec?.hostname)).toEqual(["j-0", "j-1", "j-2", "j-3"]);
    expect(pods().every(({ metadata }) => /^j-\d-[a-z0-9]{5}$/.test(metadata.name ?? ""))).toBe(true);
  });

  it("tries an index again as often as its limit allows, and fails when one is lost", async () => {
    const { clock, create, get } = world({
      run: (run) => {
        const index = run.pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"];
        run.endIn(1000, { exitCode: index === "1" ? 1 : 0 });
      },
    });
    create("j", {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 3,
      backoffLimitPerIndex: 1,
      backoffLimit: 100,
    });
    await clock.advance(120_000);
    expect(get("j")?.status).toMatchObject({ completedIndexes: "0,2", failedIndexes: "1", failed: 2, succeeded: 2 });
    expect(conditions(get("j"))).toEqual(["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"]);
  });

  it("is over when its success policy is met", async () => {
    const { clock, create, get, pods } = world({
      run: (run) => {
        const index = run.pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"];
        if (index === "0") run.endIn(1000);
      },
    });
    create("j", {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededIndexes: "0" }] },
    });
    await clock.advance(10_000);
    expect(conditions(get("j"))).toEqual(["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"]);
    expect(get("j")?.status?.conditions?.[0]?.message).toBe("Matched rules at index 0");
    expect(pods()).toHaveLength(1);
  });
});

describe("a pod failure policy", () => {
  it("fails the Job at once, or looks away", async () => {
    const { clock, create, get } = world({ run: (run) => run.endIn(1000, { exitCode: 42 }) });
    const onExitCodes = { operator: "In", values: [42] } as const;
    const rules = [{ action: "FailJob" as const, onExitCodes: { ...onExitCodes, values: [42] } }];
    create("j", { podFailurePolicy: { rules } });
    await clock.advance(10_000);
    expect(conditions(get("j"))?.at(-1)).toBe("Failed=True PodFailurePolicy");
    expect(get("j")?.status?.conditions?.at(-1)?.message).toMatch(
      /^Container main for pod default\/j-\w+ failed with exit code 42 matching FailJob rule at index 0$/,
    );
    create("k", {
      backoffLimit: 0,
      podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { ...onExitCodes, values: [42] } }] },
    });
    await clock.advance(60_000);
    expect(conditions(get("k"))).toBeUndefined();
    expect(get("k")?.status?.failed).toBeUndefined();
  });
});

describe("whatever happens", () => {
  it("a Job ends with exactly its completions, and never has more pods at work than it may", async () => {
    const job = fc.record({
      completions: fc.integer({ min: 1, max: 12 }),
      parallelism: fc.integer({ min: 1, max: 5 }),
      isIndexed: fc.boolean(),
      failureRate: fc.constantFrom(0, 0.3, 0.6),
      deletions: fc.integer({ min: 0, max: 3 }),
      seed: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ completions, parallelism, isIndexed, failureRate, deletions, seed }) => {
        const random = new SeededRandom(seed);
        const { clock, create, get, pods, api, failures } = world({
          run: (run) => run.endIn(random.next() * 5000, { exitCode: random.next() < failureRate ? 1 : 0 }),
        });
        let most = 0;
        api.onChange(coreV1.Pod, () => {
          const isAtWork = ({ metadata, status }: coreV1.Pod) =>
            metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
          most = Math.max(most, pods().filter(isAtWork).length);
        });
        create("j", {
          completions,
          parallelism,
          backoffLimit: 1000,
          ...(isIndexed && { completionMode: "Indexed" }),
        });
        for (let turn = 0; turn < deletions; turn++) {
          await clock.advance(random.next() * 4000);
          const victim = pods().find(({ status }) => status?.phase === "Running");
          if (victim) api.delete(coreV1.Pod, { namespace: "default", name: victim.metadata.name ?? "" });
        }
        await clock.runUntilIdle();
        const { status } = get("j") ?? {};
        expect(status?.succeeded).toBe(completions);
        expect(conditions(get("j"))?.at(-1)).toBe("Complete=True CompletionsReached");
        expect(most).toBeLessThanOrEqual(parallelism);
        const ended = pods().filter((each) => each.status?.phase === "Succeeded").length;
        expect(ended).toBeGreaterThanOrEqual(isIndexed ? completions : 0);
        expect(pods().some(({ metadata }) => metadata.finalizers?.length)).toBe(false);
        if (isIndexed) {
          const indexes = pods()
            .filter((each) => each.status?.phase === "Succeeded")
            .map(({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-completion-index"]);
          expect(new Set(indexes).size).toBe(completions);
        }
        expect(failures).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
