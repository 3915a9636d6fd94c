/** One real cluster, KWOK nodes and real ones, and everything that is promised of it. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inParallel } from "./api.ts";
import { stopwatch } from "./clock.ts";
import type { Cluster } from "./cluster.ts";
import { noRealNodes } from "./real-node/real-node.ts";
import { startCluster } from "./start.ts";
import { createPod, deletePod, eventually, getPod, podIn, podObject, remains, uniqueName } from "./testing/support.ts";

const reason = noRealNodes();
// Long: sockets must not be below it, whose paths have to be short.
const name = uniqueName("main-with-a-long-name");
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ name, nodes: 20, realNodes: reason ? 0 : 2, audit: true });
});

afterAll(async () => {
  await cluster?.stop();
  expect(remains(name)).toEqual([]);
});

const onKwok = { "berth.dev/node-kind": "kwok" };

/** A Job of one pod on a KWOK node. @param further - Of its spec. */
async function createJob(name: string, annotations: Record<string, string>, further: object = {}): Promise<void> {
  const spec = { restartPolicy: "Never", nodeSelector: onKwok, containers: [{ name: "main", image: "any" }] };
  await cluster.api.create("/apis/batch/v1/namespaces/default/jobs", {
    metadata: { name },
    spec: { backoffLimit: 0, template: { metadata: { annotations }, spec }, ...further },
  });
}

/** Takes the finalizer off a deleted pod, which then goes. */
async function letGo(pod: string): Promise<void> {
  await cluster.api.mergePatch(`/api/v1/namespaces/default/pods/${pod}`, { metadata: { finalizers: null } });
  await eventually(`${pod} is gone`, async () => ((await getPod(cluster, pod)) ? undefined : true));
}

const nodeNames = async () => (await cluster.api.list("/api/v1/nodes")).map((node) => node.metadata.name);
const podNode = async (pod: string) => (await getPod(cluster, pod)).spec.nodeName as string;

describe("the control plane", () => {
  it("has a kubeconfig with which kubectl works, and a log for each component", async () => {
    expect(await cluster.kubectl("get", "--raw", "/readyz")).toBe("ok");
    expect(JSON.parse(await cluster.kubectl("version", "-ojson")).serverVersion.gitVersion).toMatch(/^v1\.\d+\.\d+$/);
    const control = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];
    expect(Object.keys(cluster.logs)).toEqual(expect.arrayContaining(control));
    expect(readFileSync(cluster.logOf("kube-apiserver"), "utf8")).not.toBe("");
    expect(cluster.addresses["kube-apiserver"]).toBe(cluster.server);
    expect(Object.keys(cluster.addresses)).toEqual(Object.keys(cluster.logs));
    expect(cluster.components.every(({ alive, residentBytes }) => alive && residentBytes > 0)).toBe(true);
  });

  it("counts requests in the audit log, each once", async () => {
    const creates = () =>
      cluster.readAudit().filter(({ verb, objectRef }) => verb === "create" && objectRef?.resource === "configmaps")
        .length;
    const before = creates();
    await inParallel(["a", "b", "c"], 3, async (suffix) => {
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `audited-${suffix}` } };
      await cluster.api.create("/api/v1/namespaces/default/configmaps", object);
    });
    expect(creates() - before).toBe(3);
  });

  it("names the components it has when asked for one it has not", async () => {
    await expect(cluster.kill("kube-proxy")).rejects.toMatchObject({
      code: "BERTH_CLUSTER_COMPONENT_UNKNOWN",
      message: expect.stringContaining("kube-scheduler"),
    });
    await expect(cluster.restart("../etcd")).rejects.toMatchObject({ code: "BERTH_CLUSTER_COMPONENT_UNKNOWN" });
  });
});

