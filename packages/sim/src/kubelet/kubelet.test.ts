import { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { type AnyObject, equal } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import { pod, type TestCluster, testCluster } from "../controllers/testing/cluster.ts";
import { decode } from "../schema/decode.ts";
import { Kubelet, type KubeletOptions } from "./kubelet.ts";
import type { Run } from "./runtime.ts";

const START = Date.UTC(2020, 0, 1);

function world(options: KubeletOptions = {}) {
  const cluster = testCluster();
  const kubelet = cluster.start(new Kubelet(cluster.surroundings("kubelet"), options));
  kubelet.addNode({ name: "n1" });
  // The server takes a kubelet's word for it that a status is as the server itself would have it.
  const resource = cluster.server.resources.find(coreV1.Pod) as Resource;
  cluster.api.onChange(coreV1.Pod, ({ object }) => {
    const understood = decode(object as unknown as AnyObject, resource, []);
    if (!equal(understood, object)) expect.soft(object).toEqual(understood);
  });
  const get = (name: string) => cluster.api.get(coreV1.Pod, { namespace: "default", name });
  const create = (name: string, spec: Partial<coreV1.PodSpec> = {}, more: object = {}) =>
    cluster.api.create(coreV1.Pod, pod(name, { nodeName: "n1", ...spec }, more));
  const remove = (name: string, options: object = {}) =>
    cluster.api.delete(coreV1.Pod, { namespace: "default", name }, options);
  return { ...cluster, kubelet, get, create, remove };
}

const shell = (script: string, more: Partial<coreV1.Container> = {}): coreV1.Container => ({
  name: "main",
  image: "busybox",
  command: ["sh", "-c", script],
  ...more,
});
const conditions = (found: coreV1.Pod | undefined) =>
  Object.fromEntries(found?.status?.conditions?.map(({ type, status, reason }) => [type, reason ?? status]) ?? []);
const states = (found: coreV1.Pod | undefined) =>
  [...(found?.status?.initContainerStatuses ?? []), ...(found?.status?.containerStatuses ?? [])].map(
    ({ name, state }) => `${name} ${Object.keys(state ?? {})[0]}`,
  );
const eventsOf = ({ api }: TestCluster, name: string) =>
  api
    .list(coreV1.Event)
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, count }) => `${reason} ${count}`);

