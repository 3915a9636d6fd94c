/**
 * What only a kubelet that really runs containers shows: a pod's status through its life, exit codes, restarts, grace, and
 * what it does not take. The target's `runningNode` is such a node, with the image `berth.dev/busybox`.
 */
import { coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import type { Target } from "./target.ts";
import { eventually, timeless } from "./workload-world.ts";

const { Pod } = coreV1;
const IMAGE = "berth.dev/busybox";

const shell = (script: string, more: Partial<coreV1.Container> = {}): coreV1.Container => ({
  ...{ name: "main", image: IMAGE, imagePullPolicy: "IfNotPresent", command: ["sh", "-c", script] },
  ...more,
});

class KubeletWorld {
  readonly target: Target;
  readonly namespace: string;
  readonly node: string;

  private constructor(target: Target, namespace: string, node: string) {
    this.target = target;
    this.namespace = namespace;
    this.node = node;
  }

  static async in(target: Target, test: (world: KubeletWorld) => Promise<void>): Promise<void> {
    const node = await target.runningNode?.();
    if (node === undefined) throw new Error("this target has no node that runs containers");
    const world = new KubeletWorld(target, await target.namespace(), node);
    try {
      await test(world);
    } finally {
      await target.client.deleteAllOf(Pod, { namespace: world.namespace, gracePeriodSeconds: 0 });
    }
  }

  async run(name: string, spec: Partial<coreV1.PodSpec>, metadata: object = {}): Promise<coreV1.Pod> {
    return this.target.client.create(Pod, {
      metadata: { name, namespace: this.namespace, ...metadata },
      spec: {
        nodeName: this.node,
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        containers: [shell("sleep 1")],
        ...spec,
      },
    });
  }

  until(name: string, holds: (pod: coreV1.Pod) => boolean): Promise<coreV1.Pod> {
    return eventually(`pod ${name}`, async () => {
      const pod = await this.target.client.find(Pod, { namespace: this.namespace, name });
      return pod && holds(pod) ? pod : undefined;
    });
  }

  phase(name: string, phase: string): Promise<coreV1.Pod> {
    return this.until(name, ({ status }) => status?.phase === phase);
  }

  async gone(name: string): Promise<void> {
    await eventually(`the end of ${name}`, async () => {
      return (await this.target.client.find(Pod, { namespace: this.namespace, name })) ? undefined : true;
    });
  }

  delete(name: string): Promise<unknown> {
    return this.target.client.delete(Pod, { namespace: this.namespace, name });
  }

  async told(name: string): Promise<string[]> {
    const { items } = await this.target.client.list(coreV1.Event, { namespace: this.namespace });
    const about = items.filter(({ involvedObject }) => involvedObject.name === name);
    // The real node has no DNS server to tell its pods of, which it says again and again.
    return about
      .filter(({ reason }) => reason !== "MissingClusterDNS")
      .map(({ type, reason, message, involvedObject: { fieldPath } }) => `${type} ${reason} ${fieldPath}: ${message}`);
  }
}

/** A status without what differs from node to node: addresses, times, and how images and containers are called. */
function comparable(status: coreV1.PodStatus | undefined): object {
  const { hostIP: _a, hostIPs: _b, podIP: _c, podIPs: _d, resources: _e, ...rest } = timeless(status) ?? {};
  const container = (each: coreV1.ContainerStatus) => {
    const { image: _f, imageID: _g, containerID, state, lastState, ...more } = each;
    const known = ({ terminated, ...others }: coreV1.ContainerState = {}) => {
      const { containerID: _h, ...end } = terminated ?? {};
      return { ...others, ...(terminated && { terminated: end }) };
    };
    return { ...more, hasRun: containerID !== undefined, state: known(state), lastState: known(lastState) };
  };
  return {
    ...rest,
    ...(rest.containerStatuses && { containerStatuses: rest.containerStatuses.map(container) }),
    ...(rest.initContainerStatuses && { initContainerStatuses: rest.initContainerStatuses.map(container) }),
  };
}

const condition = (type: string, status: string, reason?: string, message?: string, observedGeneration = 1) => ({
  ...{ type, status, observedGeneration, lastProbeTime: null, lastTransitionTime: "TIME" },
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
});
const containerStatus = (name: string, more: object) => ({
  ...{ name, ready: false, started: false, restartCount: 0, lastState: {}, hasRun: true, resources: {} },
  ...more,
});
const ended = (exitCode: number) => ({
  terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt: "TIME", finishedAt: "TIME" },
});
const running = { running: { startedAt: "TIME" } };

