/** What the scheduler does with pods that name it: where they go, what it says if they go nowhere, and when it tries again. */
import { coreV1, integer, type KubernetesObject, pick, SeededRandom, sleep, WallClock } from "@berth/kube";
import { expect } from "vitest";
import { predict } from "./scheduling-prediction.ts";
import { CLAIMS, SchedulingWorld } from "./scheduling-world.ts";
import { suite } from "./suite.ts";

const pinTo = (...names: string[]): coreV1.Affinity => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: names }] }],
    },
  },
});

/** The second pause after a pod could not be placed is 2 s; a third one in so little time is not to be expected. */
const BACKOFFS_ARE_OVER_MS = 4000;

export const scheduling = suite("scheduling", (it, target) => {
  const inWorld = (name: string, test: (world: SchedulingWorld) => Promise<void>) =>
    it(name, () => SchedulingWorld.in(target(), test));

  inWorld("binds a pod, notes it on the pod and tells of it", async (world) => {
    const node = await world.node("n");
    const { metadata } = await world.pod("a", { requests: { cpu: "1" } });
    expect(await world.placeOf("a")).toBe(node);
    const { status } = await world.get("a");
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "PodScheduled", status: "True", lastTransitionTime: expect.any(String) }),
    );
    const [event] = await world.events("a", "Scheduled");
    expect(event).toMatchObject({
      type: "Normal",
      action: "Binding",
      note: `Successfully assigned ${world.namespace}/a to ${node}`,
      reportingController: "default-scheduler",
      reportingInstance: expect.stringMatching(/^default-scheduler-/),
      regarding: { apiVersion: "v1", kind: "Pod", namespace: world.namespace, name: "a", uid: metadata.uid },
    });
    expect(event?.metadata.name).toMatch(/^a\.[0-9a-f]+$/);
  });

  inWorld("says what each node lacks, the reasons in alphabetical order", async (world) => {
    await world.node("small", { allocatable: { cpu: "1", memory: "16Gi" } });
    await world.node("full", { allocatable: { cpu: "4", memory: "1Gi" } });
    await world.node("tainted", { taints: [{ key: "keep", value: "out", effect: "NoSchedule" }] });
    await world.node("none", { allocatable: { pods: "0" } });
    await world.pod("big", { requests: { cpu: "2", memory: "2Gi" } });
    const message = await world.message(
      {
        "Insufficient cpu": 1,
        "Insufficient memory": 1,
        "Too many pods": 1,
        "node(s) had untolerated taint(s)": 1,
      },
      await world.noPreemption({ "No preemption victims found for incoming pod": 1 }),
    );
    const condition = await world.unscheduled("big");
    expect(condition).toMatchObject({ reason: "Unschedulable", message });
    const [event] = await world.events("big", "FailedScheduling");
    expect(event).toMatchObject({
      type: "Warning",
      action: "Scheduling",
      note: message,
      reportingController: "default-scheduler",
    });
  });

  inWorld("counts a node for each of its reasons", async (world) => {
    await world.node("tiny", { allocatable: { cpu: "1", memory: "1Gi", pods: "0" } });
    await world.pod("big", {
      requests: { cpu: "2", memory: "2Gi", "ephemeral-storage": "1Gi", "example.org/gpu": "1" },
    });
    const condition = await world.unscheduled("big");
    for (const name of ["cpu", "ephemeral-storage", "example.org/gpu", "memory"])
      expect(condition.message).toContain(`1 Insufficient ${name}`);
    expect(condition.message).toContain("1 Too many pods");
    expect(condition.message).toContain(`. ${CLAIMS}, preemption: ${await world.noPreemption()}`);
  });

  inWorld("says of an unknown node that no other was looked at", async (world) => {
    await world.node("n");
    await world.pod("lost", { spec: { affinity: pinTo("no-such-node") } });
    const all = await world.count();
    expect((await world.unscheduled("lost")).message).toBe(
      `0/${all} nodes are available: ${all} node(s) didn't satisfy plugin(s) [NodeAffinity]. ` +
        `${CLAIMS}, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`,
    );
  });

  inWorld("says of a pinned pod what its own node lacks", async (world) => {
    const node = await world.node("n", { allocatable: { cpu: "1" } });
    await world.node("other");
    await world.pod("big", { requests: { cpu: "2" }, spec: { affinity: pinTo(node) } });
    const all = await world.count();
    const rest = all - 1;
    expect((await world.unscheduled("big")).message).toBe(
      `0/${all} nodes are available: 1 Insufficient cpu, ${rest} node(s) didn't satisfy plugin(s) [NodeAffinity]. ` +
        `${CLAIMS}, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`,
    );
  });

  inWorld("says that a pod must have two names at once", async (world) => {
    const node = await world.node("n");
    const field = (name: string) => ({ key: "metadata.name", operator: "In" as const, values: [name] });
    await world.pod("torn", {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [field(node), field("other")] }],
            },
          },
        },
      },
    });
    const all = await world.count();
    expect((await world.unscheduled("torn")).message).toBe(
      `0/${all} nodes are available: pod affinity terms conflict. not found`,
    );
  });

  inWorld("goes to the pinned node, whatever else would be better", async (world) => {
    const node = await world.node("small", { allocatable: { cpu: "1" } });
    await world.node("large");
    await world.pod("a", { requests: { cpu: "1" }, spec: { affinity: pinTo(node) } });
    expect(await world.placeOf("a")).toBe(node);
  });

  inWorld("keeps to labels, their absence and their size", async (world) => {
    await world.node("a", { labels: { gen: "1" } });
    const b = await world.node("b", { labels: { gen: "3", disk: "ssd" } });
    const c = await world.node("c", { labels: { disk: "hdd" } });
    const wants = (...matchExpressions: coreV1.NodeSelectorRequirement[]): coreV1.Affinity => ({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
    });
    await world.pod("newer", { spec: { affinity: wants({ key: "gen", operator: "Gt", values: ["2"] }) } });
    await world.pod("none", { spec: { affinity: wants({ key: "gen", operator: "DoesNotExist" }) } });
    await world.pod("both", { spec: { nodeSelector: { disk: "ssd" } } });
    await world.pod("not-in", {
      spec: {
        affinity: wants({ key: "gen", operator: "NotIn", values: ["1", "3"] }, { key: "disk", operator: "Exists" }),
      },
    });
    expect(await world.placeOf("newer")).toBe(b);
    expect(await world.placeOf("none")).toBe(c);
    expect(await world.placeOf("both")).toBe(b);
    expect(await world.placeOf("not-in")).toBe(c);
  });

  inWorld("keeps to taints and cordons", async (world) => {
    const tainted = await world.node("tainted", { taints: [{ key: "gpu", value: "a", effect: "NoSchedule" }] });
    const cordoned = await world.node("cordoned");
    const { client } = target();
    await client.patch(coreV1.Node, { name: cordoned }, { merge: { spec: { unschedulable: true } } });
    // The controller manager adds a taint to a cordoned node, so that there are two reasons; only the first is told.
    await world.pod("plain");
    const message = await world.message(
      {
        "node(s) had untolerated taint(s)": 1,
        "node(s) were unschedulable": 1,
      },
      await world.noPreemption(),
    );
    expect((await world.unscheduled("plain")).message).toBe(message);
    await world.pod("tolerant", { spec: { tolerations: [{ key: "gpu", operator: "Exists" }] } });
    expect(await world.placeOf("tolerant")).toBe(tainted);
    await world.pod("fearless", {
      spec: { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] },
    });
    expect(await world.placeOf("fearless")).toBe(cordoned);
    await client.patch(coreV1.Node, { name: cordoned }, { merge: { spec: { unschedulable: null } } });
    expect(await world.placeOf("plain")).toBe(cordoned);
  });

  inWorld("gives a port of a node to one pod only", async (world) => {
    await world.node("n");
    const port = (hostPort: number, hostIP?: string): Partial<coreV1.PodSpec> => ({
      containers: [
        { name: "main", image: "pause", ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }) }] },
      ],
    });
    await world.pod("first", { spec: port(7001) });
    await world.placeOf("first");
    await world.pod("second", { spec: port(7001, "127.0.0.1") });
    expect((await world.unscheduled("second")).message).toBe(
      await world.message(
        { "node(s) didn't have free ports for the requested pod ports": 1 },
        await world.noPreemption({ "No preemption victims found for incoming pod": 1 }),
      ),
    );
    await world.pod("elsewhere", { spec: port(7002) });
    await world.placeOf("elsewhere");
    await world.delete("first");
    await world.placeOf("second");
  });

  inWorld("keeps pods near others, and apart", async (world) => {
    const zone = (name: string) => ({ labels: { zone: name } });
    const [a, b] = [await world.node("a", zone("a")), await world.node("b", zone("b"))];
    await world.running("web", b, { labels: { app: "web" } });
    const term = (app: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey: "zone" });
    await world.pod("near", {
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("web")] } } },
    });
    await world.pod("apart", {
      labels: { app: "db" },
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("web")] } } },
    });
    expect(await world.placeOf("near")).toBe(b);
    expect(await world.placeOf("apart")).toBe(a);
    // Whom the others do not want near.
    await world.pod("web-2", { labels: { app: "web" } });
    expect(await world.placeOf("web-2")).toBe(b);
    await world.pod("alone", {
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("nobody")] } } },
    });
    expect((await world.unscheduled("alone")).message).toBe(
      await world.message({ "node(s) didn't match pod affinity rules": 2 }, await world.noPreemption()),
    );
    await world.pod("nowhere", {
      spec: {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("web"), term("db")] },
        },
      },
    });
    expect((await world.unscheduled("nowhere")).message).toBe(
      await world.message(
        { "node(s) didn't match pod anti-affinity rules": 2 },
        await world.noPreemption({ "No preemption victims found for incoming pod": 2 }),
      ),
    );
    await world.pod("web-3", { labels: { app: "web" }, spec: { nodeSelector: { zone: "a" } } });
    expect((await world.unscheduled("web-3")).message).toBe(
      await world.message(
        { "node(s) didn't satisfy existing pods anti-affinity rules": 1 },
        await world.noPreemption({ "No preemption victims found for incoming pod": 1 }),
      ),
    );
    await world.delete("apart");
    expect(await world.placeOf("web-3")).toBe(a);
  });

  inWorld("lets the first of a group go that wants to be near itself", async (world) => {
    await world.node("a", { labels: { zone: "a" } });
    const term = { labelSelector: { matchLabels: { app: "ring" } }, topologyKey: "zone" };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await world.pod("first", { labels: { app: "ring" }, spec: { affinity } });
    await world.placeOf("first");
  });

  inWorld("spreads pods evenly if they must be", async (world) => {
    const zone = (name: string) => ({ labels: { zone: name } });
    const [a, b] = [await world.node("a", zone("a")), await world.node("b", zone("b"))];
    await world.running("one", a, { labels: { app: "web" } });
    const spec: Partial<coreV1.PodSpec> = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "zone",
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: { app: "web" } },
        },
      ],
    };
    await world.pod("two", { labels: { app: "web" }, spec });
    expect(await world.placeOf("two")).toBe(b);
    await world.pod("three", { labels: { app: "web" }, spec: { ...spec, nodeSelector: { zone: "a" } } });
    expect(await world.placeOf("three")).toBe(a);
    await world.node("c", {});
    await world.pod("four", {
      labels: { app: "web" },
      spec: {
        topologySpreadConstraints: spec.topologySpreadConstraints?.map((each) => ({
          ...each,
          topologyKey: "rack",
        })) as coreV1.TopologySpreadConstraint[],
      },
    });
    expect((await world.unscheduled("four")).message).toBe(
      await world.message(
        { "node(s) didn't match pod topology spread constraints (missing required label)": 3 },
        await world.noPreemption(),
      ),
    );
  });

  inWorld("takes the node that has more left", async (world) => {
    const [a, b] = [await world.node("a"), await world.node("b")];
    await world.running("there", a, { requests: { cpu: "4", memory: "16Gi" } });
    await world.pod("next", { requests: { cpu: "1", memory: "4Gi" } });
    expect(await world.placeOf("next")).toBe(b);
  });

  inWorld("prefers what a pod prefers, and avoids what is to be avoided", async (world) => {
    const [a, b] = [
      await world.node("a", { taints: [{ key: "busy", effect: "PreferNoSchedule" }] }),
      await world.node("b", { labels: { disk: "ssd" } }),
    ];
    await world.running("there", b, { requests: { cpu: "2", memory: "8Gi" } });
    await world.pod("shy", { requests: { cpu: "1", memory: "4Gi" } });
    expect(await world.placeOf("shy")).toBe(b);
    await world.pod("bold", {
      requests: { cpu: "1", memory: "4Gi" },
      spec: { tolerations: [{ key: "busy", operator: "Exists" }] },
    });
    expect(await world.placeOf("bold")).toBe(a);
    await world.pod("choosy", {
      requests: { cpu: "1", memory: "4Gi" },
      spec: {
        tolerations: [{ key: "busy", operator: "Exists" }],
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
            ],
          },
        },
      },
    });
    expect(await world.placeOf("choosy")).toBe(b);
  });

  inWorld("leaves a gated pod alone until its last gate is gone", async (world) => {
    await world.node("n");
    await world.pod("gated", { spec: { schedulingGates: [{ name: "example.org/a" }, { name: "example.org/b" }] } });
    const { status } = await world.get("gated");
    expect(status?.conditions).toEqual([
      expect.objectContaining({
        type: "PodScheduled",
        status: "False",
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
      }),
    ]);
    const { client } = target();
    const key = { namespace: world.namespace, name: "gated" };
    const gates = (...names: string[]) => ({ merge: { spec: { schedulingGates: names.map((name) => ({ name })) } } });
    await client.patch(coreV1.Pod, key, gates("example.org/b"));
    // Whoever comes later overtakes it.
    await world.pod("other");
    await world.placeOf("other");
    expect((await world.get("gated")).spec?.nodeName).toBeUndefined();
    await client.patch(coreV1.Pod, key, { merge: { spec: { schedulingGates: null } } });
    await world.placeOf("gated");
  });

  inWorld("places a pod at the first try that is un-gated and pinned in one write", async (world) => {
    const node = await world.node("n", { allocatable: { cpu: "1" } });
    await world.node("free");
    await world.running("ghost", node, { requests: { cpu: "1" } });
    await world.pod("executor", { requests: { cpu: "1" }, spec: { schedulingGates: [{ name: "berth.dev/slot" }] } });
    await world.delete("ghost");
    await target().client.patch(
      coreV1.Pod,
      { namespace: world.namespace, name: "executor" },
      {
        merge: {
          metadata: { annotations: { "berth.dev/slot": "0" } },
          spec: { schedulingGates: null, affinity: pinTo(node) },
        },
      },
    );
    expect(await world.placeOf("executor")).toBe(node);
    const { items } = await target().client.list(coreV1.Event, { namespace: world.namespace });
    expect(items.filter(({ reason }) => reason === "FailedScheduling")).toEqual([]);
  });

  inWorld("tries again when a node comes, grows, loses a taint or gets a label", async (world) => {
    const { client } = target();
    const small = await world.node("small", { allocatable: { cpu: "1" } });
    const tainted = await world.node("tainted", {
      allocatable: { cpu: "1" },
      taints: [{ key: "keep", effect: "NoSchedule" }],
    });
    await world.pod("grows", { requests: { cpu: "2" }, spec: { nodeSelector: { "kubernetes.io/hostname": small } } });
    await world.pod("freed", { spec: { nodeSelector: { "kubernetes.io/hostname": tainted } } });
    await world.pod("labelled", { spec: { nodeSelector: { disk: "ssd" } } });
    await world.pod("comes", { requests: { cpu: "4" } });
    for (const name of ["grows", "freed", "labelled", "comes"]) await world.unscheduled(name);
    const status = { capacity: { cpu: "2" }, allocatable: { cpu: "2" } };
    await client.subresource("status").patch(coreV1.Node, { name: small }, { merge: { status } });
    expect(await world.placeOf("grows")).toBe(small);
    const node = await client.get(coreV1.Node, { name: tainted });
    const taints = node.spec?.taints?.filter(({ key }) => key !== "keep");
    await client.patch(coreV1.Node, { name: tainted }, { merge: { spec: { taints } } });
    expect(await world.placeOf("freed")).toBe(tainted);
    await client.patch(coreV1.Node, { name: tainted }, { merge: { metadata: { labels: { disk: "ssd" } } } });
    expect(await world.placeOf("labelled")).toBe(tainted);
    const large = await world.node("large");
    expect(await world.placeOf("comes")).toBe(large);
  });

  inWorld("tries again when a pod ends or is deleted", async (world) => {
    const node = await world.node("n", { allocatable: { cpu: "1" } });
    await world.running("first", node, { requests: { cpu: "1" } });
    await world.pod("second", { requests: { cpu: "1" } });
    await world.unscheduled("second");
    await world.delete("first");
    await world.placeOf("second");
    await world.pod("third", { requests: { cpu: "1" } });
    await world.unscheduled("third");
    const key = { namespace: world.namespace, name: "second" };
    await target()
      .client.subresource("status")
      .patch(coreV1.Pod, key, { merge: { status: { phase: "Succeeded" } } });
    await world.placeOf("third");
  });

  inWorld("tries again when the pod itself tolerates more", async (world) => {
    const node = await world.node("n", { taints: [{ key: "keep", effect: "NoSchedule" }] });
    const pod = await world.pod("a");
    await world.unscheduled("a");
    const tolerations = [...(pod.spec?.tolerations ?? []), { key: "keep", operator: "Exists" as const }];
    const key = { namespace: world.namespace, name: "a" };
    await target().client.patch(coreV1.Pod, key, { merge: { spec: { tolerations } } });
    expect(await world.placeOf("a")).toBe(node);
  });

  inWorld("serves the more important first, then whoever has waited longest", async (world) => {
    const [first, second] = [
      await world.node("a", { allocatable: { cpu: "1" } }),
      await world.node("b", { allocatable: { cpu: "1" } }),
    ];
    const wait = async (name: string, node: string, priority: number) => {
      const spec = { nodeSelector: { "kubernetes.io/hostname": node } };
      await world.pod(name, { requests: { cpu: "1" }, priority, preempts: false, spec });
      await world.unscheduled(name);
    };
    for (const [index, node] of [first, second].entries())
      await world.running(`full-${index}`, node, { requests: { cpu: "1" } });
    await wait("low", first, 10);
    await wait("high", first, 20);
    await wait("early", second, 20);
    await wait("late", second, 20);
    // Who has just been tried is not tried again at once, however important it is: only when all may be tried is there an order.
    await sleep(new WallClock(), BACKOFFS_ARE_OVER_MS);
    await world.delete("full-0");
    await world.placeOf("high");
    await world.delete("full-1");
    await world.placeOf("early");
    await world.unscheduled("low");
    await world.unscheduled("late");
  });

  inWorld("does not count pods that have ended, nor give them a place", async (world) => {
    const node = await world.node("n", { allocatable: { cpu: "1" } });
    await world.running("done", node, { requests: { cpu: "1" } });
    const key = { namespace: world.namespace, name: "done" };
    await target()
      .client.subresource("status")
      .patch(coreV1.Pod, key, { merge: { status: { phase: "Failed" } } });
    await world.pod("next", { requests: { cpu: "1" } });
    expect(await world.placeOf("next")).toBe(node);
  });

  inWorld("counts init containers, sidecars and overhead", async (world) => {
    await world.node("n", { allocatable: { cpu: "4" } });
    const container = (name: string, cpu: string, more: Partial<coreV1.Container> = {}): coreV1.Container => ({
      name,
      image: "pause",
      resources: { requests: { cpu } },
      ...more,
    });
    const sidecar = container("sidecar", "1", { restartPolicy: "Always" });
    await world.pod("init", {
      spec: { containers: [container("main", "1")], initContainers: [container("init", "5")] },
    });
    expect((await world.unscheduled("init")).message).toMatch(/1 Insufficient cpu/);
    await world.pod("starting", {
      spec: { containers: [container("main", "1")], initContainers: [sidecar, container("init", "3500m")] },
    });
    expect((await world.unscheduled("starting")).message).toMatch(/1 Insufficient cpu/);
    await world.pod("running", {
      spec: { containers: [container("main", "3")], initContainers: [container("init", "4"), sidecar] },
    });
    await world.placeOf("running");
  });

  for (const seed of ["a", "b", "c"]) {
    inWorld(`goes where our rules say in a random cluster (${seed})`, async (world) => {
      const random = new SeededRandom(`scheduling ${seed}`);
      const chance = (share: number) => random.next() < share;
      const zones = ["x", "y", "z"];
      for (let index = 0; index < 6; index++) {
        const node = await world.node(`n${index}`, {
          allocatable: { cpu: String(integer(random, 2, 9)), memory: `${integer(random, 4, 17)}Gi` },
          labels: { zone: pick(random, zones), ...(chance(0.4) && { disk: "ssd" }) },
          ...(chance(0.3) && { taints: [{ key: "busy", effect: "PreferNoSchedule" }] }),
        });
        for (let number = 0; number < integer(random, 0, 3); number++) {
          await world.running(`there-${index}-${number}`, node, {
            requests: { cpu: `${integer(random, 1, 8)}00m`, memory: `${integer(random, 1, 20)}00Mi` },
            labels: { app: pick(random, ["web", "db"]) },
          });
        }
      }
      const { client } = world.target;
      for (let number = 0; number < 8; number++) {
        const affinity: coreV1.Affinity = {
          ...(chance(0.4) && {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: integer(random, 1, 100),
                  preference: { matchExpressions: [{ key: "disk", operator: "Exists" }] },
                },
              ],
            },
          }),
          ...(chance(0.4) && {
            [chance(0.5) ? "podAffinity" : "podAntiAffinity"]: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: integer(random, 1, 100),
                  podAffinityTerm: { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "zone" },
                },
              ],
            },
          }),
        };
        const pod = await world.pod(`p${number}`, {
          requests: {
            ...(chance(0.8) && { cpu: `${integer(random, 1, 15)}00m` }),
            ...(chance(0.8) && { memory: `${integer(random, 1, 30)}00Mi` }),
          },
          labels: { app: pick(random, ["web", "db"]) },
          spec: {
            affinity,
            schedulingGates: [{ name: "example.org/wait" }],
            ...(chance(0.4) && {
              topologySpreadConstraints: [
                {
                  maxSkew: integer(random, 1, 3),
                  topologyKey: "zone",
                  whenUnsatisfiable: "ScheduleAnyway" as const,
                  labelSelector: { matchLabels: { app: "web" } },
                },
              ],
            }),
          },
        });
        const expected = await predict(client, pod);
        const key = { namespace: world.namespace, name: `p${number}` };
        await client.patch(coreV1.Pod, key, { merge: { spec: { schedulingGates: null } } });
        if (expected.best.length > 0) expect(expected.best).toContain(await world.placeOf(`p${number}`));
        else expect((await world.unscheduled(`p${number}`)).message).toContain(expected.message);
      }
    });
  }

  inWorld("leaves pods alone that name another scheduler", async (world) => {
    await world.node("n");
    await world.pod("other", { spec: { schedulerName: "somebody-else" } });
    await world.pod("mine");
    await world.placeOf("mine");
    const other: KubernetesObject & { spec?: { nodeName?: string } } = await world.get("other");
    expect(other.spec?.nodeName).toBeUndefined();
  });
});