describe("a pod's life", () => {
  it("goes from bound to Running to Succeeded, with the status that a kubelet writes", async () => {
    const { clock, create, get, failures } = world();
    create("a", { containers: [shell("sleep 5")] });
    await clock.settle();
    const running = get("a");
    expect(running?.status).toMatchObject({
      phase: "Running",
      observedGeneration: 1,
      qosClass: "BestEffort",
      startTime: "2020-01-01T00:00:00Z",
      hostIP: "172.16.0.1",
      hostIPs: [{ ip: "172.16.0.1" }],
      podIP: "10.128.0.2",
      podIPs: [{ ip: "10.128.0.2" }],
    });
    expect(conditions(running)).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
    expect(running?.status?.containerStatuses?.[0]).toMatchObject({
      name: "main",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: "2020-01-01T00:00:00Z" } },
      lastState: {},
    });

    await clock.advance(5000);
    const ended = get("a");
    expect(ended?.status).toMatchObject({ phase: "Succeeded", podIP: "10.128.0.2" });
    expect(conditions(ended)).toEqual({
      PodReadyToStartContainers: "False",
      Initialized: "PodCompleted",
      Ready: "PodCompleted",
      ContainersReady: "PodCompleted",
      PodScheduled: "True",
    });
    expect(ended?.status?.conditions?.find(({ type }) => type === "Initialized")?.lastTransitionTime).toBe(
      "2020-01-01T00:00:00Z",
    );
    expect(ended?.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 0,
      reason: "Completed",
      startedAt: "2020-01-01T00:00:00Z",
      finishedAt: "2020-01-01T00:00:05Z",
    });
    expect(clock.pending).toBe(0);
    expect(failures).toEqual([]);
  });

  it("K2 costs two writes if it takes no time to start", async () => {
    const { clock, create, remove, history } = world();
    await clock.settle();
    const written = history();
    create("a", { containers: [shell("sleep 5")] });
    await clock.advance(5000);
    const lived = written.filter((line) => line.includes("pods/"));
    expect(lived).toEqual(["ADDED pods/default/a", "MODIFIED pods/default/a", "MODIFIED pods/default/a"]);
    remove("a");
    await clock.settle();
    const ended = written.filter((line) => line.includes("pods/")).slice(lived.length);
    // The notice that it is to go, and its end, as the real server writes them.
    expect(ended).toEqual(["MODIFIED pods/default/a", "DELETED pods/default/a"]);
  });

  it("fails with its container", async () => {
    const { clock, create, get } = world();
    create("a", { containers: [shell("sleep 1; exit 3"), shell("sleep 2", { name: "other" })] });
    await clock.advance(1000);
    expect(get("a")?.status?.phase).toBe("Running");
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "ContainersNotReady",
      message: "containers with unready status: [main]",
    });
    await clock.advance(1000);
    expect(get("a")?.status?.phase).toBe("Failed");
    expect(get("a")?.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
    expect(conditions(get("a"))).toMatchObject({ Ready: "PodFailed", Initialized: "True" });
  });

  it("waits for as long as it takes to start", async () => {
    const { clock, create, get } = world({ startMs: 2000, startVariation: 0 });
    create("a");
    await clock.settle();
    expect(get("a")?.status).toMatchObject({
      phase: "Pending",
      containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } }, started: false }],
    });
    expect(get("a")?.status?.podIP).toBeUndefined();
    expect(conditions(get("a"))).toMatchObject({ PodReadyToStartContainers: "False", Ready: "ContainersNotReady" });
    await clock.advance(2000);
    expect(get("a")?.status?.phase).toBe("Running");
  });

  it("K1 obeys its annotations", async () => {
    const { clock, create, get } = world({ startMs: 2000 });
    const annotations = {
      "berth.dev/start-delay": "1s",
      "berth.dev/run-time": "3s",
      "berth.dev/exit-code": "7",
    };
    create("a", {}, { annotations });
    await clock.advance(1000);
    expect(get("a")?.status?.phase).toBe("Running");
    await clock.advance(2999);
    expect(get("a")?.status?.phase).toBe("Running");
    await clock.advance(1);
    expect(get("a")?.status).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 7 } } }],
    });
    create("b", {}, { annotations: { "berth.dev/run-time": "long" } });
    await clock.settle();
    expect(get("b")?.status).toMatchObject({ phase: "Failed", reason: "InvalidAnnotation" });
  });

  it("runs for ever if it is to be restarted always, and for a second if nothing is known", async () => {
    const { clock, create, get } = world();
    create("always", { restartPolicy: "Always" });
    create("never");
    await clock.advance(1000);
    expect(get("never")?.status?.phase).toBe("Succeeded");
    await clock.advance(1e9);
    expect(get("always")?.status?.phase).toBe("Running");
  });

  it("ends at its deadline", async () => {
    const { clock, create, get } = world();
    create("a", { activeDeadlineSeconds: 10, containers: [shell("sleep 100")] });
    await clock.advance(9999);
    expect(get("a")?.status?.phase).toBe("Running");
    await clock.advance(1);
    expect(get("a")?.status).toMatchObject({
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    expect(clock.pending).toBe(0);
  });
});

describe("init containers", () => {
  it("run one by one before the others", async () => {
    const { clock, create, get } = world();
    create("a", {
      initContainers: [shell("sleep 1", { name: "i1" }), shell("sleep 2", { name: "i2" })],
      containers: [shell("sleep 3")],
    });
    await clock.settle();
    expect(states(get("a"))).toEqual(["i1 running", "i2 waiting", "main waiting"]);
    expect(get("a")?.status?.phase).toBe("Pending");
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [i1 i2]",
    });
    expect(get("a")?.status?.containerStatuses?.[0]?.state?.waiting).toEqual({ reason: "PodInitializing" });
    await clock.advance(1000);
    expect(states(get("a"))).toEqual(["i1 terminated", "i2 running", "main waiting"]);
    await clock.advance(2000);
    expect(states(get("a"))).toEqual(["i1 terminated", "i2 terminated", "main running"]);
    expect(get("a")?.status).toMatchObject({
      phase: "Running",
      initContainerStatuses: [{ ready: true }, { ready: true }],
    });
    await clock.advance(3000);
    expect(get("a")?.status?.phase).toBe("Succeeded");
  });

  it("fail the pod if they may not be tried again", async () => {
    const { clock, create, get } = world();
    create("a", {
      initContainers: [shell("exit 4", { name: "i1" }), shell("true", { name: "i2" })],
      containers: [shell("true")],
    });
    await clock.advance(0);
    expect(get("a")?.status?.phase).toBe("Failed");
    expect(states(get("a"))).toEqual(["i1 terminated", "i2 waiting", "main waiting"]);
    expect(conditions(get("a"))).toMatchObject({ Initialized: "ContainersNotInitialized", Ready: "PodFailed" });
  });

  it("are tried again if they may be", async () => {
    const { clock, create, get } = world();
    create("a", {
      restartPolicy: "OnFailure",
      initContainers: [shell("exit 4", { name: "i1" })],
      containers: [shell("true")],
    });
    await clock.advance(0);
    expect(get("a")?.status).toMatchObject({
      phase: "Pending",
      initContainerStatuses: [{ restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } }],
    });
  });

  it("that go on run beside the others, and do not keep the pod from ending", async () => {
    const { clock, create, get } = world();
    create("a", {
      initContainers: [shell("sleep infinity", { name: "side", restartPolicy: "Always" })],
      containers: [shell("sleep 2")],
    });
    await clock.settle();
    expect(states(get("a"))).toEqual(["side running", "main running"]);
    await clock.advance(2000);
    expect(get("a")?.status?.phase).toBe("Succeeded");
    expect(get("a")?.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(143);
  });
});