export const kubelet = suite("a kubelet", (it, target) => {
  const inWorld = (name: string, test: (world: KubeletWorld) => Promise<void>) =>
    it(name, () => KubeletWorld.in(target(), test));

  inWorld("runs a pod, and tells of it from start to end", async (world) => {
    await world.run("p", { containers: [shell("sleep 3")] });
    const alive = await world.phase("p", "Running");
    expect(comparable(alive.status)).toEqual({
      phase: "Running",
      observedGeneration: 1,
      qosClass: "BestEffort",
      startTime: "TIME",
      conditions: [
        condition("PodReadyToStartContainers", "True"),
        condition("Initialized", "True"),
        condition("Ready", "True"),
        condition("ContainersReady", "True"),
        condition("PodScheduled", "True"),
      ],
      containerStatuses: [containerStatus("main", { ready: true, started: true, state: running })],
    });
    expect(alive.status?.podIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(alive.status?.podIPs).toEqual([{ ip: alive.status?.podIP }]);
    expect(alive.status?.hostIPs).toEqual([{ ip: alive.status?.hostIP }]);
    const over = await world.phase("p", "Succeeded");
    expect(comparable(over.status)).toEqual({
      phase: "Succeeded",
      observedGeneration: 1,
      qosClass: "BestEffort",
      startTime: "TIME",
      conditions: [
        condition("PodReadyToStartContainers", "False"),
        condition("Initialized", "True", "PodCompleted"),
        condition("Ready", "False", "PodCompleted"),
        condition("ContainersReady", "False", "PodCompleted"),
        condition("PodScheduled", "True"),
      ],
      containerStatuses: [containerStatus("main", { state: ended(0) })],
    });
    expect(over.status?.podIP).toBe(alive.status?.podIP);
    expect(await world.told("p")).toEqual([
      `Normal Pulled spec.containers{main}: Container image "${IMAGE}" already present on machine and can be accessed by the pod`,
      "Normal Created spec.containers{main}: Container created",
      "Normal Started spec.containers{main}: Container started",
    ]);
  });

  inWorld("tells which container failed, and how", async (world) => {
    const requests = { cpu: "10m", memory: "16Mi" };
    await world.run("p", {
      containers: [shell("sleep 1; exit 3", { resources: { requests } }), shell("sleep 1", { name: "other" })],
    });
    const { status } = await world.phase("p", "Failed");
    expect(comparable(status)).toEqual({
      phase: "Failed",
      observedGeneration: 1,
      qosClass: "Burstable",
      startTime: "TIME",
      allocatedResources: requests,
      conditions: [
        condition("PodReadyToStartContainers", "False"),
        condition("Initialized", "True"),
        condition("Ready", "False", "PodFailed"),
        condition("ContainersReady", "False", "PodFailed"),
        condition("PodScheduled", "True"),
      ],
      containerStatuses: [
        containerStatus("main", { state: ended(3), resources: { requests }, allocatedResources: requests }),
        containerStatus("other", { state: ended(0) }),
      ],
    });
  });

  inWorld("runs init containers one by one, and those that go on beside the others", async (world) => {
    await world.run("p", {
      terminationGracePeriodSeconds: 1,
      initContainers: [
        shell("sleep 1", { name: "first" }),
        shell("sleep 1000", { name: "side", restartPolicy: "Always" }),
        shell("sleep 1", { name: "second" }),
      ],
      containers: [shell("sleep 2")],
    });
    const before = await world.until("p", ({ status }) => Boolean(status?.initContainerStatuses?.[0]?.state?.running));
    expect(before.status?.phase).toBe("Pending");
    expect(before.status?.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "PodInitializing" } });
    expect(before.status?.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [first side second]",
    });
    expect(before.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      message: "containers with unready status: [side main]",
    });
    const alive = await world.until("p", ({ status }) => Boolean(status?.containerStatuses?.[0]?.state?.running));
    expect(comparable(alive.status)).toMatchObject({
      phase: "Running",
      initContainerStatuses: [
        containerStatus("first", { ready: true, state: ended(0) }),
        containerStatus("side", { ready: true, started: true, state: running }),
        containerStatus("second", { ready: true, state: ended(0) }),
      ],
    });
    const { status } = await world.phase("p", "Succeeded");
    expect(status?.initContainerStatuses?.[1]?.state?.terminated).toBeDefined();
    expect(status?.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({ reason: "PodCompleted" });
  });

  inWorld("gives up a pod whose init container fails", async (world) => {
    await world.run("p", {
      initContainers: [shell("exit 4", { name: "first" }), shell("true", { name: "second" })],
    });
    const { status } = await world.phase("p", "Failed");
    expect(comparable(status)).toMatchObject({
      conditions: [
        condition("PodReadyToStartContainers", "False"),
        condition(
          "Initialized",
          "False",
          "ContainersNotInitialized",
          "containers with incomplete status: [first second]",
        ),
        condition("Ready", "False", "PodFailed"),
        condition("ContainersReady", "False", "PodFailed"),
        condition("PodScheduled", "True"),
      ],
      initContainerStatuses: [
        { state: ended(4) },
        { state: { waiting: { reason: "PodInitializing" } }, hasRun: false },
      ],
      containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } }, hasRun: false }],
    });
  });

  inWorld("starts again what fails: at once, and then after a while", async (world) => {
    const { metadata } = await world.run("p", {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 1,
      containers: [shell("exit 1")],
    });
    const waiting = await world.until("p", ({ status }) => {
      const { state } = status?.containerStatuses?.[0] ?? {};
      return state?.waiting?.reason === "CrashLoopBackOff";
    });
    const pod = `p_${world.namespace}(${metadata.uid})`;
    const message = `back-off 10s restarting failed container=main pod=${pod}`;
    expect(comparable(waiting.status)).toMatchObject({
      phase: "Running",
      conditions: expect.arrayContaining([
        condition("Ready", "False", "ContainersNotReady", "containers with unready status: [main]"),
      ]),
      containerStatuses: [
        containerStatus("main", {
          restartCount: 1,
          state: { waiting: { reason: "CrashLoopBackOff", message } },
          lastState: ended(1),
        }),
      ],
    });
    expect(await world.told("p")).toContain(
      `Warning BackOff spec.containers{main}: Back-off restarting failed container main in pod ${pod}`,
    );
    const again = await world.until("p", ({ status }) => status?.containerStatuses?.[0]?.restartCount === 2);
    expect(again.status?.phase).toBe("Running");
  });

  inWorld("starts again on failure, and not after success", async (world) => {
    await world.run("p", { restartPolicy: "OnFailure", containers: [shell("true"), shell("exit 1", { name: "bad" })] });
    const { status } = await world.until("p", (pod) => {
      const find = (name: string) => pod.status?.containerStatuses?.find((each) => each.name === name);
      return (find("bad")?.restartCount ?? 0) > 0 && find("main")?.state?.terminated !== undefined;
    });
    expect(status?.phase).toBe("Running");
    // In the order of their names, whatever that of the spec is.
    expect(status?.containerStatuses?.map(({ name }) => name)).toEqual(["bad", "main"]);
    expect(status?.containerStatuses?.[1]).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 0 } } });
  });

  inWorld("ends a pod at its deadline", async (world) => {
    await world.run("p", {
      activeDeadlineSeconds: 5,
      terminationGracePeriodSeconds: 1,
      containers: [shell("sleep 1000")],
    });
    const { status } = await world.phase("p", "Failed");
    expect(status).toMatchObject({
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "PodFailed",
    });
    expect(await world.told("p")).toContain(
      "Normal DeadlineExceeded undefined: Pod was active on the node longer than the specified deadline",
    );
  });

  inWorld("ends a pod that is deleted, and waits for those who hold it", async (world) => {
    const finalizers = ["conformance.berth.dev/held"];
    await world.run(
      "p",
      { restartPolicy: "Always", terminationGracePeriodSeconds: 1, containers: [shell("sleep 1000")] },
      { finalizers },
    );
    await world.phase("p", "Running");
    await world.delete("p");
    const held = await world.until("p", ({ metadata }) => metadata.deletionGracePeriodSeconds === 0);
    expect(held.metadata.generation).toBe(2);
    expect(comparable(held.status)).toMatchObject({
      phase: "Failed",
      observedGeneration: 2,
      conditions: [
        condition("PodReadyToStartContainers", "False", undefined, undefined, 2),
        condition("Initialized", "True", undefined, undefined, 2),
        condition("Ready", "False", "PodFailed", undefined, 2),
        condition("ContainersReady", "False", "PodFailed", undefined, 2),
        condition("PodScheduled", "True", undefined, undefined, 2),
      ],
    });
    expect(held.status?.containerStatuses?.[0]?.state?.terminated?.reason).toBe("Error");
    expect(await world.told("p")).toContain("Normal Killing spec.containers{main}: Stopping container main");
    const key = { namespace: world.namespace, name: "p" };
    await world.target.client.patch(Pod, key, { merge: { metadata: { finalizers: null } } });
    await world.gone("p");
  });

  inWorld("does not take what does not fit, or does not belong there", async (world) => {
    const asking = shell("true", { resources: { requests: { cpu: "900" } } });
    await world.run("big", { containers: [asking] });
    await world.run("stray", { nodeSelector: { "conformance.berth.dev/nowhere": "at-all" } });
    const big = await world.phase("big", "Failed");
    const message = big.status?.message?.replace(/used: \d+, capacity: \d+$/, "used: N, capacity: N");
    expect({ ...timeless(big.status), message }).toEqual({
      phase: "Failed",
      observedGeneration: 1,
      qosClass: "Burstable",
      startTime: "TIME",
      reason: "OutOfcpu",
      message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 900000, used: N, capacity: N",
    });
    const stray = await world.phase("stray", "Failed");
    expect(stray.status).toMatchObject({
      reason: "NodeAffinity",
      message: "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    });
    expect(await world.told("stray")).toEqual([
      "Warning NodeAffinity undefined: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ]);
  });

  inWorld("waits for probes and gates before it calls a pod ready", async (world) => {
    const readinessProbe = { exec: { command: ["true"] }, initialDelaySeconds: 3, periodSeconds: 1 };
    await world.run("p", {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 1,
      readinessGates: [{ conditionType: "conformance.berth.dev/gate" }],
      containers: [shell("sleep 1000", { readinessProbe })],
    });
    const early = await world.phase("p", "Running");
    expect(early.status?.containerStatuses?.[0]).toMatchObject({ ready: false, started: true });
    const late = await world.until("p", ({ status }) => status?.containerStatuses?.[0]?.ready === true);
    expect(late.status?.conditions?.find(({ type }) => type === "ContainersReady")?.status).toBe("True");
    expect(late.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: 'corresponding condition of pod readiness gate "conformance.berth.dev/gate" does not exist.',
    });
    const gate = { type: "conformance.berth.dev/gate", status: "True" };
    const conditions = [...(late.status?.conditions ?? []), gate];
    const key = { namespace: world.namespace, name: "p" };
    await world.target.client.subresource("status").patch(Pod, key, { merge: { status: { conditions } } });
    await world.until(
      "p",
      ({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true,
    );
  });

  inWorld("keeps what containers say", async (world) => {
    await world.run("p", { containers: [shell("echo one; sleep 1; echo two; exit 1")] });
    await world.phase("p", "Failed");
    const logs = (...args: string[]) => world.target.kubectl(["-n", world.namespace, "logs", "p", ...args]);
    expect((await logs()).stdout).toBe("one\ntwo\n");
    expect((await logs("--tail=1")).stdout).toBe("two\n");
    await world.run("many", { containers: [shell("sleep 100"), shell("sleep 100", { name: "other" })] });
    await world.phase("many", "Running");
    const refusal = async (pod: string, query: string) => {
      const path = `/api/v1/namespaces/${world.namespace}/pods/${pod}/log?${query}`;
      const { status, text } = await world.target.http("GET", path);
      return [status, JSON.parse(text).message];
    };
    expect(await refusal("p", "container=absent")).toEqual([400, "container absent is not valid for pod p"]);
    const choice = "a container name must be specified for pod many, choose one of: [main other]";
    expect(await refusal("many", "")).toEqual([400, choice]);
    const previous = 'previous terminated container "main" in pod "many" not found';
    expect(await refusal("many", "container=main&previous=true")).toEqual([400, previous]);
    expect(await refusal("none", "")).toEqual([404, 'pods "none" not found']);
  });
});