describe("KWOK nodes", () => {
  it("run pods, and a bare pod ends as a Job's pod does", async () => {
    await createPod(cluster, { name: "bare", node: "node-3", annotations: { "berth.dev/run-time": "300ms" } });
    const pod = await podIn(cluster, "bare", "Succeeded");
    expect(pod.status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(pod.status.podIP).toBeTruthy();

    await createJob("whole", {});
    await cluster.kubectl("wait", "--for=condition=Complete", "job/whole", "--timeout=60s");
  });

  it("run a pod without annotations until it is deleted", async () => {
    await createPod(cluster, { name: "endless", node: "node-3" });
    await podIn(cluster, "endless", "Running");
    await deletePod(cluster, "endless");
    await eventually("it is gone", async () => ((await getPod(cluster, "endless")) ? undefined : true));
  });

  it("fail a pod with the exit code it asks for, also in a Job", async () => {
    await createPod(cluster, {
      name: "failing",
      node: "node-3",
      annotations: { "berth.dev/run-time": "0s", "berth.dev/exit-code": "3" },
    });
    const pod = await podIn(cluster, "failing", "Failed");
    expect(pod.status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 3, reason: "Error" });

    await createJob("failing", { "berth.dev/exit-code": "1" });
    await cluster.kubectl("wait", "--for=condition=Failed", "job/failing", "--timeout=60s");
  });

  it.each([
    ["run-time", "soon"],
    ["run-time", "9999999h"],
    ["start-delay", "1e3s"],
    ["termination-delay", "-1s"],
    ["exit-code", "bad"],
  ])("say what is wrong with a pod whose %s is %j", async (annotation, value) => {
    const pod = `wrong-${annotation}-${value.length}`;
    await createPod(cluster, { name: pod, node: "node-3", annotations: { [`berth.dev/${annotation}`]: value } });
    const { status } = await podIn(cluster, pod, "Failed");
    expect(status).toMatchObject({
      reason: "InvalidAnnotation",
      message: expect.stringContaining(`berth.dev/${annotation}: "${value}"`),
    });
  });

  it("keep to the run time although the pod is changed and kwok restarted meanwhile", async () => {
    const elapsed = stopwatch();
    await createPod(cluster, { name: "steady", node: "node-4", annotations: { "berth.dev/run-time": "4s" } });
    const started = await podIn(cluster, "steady", "Running");
    await cluster.restart("kwok");
    await cluster.kubectl("label", "pod", "steady", "touched=yes");
    const ended = await podIn(cluster, "steady", "Succeeded");
    expect(elapsed()).toBeGreaterThan(4000);
    const promised = Date.parse(started.metadata.annotations["berth.dev/ends-at"]);
    const finished = Date.parse(ended.status.containerStatuses[0].state.terminated.finishedAt);
    expect(ended.metadata.annotations["berth.dev/ends-at"]).toBe(started.metadata.annotations["berth.dev/ends-at"]);
    expect(finished).toBeGreaterThanOrEqual(Math.floor(promised / 1000) * 1000);
  });

  it("delay the start and the end as the pod asks, the end no longer than its grace period", async () => {
    const elapsed = stopwatch();
    await createPod(cluster, {
      name: "slow",
      node: "node-5",
      annotations: { "berth.dev/start-delay": "1500ms", "berth.dev/termination-delay": "1500ms" },
    });
    await createPod(cluster, {
      name: "stubborn",
      node: "node-5",
      annotations: { "berth.dev/termination-delay": "10m" },
    });
    await podIn(cluster, "slow", "Running");
    expect(elapsed()).toBeGreaterThan(1500);

    const ending = stopwatch();
    await deletePod(cluster, "slow");
    await deletePod(cluster, "stubborn");
    await eventually("slow is gone", async () => ((await getPod(cluster, "slow")) ? undefined : true));
    expect(ending()).toBeGreaterThan(1500);
    await eventually("stubborn is gone", async () => ((await getPod(cluster, "stubborn")) ? undefined : true));
  });

  it.each([
    ["ends when it is told to", {}, 143],
    ["has to be killed", { "berth.dev/termination-delay": "10m" }, 137],
    ["ends by itself meanwhile", { "berth.dev/run-time": "2s", "berth.dev/termination-delay": "10m" }, 0],
  ])("report a deleted pod that %s before they let it go", async (_title, annotations, exitCode) => {
    const pod = `reported-${exitCode}`;
    await createPod(cluster, { name: pod, node: "node-6", annotations, finalizers: ["example.org/kept"] });
    await podIn(cluster, pod, "Running");
    await deletePod(cluster, pod);
    const { status } = await podIn(cluster, pod, exitCode === 0 ? "Succeeded" : "Failed");
    const reason = exitCode === 0 ? "Completed" : "Error";
    expect(status.containerStatuses[0].state).toMatchObject({ terminated: { exitCode, reason } });
    await letGo(pod);
  });

  it("report a pod that was deleted before it started as one that nobody has seen", async () => {
    const annotations = { "berth.dev/start-delay": "10m" };
    await createPod(cluster, { name: "unborn", node: "node-6", annotations, finalizers: ["example.org/kept"] });
    await deletePod(cluster, "unborn");
    const { status } = await podIn(cluster, "unborn", "Failed");
    expect(status.containerStatuses[0].state.terminated).toMatchObject({
      exitCode: 137,
      reason: "ContainerStatusUnknown",
    });
    await letGo("unborn");
  });

  it("report of a deleted pod that sidecars have ended with it, and what came before them as it was", async () => {
    const pod = podObject({ name: "accompanied", node: "node-6", finalizers: ["example.org/kept"] });
    const initContainers = [
      { name: "before", image: "any" },
      { name: "beside", image: "any", restartPolicy: "Always" },
    ];
    Object.assign((pod as { spec: object }).spec, { initContainers });
    await cluster.api.create("/api/v1/namespaces/default/pods", pod);
    await podIn(cluster, "accompanied", "Running");
    await deletePod(cluster, "accompanied");
    const { status } = await podIn(cluster, "accompanied", "Failed");
    const codes = [...status.initContainerStatuses, ...status.containerStatuses].map(({ name, state }) => [
      name,
      state.terminated?.exitCode,
    ]);
    expect(codes).toEqual([
      ["before", 0],
      ["beside", 143],
      ["main", 143],
    ]);
    await letGo("accompanied");
  });

  it("let a Job replace a deleted pod that it counts only when it has failed", async () => {
    await createJob("replacing", { "berth.dev/run-time": "10m" }, { backoffLimit: 3, podReplacementPolicy: "Failed" });
    const ofJob = "/api/v1/namespaces/default/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3Dreplacing";
    const running = () =>
      eventually("it runs", async () => {
        const [pod, ...others] = await cluster.api.list(ofJob);
        return others.length === 0 && pod?.status.phase === "Running" && !pod.metadata.deletionTimestamp
          ? pod
          : undefined;
      });
    const { metadata: first } = await running();

    await cluster.kill("kube-controller-manager");
    await deletePod(cluster, first.name);
    const uncounted = await podIn(cluster, first.name, "Failed");
    expect(uncounted.metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
    await cluster.restart("kube-controller-manager");

    const second = await eventually("another one", async () => {
      const pod = await running();
      return pod.metadata.uid === first.uid ? undefined : pod;
    });
    expect(await getPod(cluster, first.name)).toBeUndefined();
    expect((await cluster.api.get("/apis/batch/v1/namespaces/default/jobs/replacing")).status.failed).toBe(1);
    await cluster.kubectl("delete", "job", "replacing");
    await eventually("it is gone", async () => ((await getPod(cluster, second.metadata.name)) ? undefined : true));
  });

  it("come in several shapes, which the scheduler respects", async () => {
    const added = await cluster.addNodes([
      { name: "big", count: 2, allocatable: { cpu: "64", "example.org/gpu": "4" }, labels: { zone: "a" } },
      { count: 1, labels: { zone: "b" }, taints: [{ key: "reserved", effect: "NoSchedule" }] },
    ]);
    expect(added).toEqual(["big-0", "big-1", "node-20"]);
    await createPod(cluster, { name: "wants-big", cpu: "40" });
    await podIn(cluster, "wants-big", "Running");
    expect(["big-0", "big-1"]).toContain(await podNode("wants-big"));
    const big = await cluster.api.get("/api/v1/nodes/big-1");
    expect(big.status.allocatable).toMatchObject({ cpu: "64", memory: "32Gi", pods: "110", "example.org/gpu": "4" });
  });

  it("are removed after their pods were evicted, which then run elsewhere", async () => {
    const labels = { app: "web" };
    const spec = { nodeSelector: onKwok, containers: [{ name: "main", image: "any" }] };
    await cluster.api.create("/apis/apps/v1/namespaces/default/deployments", {
      metadata: { name: "web" },
      spec: { replicas: 40, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    await cluster.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s");
    const pods = async () => cluster.api.list("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb");
    const victim = (await pods())
      .map((pod) => pod.spec.nodeName as string)
      .find((node) => node.startsWith("node-")) as string;
    const there = (await pods()).filter((pod) => pod.spec.nodeName === victim).map((pod) => pod.metadata.name);
    expect(there.length).toBeGreaterThan(0);

    await cluster.removeNode(victim);
    expect(await nodeNames()).not.toContain(victim);
    for (const pod of there) expect(await getPod(cluster, pod)).toBeUndefined();
    await eventually("40 pods run on the other nodes", async () => {
      const running = (await pods()).filter((pod) => pod.status.phase === "Running" && pod.spec.nodeName !== victim);
      return running.length === 40 || undefined;
    });
    await cluster.kubectl("delete", "deployment", "web");
    await expect(cluster.removeNode(victim)).rejects.toMatchObject({ code: "BERTH_CLUSTER_NODE_UNKNOWN" });
  });
});

describe("a second kube-scheduler", () => {
  it("asks its extender, and only for its own pods", async () => {
    const asked: string[] = [];
    let chosen: string | undefined;
    const extender = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { Pod: pod, NodeNames: nodes } = JSON.parse(Buffer.concat(chunks).toString());
        asked.push(pod.metadata.name);
        // One of those offered: which of them the tests before have removed is chance.
        chosen = nodes.filter((node: string) => node.startsWith("node-")).sort()[0];
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ NodeNames: [chosen], FailedNodes: {} }));
      });
    });
    await new Promise<void>((resolve) => extender.listen(0, "127.0.0.1", resolve));
    const { port } = extender.address() as AddressInfo;
    try {
      await cluster.startScheduler("second", {
        extenders: [{ urlPrefix: `http://127.0.0.1:${port}`, filterVerb: "filter", nodeCacheCapable: true }],
      });
      await createPod(cluster, { name: "extended", schedulerName: "second" });
      await createPod(cluster, { name: "ordinary" });
      await podIn(cluster, "extended", "Running");
      await eventually("ordinary is bound", () => podNode("ordinary"));
      expect(await podNode("extended")).toBe(chosen);
      expect(asked).toEqual(["extended"]);
      await expect(cluster.startScheduler("second")).rejects.toMatchObject({ code: "BERTH_CLUSTER_NAME_IN_USE" });
    } finally {
      extender.close();
      extender.closeAllConnections();
    }
  });

  it("that dies while starting is reported with the end of its log", async () => {
    await expect(cluster.startScheduler("broken", { profilez: [] })).rejects.toMatchObject({
      code: "BERTH_CLUSTER_COMPONENT_DIED",
      message: expect.stringMatching(/kube-scheduler-broken died.*\n.*unknown field .*profilez/s),
    });
  });
});