describe("restarts", () => {
  it("come at once the first time, and later and later after that", async () => {
    const { clock, create, get, ...rest } = world();
    create("a", { restartPolicy: "Always", containers: [shell("sleep 1; exit 1")] });
    const seen: [number, number][] = [];
    rest.api.onChange(coreV1.Pod, ({ object }) => {
      const [main] = object.status?.containerStatuses ?? [];
      if (main?.state?.running && main.restartCount !== seen.at(-1)?.[0]) {
        seen.push([main.restartCount, (clock.now() - START) / 1000]);
      }
    });
    await clock.advance(1_000_000);
    expect(seen.slice(0, 8)).toEqual([
      [0, 0],
      [1, 1],
      [2, 12],
      [3, 33],
      [4, 74],
      [5, 155],
      [6, 316],
      [7, 617],
    ]);
    const [main] = get("a")?.status?.containerStatuses ?? [];
    expect(main?.state?.waiting?.reason).toBe("CrashLoopBackOff");
    expect(main?.state?.waiting?.message).toBe(
      `back-off 5m0s restarting failed container=main pod=a_default(${get("a")?.metadata.uid})`,
    );
    expect(main?.lastState?.terminated).toMatchObject({ exitCode: 1, reason: "Error" });
    expect(get("a")?.status?.phase).toBe("Running");
    expect(eventsOf({ ...rest, clock } as TestCluster, "a")).toContain("Started 9");
  });

  it("on failure end with the first success", async () => {
    const { clock, create, get } = world({
      runtime: { started: (run: Run) => run.endIn(1000, { exitCode: run.restarts < 2 ? 1 : 0 }) },
    });
    create("a", { restartPolicy: "OnFailure" });
    await clock.advance(60_000);
    expect(get("a")?.status).toMatchObject({ phase: "Succeeded", containerStatuses: [{ restartCount: 2 }] });
  });

  it("are forgiven after ten good minutes", async () => {
    const { clock, create, get } = world({ runtime: { started: (run: Run) => run.endIn(700_000, { exitCode: 1 }) } });
    create("a", { restartPolicy: "Always" });
    await clock.advance(2_100_000);
    expect(get("a")?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 3, ready: true });
  });
});

describe("readiness", () => {
  it("comes when the first probe would", async () => {
    const { clock, create, get } = world();
    const probe = (initialDelaySeconds: number) => ({ exec: { command: ["true"] }, initialDelaySeconds });
    create("a", {
      restartPolicy: "Always",
      containers: [{ name: "main", image: "x", startupProbe: probe(2), readinessProbe: probe(5) }],
    });
    const main = () => get("a")?.status?.containerStatuses?.[0];
    await clock.settle();
    expect(main()).toMatchObject({ started: false, ready: false });
    await clock.advance(2000);
    expect(main()).toMatchObject({ started: true, ready: false });
    await clock.advance(3000);
    expect(main()).toMatchObject({ started: true, ready: true });
    expect(conditions(get("a"))).toMatchObject({ Ready: "True" });
  });

  it("waits for gates that others open", async () => {
    const { clock, create, get, api } = world();
    create("a", { restartPolicy: "Always", readinessGates: [{ conditionType: "example.org/g" }] });
    await clock.settle();
    expect(get("a")?.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: 'corresponding condition of pod readiness gate "example.org/g" does not exist.',
    });
    const found = get("a") as coreV1.Pod;
    const gate = { type: "example.org/g", status: "True" };
    api.updateStatus(coreV1.Pod, {
      ...found,
      status: { ...found.status, conditions: [...(found.status?.conditions ?? []), gate] },
    });
    await clock.settle();
    expect(conditions(get("a"))).toMatchObject({ Ready: "True", "example.org/g": "True" });
  });
});