describe.skipIf(reason)(`real nodes${reason ? `, skipped: ${reason}` : ""}`, () => {
  const logOf = (pod: string) => cluster.kubectl("logs", pod);

  it("stand beside KWOK nodes in one cluster", async () => {
    const nodes = await cluster.api.list("/api/v1/nodes");
    const kinds = Map.groupBy(nodes, (node) => node.metadata.labels?.["berth.dev/node-kind"]);
    expect(kinds.get("real")?.map((node) => node.metadata.name)).toEqual(["real-0", "real-1"]);
    expect(kinds.get("kwok")?.length).toBeGreaterThanOrEqual(20);
  });

  it("run containers whose logs and shells can be reached, and which see their pod's name", async () => {
    await createPod(cluster, { name: "speaker", node: "real-0", script: "echo I am $(hostname); sleep 1000" });
    await podIn(cluster, "speaker", "Running");
    await eventually("it has spoken", async () => ((await logOf("speaker")) === "I am speaker\n" ? true : undefined));
    expect(await cluster.kubectl("exec", "speaker", "--", "echo", "from", "inside")).toBe("from inside\n");
  });

  it("give pods addresses at which other nodes' pods, and this machine, reach them", async () => {
    const serve = "mkdir /www; echo hello from $(hostname) > /www/index.html; httpd -f -p 8080 -h /www";
    await createPod(cluster, { name: "server", node: "real-0", script: serve });
    const server = await podIn(cluster, "server", "Running");
    const url = `http://${server.status.podIP}:8080/`;
    await eventually(
      "this machine reaches the pod",
      async () => (await fetch(url).catch(() => undefined))?.ok || undefined,
    );

    await createPod(cluster, { name: "caller", node: "real-1", script: `wget -q -O - ${url}` });
    await podIn(cluster, "caller", "Succeeded");
    expect(await logOf("caller")).toBe("hello from server\n");
    expect((await getPod(cluster, "caller")).status.podIP).not.toBe(server.status.podIP);
  });

  it("run an image made from a folder, and one made from a static program", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-test-"));
    try {
      mkdirSync(join(folder, "bin"));
      copyFileSync("/bin/busybox", join(folder, "bin", "sh"));
      writeFileSync(join(folder, "greeting"), "out of a folder\n");
      await cluster.loadImage({ name: "example.org/greeter:1", folder, entrypoint: ["/bin/sh"] });
      copyFileSync("/bin/busybox", join(folder, "bin", "echo"));
      await cluster.loadImage({ name: "echoer", binary: join(folder, "bin", "echo") });
    } finally {
      rmSync(folder, { recursive: true });
    }
    await createPod(cluster, {
      name: "greeter",
      node: "real-1",
      image: "example.org/greeter:1",
      script: "while read l; do echo $l; done < /greeting",
    });
    await podIn(cluster, "greeter", "Succeeded");
    expect(await logOf("greeter")).toBe("out of a folder\n");

    const pod = podObject({ name: "echoer", node: "real-0", image: "echoer" }) as { spec: { containers: object[] } };
    Object.assign(pod.spec.containers[0] as object, { args: ["out of", "a program"] });
    await cluster.api.create("/api/v1/namespaces/default/pods", pod);
    await podIn(cluster, "echoer", "Succeeded");
    expect(await logOf("echoer")).toBe("out of a program\n");
  });

  it("keep their containers while kubelet and containerd are restarted", async () => {
    await createPod(cluster, { name: "survivor", node: "real-0", script: "echo began; sleep 1000" });
    await podIn(cluster, "survivor", "Running");
    await cluster.restart("kubelet-real-0");
    await cluster.restart("containerd-real-0");
    await eventually("its log is readable again", async () =>
      (await logOf("survivor").catch(() => "")) === "began\n" ? true : undefined,
    );
    expect((await getPod(cluster, "survivor")).status.containerStatuses[0].restartCount).toBe(0);
  });

  it("are removed with everything they had on this machine, pods included, and others added", async () => {
    const processes = () => remains(name).filter((remnant) => remnant.startsWith("process")).length;
    const [extra = ""] = await cluster.addRealNodes({ count: 1 });
    const before = processes();
    await cluster.removeNode(extra);
    const ofOneNode = before - processes(); // its kubelet, its containerd and what holds its namespaces
    expect(ofOneNode).toBeGreaterThanOrEqual(3);

    await createPod(cluster, { name: "doomed", node: "real-1", script: "sleep 1000" });
    await podIn(cluster, "doomed", "Running");
    await cluster.removeNode("real-1", { drain: false });
    expect(processes()).toBe(before - 2 * ofOneNode);
    expect(await nodeNames()).not.toContain("real-1");
    expect(Object.keys(cluster.logs).filter((component) => component.endsWith("real-1"))).toEqual([]);
    expect(remains(name).filter((remnant) => /n2@|real-1/.test(remnant))).toEqual([]);

    const [added] = await cluster.addRealNodes({ count: 1, labels: { zone: "late" } });
    expect(added).toBe("real-1");
    await createPod(cluster, { name: "late", nodeSelector: { zone: "late" }, script: "echo late" });
    await podIn(cluster, "late", "Succeeded");
  });
});

describe("faults", () => {
  it("kube-scheduler killed in the middle of 200 pods: all of them are bound in the end", async () => {
    const names = Array.from({ length: 200 }, (_, index) => `burst-${index}`);
    const bound = async () => {
      const pods = await cluster.api.list("/api/v1/namespaces/default/pods?labelSelector=burst%3Dyes");
      return pods.filter((pod) => pod.spec.nodeName).length;
    };
    let killed: Promise<void> | undefined;
    await inParallel(names, 8, async (name) => {
      await createPod(cluster, { name, labels: { burst: "yes" }, nodeSelector: onKwok });
      if (name === "burst-100") killed = cluster.kill("kube-scheduler");
    });
    await killed;
    const before = await bound();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(200);
    expect(cluster.components.find(({ name }) => name === "kube-scheduler")?.alive).toBe(false);

    await cluster.restart("kube-scheduler");
    await eventually("200 pods are bound", async () => ((await bound()) === 200 ? true : undefined));
    const everyBurst = "/api/v1/namespaces/default/pods?labelSelector=burst%3Dyes&gracePeriodSeconds=0";
    await cluster.api.delete(everyBurst);
  });

  it("etcd killed and restarted: nothing is lost", async () => {
    const configMaps = "/api/v1/namespaces/default/configmaps";
    const written: string[] = [];
    const write = async (index: number) => {
      const object = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `kept-${index}` },
        data: { index: `${index}` },
      };
      const { metadata } = await cluster.api.create(configMaps, object);
      written.push(metadata.name); // only what the API server has acknowledged
    };
    for (let index = 0; index < 50; index++) await write(index);
    // Those that are under way when etcd dies may be answered with an error, or hang until it is back.
    const underWay = Array.from({ length: 20 }, (_, index) => write(50 + index).catch(() => {}));
    await cluster.kill("etcd");
    await cluster.restart("etcd");
    await Promise.all(underWay);
    await eventually("the API server answers again", () =>
      cluster.kubectl("get", "--raw", "/readyz").catch(() => undefined),
    );

    const present = (await cluster.api.list(configMaps)).map((object) => object.metadata.name);
    expect(present).toEqual(expect.arrayContaining(written));
    expect(written.length).toBeGreaterThanOrEqual(50);
    await createPod(cluster, {
      name: "afterwards",
      annotations: { "berth.dev/run-time": "0s" },
      nodeSelector: onKwok,
    });
    await podIn(cluster, "afterwards", "Succeeded");
  });

  it("the API server killed and restarted: clients find it at the same address", async () => {
    await cluster.kill("kube-apiserver");
    await expect(cluster.api.get("/api/v1/nodes")).rejects.toThrow();
    await cluster.restart("kube-apiserver");
    expect((await nodeNames()).length).toBeGreaterThan(20);
  });
});