describe("deletion", () => {
  it("of a pod that runs ends it, and takes it away when it has ended", async () => {
    const { clock, create, get, remove } = world();
    const annotations = { "berth.dev/termination-delay": "5s" };
    create("a", { restartPolicy: "Always" }, { annotations });
    await clock.settle();
    remove("a");
    await clock.advance(4999);
    expect(get("a")?.status).toMatchObject({ phase: "Running", observedGeneration: 2 });
    await clock.advance(1);
    expect(get("a")).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("kills who does not end in time", async () => {
    const { clock, create, get, remove, api } = world();
    const annotations = { "berth.dev/termination-delay": "1h" };
    create("a", { restartPolicy: "Always" }, { annotations });
    await clock.settle();
    const codes: (number | undefined)[] = [];
    api.onChange(coreV1.Pod, ({ object }) => {
      const { terminated } = object.status?.containerStatuses?.[0]?.state ?? {};
      if (terminated && object.status?.phase === "Failed") codes.push(terminated.exitCode);
    });
    remove("a", { gracePeriodSeconds: 10 });
    await clock.advance(5000);
    remove("a", { gracePeriodSeconds: 2 });
    await clock.advance(2000);
    expect(get("a")).toBeUndefined();
    expect(codes[0]).toBe(137);
  });

  it("waits for finalizers", async () => {
    const { clock, create, get, remove, api } = world();
    create("a", { restartPolicy: "Always" }, { finalizers: ["example.org/f"] });
    await clock.settle();
    remove("a");
    await clock.settle();
    expect(get("a")?.status?.phase).toBe("Failed");
    expect(get("a")?.metadata.deletionGracePeriodSeconds).toBe(0);
    const found = get("a") as coreV1.Pod;
    api.update(coreV1.Pod, { ...found, metadata: { ...found.metadata, finalizers: [] } });
    expect(get("a")).toBeUndefined();
  });

  it("without grace leaves nothing to run", async () => {
    const ended: string[] = [];
    const { clock, create, get, remove } = world({
      runtime: { started: () => {}, ended: ({ pod }) => void ended.push(pod.metadata.name ?? "") },
    });
    create("a");
    await clock.settle();
    remove("a", { gracePeriodSeconds: 0 });
    expect(get("a")).toBeUndefined();
    await clock.settle();
    expect(ended).toEqual(["a"]);
  });

  it("of a pod that has not begun makes it fail first", async () => {
    const { clock, create, get, remove, api } = world({ startMs: 60_000 });
    create("a");
    await clock.settle();
    const phases: (string | undefined)[] = [];
    api.onChange(coreV1.Pod, ({ object }) => phases.push(object.status?.phase));
    remove("a");
    await clock.settle();
    expect(get("a")).toBeUndefined();
    expect(phases).toContain("Failed");
    expect(clock.pending).toBe(0);
  });
});

describe("admission", () => {
  const asking = (cpu: string) => [{ name: "main", image: "x", resources: { requests: { cpu } } }];

  it("rejects what does not fit, and takes it when there is room again", async () => {
    const { clock, create, get, remove } = world();
    create("big", { containers: asking("7") });
    create("more", { containers: asking("2") });
    await clock.settle();
    expect(get("more")?.status).toMatchObject({
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 7000, capacity: 8000",
    });
    expect(get("more")?.status?.conditions).toBeUndefined();
    await clock.advance(1000);
    create("again", { containers: asking("8") });
    await clock.settle();
    expect(get("again")?.status?.phase).toBe("Running");
    remove("again", { gracePeriodSeconds: 0 });
    create("next", { containers: asking("8") });
    await clock.settle();
    expect(get("next")?.status?.phase).toBe("Running");
  });

  it("counts pods that end on their way out until they have", async () => {
    const { clock, create, get, remove } = world();
    const annotations = { "berth.dev/termination-delay": "5s", "berth.dev/run-time": "1h" };
    create("a", { containers: asking("8") }, { annotations });
    await clock.settle();
    remove("a");
    create("b", { containers: asking("8") });
    await clock.settle();
    expect(get("b")?.status?.reason).toBe("OutOfcpu");
  });
});

describe("the work model", () => {
  it("may change its mind while a container runs", async () => {
    const runs: Run[] = [];
    const { clock, create, get } = world({ runtime: { started: (run) => void runs.push(run) } });
    create("a");
    await clock.advance(1000);
    const [run] = runs;
    run?.endIn(10_000);
    expect(run?.endsAt).toBe(START + 11_000);
    await clock.advance(5000);
    run?.endIn(10_000, { exitCode: 137, reason: "OOMKilled" });
    await clock.advance(9999);
    expect(get("a")?.status?.phase).toBe("Running");
    run?.endNever();
    await clock.advance(1e6);
    expect(get("a")?.status?.phase).toBe("Running");
    run?.endIn(0, { exitCode: 137, reason: "OOMKilled" });
    await clock.advance(0);
    expect(get("a")?.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 137,
      reason: "OOMKilled",
    });
    run?.endIn(5);
    expect(clock.pending).toBe(0);
  });
});

describe("nodes", () => {
  it("that somebody makes by hand get a status, and their pods", async () => {
    const { clock, api, create, get } = world();
    api.create(coreV1.Node, { metadata: { name: "mine" } });
    await clock.settle();
    const node = api.get(coreV1.Node, { name: "mine" });
    expect(node?.status).toMatchObject({ allocatable: { cpu: "8", memory: "32Gi", pods: "110" } });
    expect(node?.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "True" });
    create("a", { nodeName: "mine", restartPolicy: "Always" });
    await clock.settle();
    expect(get("a")?.status?.phase).toBe("Running");
  });

  it("K4 of others are left alone", async () => {
    const { clock, api, create, get } = world();
    api.create(coreV1.Node, { metadata: { name: "theirs", annotations: { "sim.berth.dev/kubelet": "false" } } });
    create("a", { nodeName: "theirs" });
    await clock.advance(10_000);
    expect(get("a")?.status?.phase).toBe("Pending");
    expect(api.get(coreV1.Node, { name: "theirs" })?.status?.conditions ?? []).toEqual([]);
  });

  it("take up pods that were there before them", async () => {
    const { clock, create, get, kubelet } = world();
    create("early", { nodeName: "late", restartPolicy: "Always" });
    await clock.settle();
    expect(get("early")?.status?.phase).toBe("Pending");
    kubelet.addNode({ name: "late" });
    await clock.settle();
    expect(get("early")?.status?.phase).toBe("Running");
  });

  it("K3 that crash lose their containers, and tell of it when they are back", async () => {
    const { clock, create, get, kubelet } = world();
    create("job", { containers: [shell("sleep 100")] });
    create("web", { restartPolicy: "Always" });
    await clock.advance(10_000);
    kubelet.failNode("n1");
    await clock.advance(300_000);
    expect([get("job"), get("web")].map((found) => found?.status?.phase)).toEqual(["Running", "Running"]);
    kubelet.recoverNode("n1");
    await clock.settle();
    expect(get("job")?.status).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 255, reason: "Unknown" } } }],
    });
    expect(get("web")?.status).toMatchObject({
      phase: "Running",
      containerStatuses: [{ restartCount: 1, ready: true }],
    });
  });

  it("K3 that were only out of reach have gone on", async () => {
    const { clock, create, get, remove, kubelet } = world();
    create("job", { containers: [shell("sleep 100")] });
    create("web", { restartPolicy: "Always" });
    await clock.advance(10_000);
    kubelet.failNode("n1", { containers: "kept" });
    remove("web");
    await clock.advance(300_000);
    expect(get("job")?.status?.phase).toBe("Running");
    expect(get("web")?.metadata.deletionTimestamp).toBeDefined();
    kubelet.recoverNode("n1");
    await clock.settle();
    expect(get("job")?.status).toMatchObject({
      phase: "Succeeded",
      containerStatuses: [{ state: { terminated: { finishedAt: "2020-01-01T00:01:40Z" } } }],
    });
    expect(get("web")).toBeUndefined();
  });

  it("take pods that came while they were silent when they are back", async () => {
    const { clock, create, get, kubelet } = world();
    kubelet.failNode("n1");
    create("a");
    await clock.advance(10_000);
    expect(get("a")?.status?.phase).toBe("Pending");
    kubelet.recoverNode("n1");
    await clock.settle();
    expect(get("a")?.status?.phase).toBe("Running");
  });

  it("K5 write heartbeats only if they are asked to", async () => {
    const { clock, history } = world({ heartbeatMs: 10_000 });
    const written = history();
    await clock.advance(300_000);
    expect(written.filter((line) => line.endsWith("leases/kube-node-lease/n1"))).toHaveLength(31);
    expect(written.filter((line) => line === "MODIFIED nodes/n1").length).toBeGreaterThan(0);
    const silent = world();
    const nothing = silent.history();
    await silent.clock.settle();
    nothing.length = 0;
    await silent.clock.advance(86_400_000);
    expect(nothing).toEqual([]);
  });
});

describe("logs", () => {
  const read = async (lines: AsyncIterable<Uint8Array>) => {
    const parts: Uint8Array[] = [];
    for await (const part of lines) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const request = (name: string, parameters: Record<string, string | boolean | number> = {}) =>
    ({ verb: "get", kind: coreV1.Pod, namespace: "default", name, subresource: "log", parameters }) as const;

  it("are what was said, so far", async () => {
    const { clock, create, kubelet } = world();
    create("a", { containers: [shell("echo one; sleep 5; echo two; sleep 5; echo three")] });
    await clock.advance(5000);
    expect(await read(kubelet.logs(request("a")))).toBe("one\ntwo\n");
    await clock.advance(5000);
    expect(await read(kubelet.logs(request("a")))).toBe("one\ntwo\nthree\n");
    expect(await read(kubelet.logs(request("a", { tailLines: 1 })))).toBe("three\n");
    expect(await read(kubelet.logs(request("a", { sinceSeconds: 6 })))).toBe("two\nthree\n");
    expect(await read(kubelet.logs(request("a", { limitBytes: 5 })))).toBe("one\nt");
    expect(await read(kubelet.logs(request("a", { timestamps: true, tailLines: 1 })))).toBe(
      "2020-01-01T00:00:10.000Z three\n",
    );
  });

  it("of a container that was stopped end where it did", async () => {
    const { clock, create, remove, kubelet } = world();
    create("a", { containers: [shell("echo one; sleep 50; echo two")] }, { finalizers: ["example.org/f"] });
    await clock.settle();
    remove("a");
    await clock.advance(100_000);
    expect(await read(kubelet.logs(request("a")))).toBe("one\n");
  });

  it("can be followed to their end", async () => {
    const { clock, create, kubelet } = world();
    create("a", { containers: [shell("echo one; sleep 5; echo two; sleep 5")] });
    await clock.settle();
    const all = read(kubelet.logs(request("a", { follow: true })));
    await clock.advance(20_000);
    expect(await all).toBe("one\ntwo\n");
  });

  it("of the run before are kept", async () => {
    const { clock, create, kubelet } = world();
    create("a", { restartPolicy: "Always", containers: [shell("echo hello; exit 1")] });
    await clock.advance(0);
    expect(await read(kubelet.logs(request("a", { previous: true })))).toBe("hello\n");
  });

  it("are refused as the API server refuses them", async () => {
    const { clock, create, kubelet } = world({ startMs: 1000, startVariation: 0 });
    create("a", { containers: [shell("true"), shell("true", { name: "b" })] });
    await clock.settle();
    const refusal = (parameters = {}, name = "a") => read(kubelet.logs(request(name, parameters)));
    await expect(refusal()).rejects.toThrow("a container name must be specified for pod a, choose one of: [main b]");
    await expect(refusal({ container: "c" })).rejects.toThrow("container c is not valid for pod a");
    await expect(refusal({ container: "b" })).rejects.toThrow(
      'container "b" in pod "a" is waiting to start: ContainerCreating',
    );
    await expect(refusal({ container: "b", previous: true })).rejects.toThrow(
      'previous terminated container "b" in pod "a" not found',
    );
    await expect(refusal({}, "none")).rejects.toThrow('pods "none" not found');
  });
});

describe("chance", () => {
  it("is the same each time", async () => {
    const play = async () => {
      const { clock, create, history } = world({ startMs: 5000, startVariation: 0.5 });
      const written = history();
      for (let index = 0; index < 20; index++) create(`p${index}`, { containers: [shell("sleep 3")] });
      await clock.runUntilIdle();
      return [written, clock.now()];
    };
    expect(await play()).toEqual(await play());
  });
});
