/** What holds of the scheduler whatever happens, found out by letting all sorts of things happen. */
import { coreV1 } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Amounts, podRequests } from "../placement/resources.ts";
import { TestCluster } from "./testing/test-cluster.ts";

const priority = fc.integer({ min: 0, max: 3 });
const cpu = fc.integer({ min: 0, max: 3 });
const seldom = fc.nat({ max: 3 }).map((number) => number === 0);
const which = fc.nat({ max: 1000 });
const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant("create" as const),
      cpu,
      priority,
      gated: seldom,
      pinned: seldom,
      which,
    }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("delete" as const), which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("finish" as const), which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("ungate" as const), which }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("addNode" as const), cpu: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("removeNode" as const), which }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("cordon" as const), which }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
);
const happenings = fc.array(happening, { minLength: 10, maxLength: 50, size: "max" });
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** Lets it all happen, and looks at every write as it is made. */
async function play(list: readonly Happening[], seed = "x"): Promise<TestCluster> {
  const cluster = new TestCluster({ seed });
  let [pods, nodes] = [0, 0];
  cluster.api.onChange(coreV1.Pod, ({ type, object, before }) => {
    if (type !== "MODIFIED") return;
    if (object.spec?.nodeName && !before?.spec?.nodeName) {
      expect(object.spec.schedulingGates ?? []).toEqual([]);
      expect(before?.metadata.deletionTimestamp).toBeUndefined();
      checkNotOvercommitted(cluster, object.spec.nodeName);
    }
    if (!isVictim(object) || (before && isVictim(before))) return;
    // Whoever it has to make place for waits there by now.
    const there = waiting(cluster).filter(({ status }) => status?.nominatedNodeName === object.spec?.nodeName);
    const preemptors = there.map(({ spec }) => spec?.priority ?? 0);
    expect(object.spec?.priority ?? 0).toBeLessThan(Math.max(...preemptors));
  });
  cluster.node(`n${nodes++}`, { cpu: "4" });
  const pick = (index: number, of: readonly coreV1.Pod[]) => of[index % (of.length || 1)]?.metadata.name;
  const present = () => cluster.api.list(coreV1.Pod, "default");
  for (const each of list) {
    switch (each.what) {
      case "create": {
        const names = [`n${each.which % (nodes + 1)}`];
        cluster.pod(
          `p${pods++}`,
          { cpu: String(each.cpu) },
          {
            priority: each.priority,
            terminationGracePeriodSeconds: each.which % 2 === 0 ? 0 : 30,
            ...(each.gated && { schedulingGates: [{ name: "example.org/wait" }] }),
            ...(each.pinned && {
              affinity: {
                nodeAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: {
                    nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: names }] }],
                  },
                },
              },
            }),
          },
        );
        break;
      }
      case "delete": {
        const name = pick(each.which, present());
        if (name) cluster.delete(name);
        break;
      }
      case "finish": {
        const name = pick(
          each.which,
          present().filter(({ spec }) => spec?.nodeName),
        );
        const pod = name && cluster.get(name);
        if (pod) cluster.api.updateStatus(coreV1.Pod, { ...pod, status: { ...pod.status, phase: "Succeeded" } });
        break;
      }
      case "ungate": {
        const name = pick(
          each.which,
          present().filter(({ spec }) => spec?.schedulingGates?.length),
        );
        const pod = name && cluster.get(name);
        if (pod) {
          const { schedulingGates: _, ...spec } = pod.spec ?? { containers: [] };
          cluster.api.update(coreV1.Pod, { ...pod, spec });
        }
        break;
      }
      case "addNode":
        cluster.node(`n${nodes++}`, { cpu: String(each.cpu) });
        break;
      case "removeNode": {
        const all = cluster.api.list(coreV1.Node);
        if (all.length > 1)
          cluster.api.delete(coreV1.Node, { name: all[each.which % all.length]?.metadata.name ?? "" });
        break;
      }
      case "cordon": {
        const all = cluster.api.list(coreV1.Node);
        const node = all[each.which % all.length];
        if (node)
          cluster.api.update(coreV1.Node, {
            ...node,
            spec: { ...node.spec, unschedulable: !node.spec?.unschedulable },
          });
        break;
      }
      case "wait":
        await cluster.pass(each.seconds);
        break;
    }
    await cluster.settle();
  }
  return cluster;
}

function isVictim({ status }: coreV1.Pod): boolean {
  return status?.conditions?.some(({ type }) => type === "DisruptionTarget") ?? false;
}

function waiting(cluster: TestCluster): coreV1.Pod[] {
  return cluster.api
    .list(coreV1.Pod, "default")
    .filter(({ spec, status }) => !spec?.nodeName && status?.phase !== "Succeeded");
}

function used(cluster: TestCluster, node: string): Amounts & { pods: number } {
  const sum = { cpu: 0, memory: 0, storage: 0, scalars: undefined, pods: 0 };
  for (const pod of cluster.api.list(coreV1.Pod, "default")) {
    if (pod.spec?.nodeName !== node || pod.status?.phase === "Succeeded") continue;
    sum.cpu += podRequests(pod).requests.cpu;
    sum.pods++;
  }
  return sum;
}

function checkNotOvercommitted(cluster: TestCluster, name: string): void {
  const node = cluster.api.get(coreV1.Node, { name });
  expect(node?.spec?.unschedulable ?? false).toBe(false);
  expect(used(cluster, name).cpu).toBeLessThanOrEqual(1000 * Number(node?.status?.allocatable?.cpu));
}

/** Whether a node has room for a pod, and takes it. */
function fits(cluster: TestCluster, pod: coreV1.Pod, { metadata, spec, status }: coreV1.Node): boolean {
  if (spec?.unschedulable) return false;
  const [term] =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (term && !term.matchFields?.[0]?.values?.includes(metadata.name ?? "")) return false;
  const { requests } = podRequests(pod);
  return (
    requests.cpu === 0 ||
    requests.cpu + used(cluster, metadata.name ?? "").cpu <= 1000 * Number(status?.allocatable?.cpu)
  );
}

describe("a scheduler", () => {
  it("B1 never overcommits a node, never binds a gated pod, and evicts only who is less important", async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (list) => {
        const cluster = await play(list);
        cluster.stop();
      }),
      { numRuns: 40 },
    );
  });

  it("B2 binds every pod in the end that fits somewhere", async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (list) => {
        const cluster = await play(list);
        await cluster.pass(20 * 60);
        const nodes = cluster.api.list(coreV1.Node);
        for (const pod of waiting(cluster)) {
          if (pod.spec?.schedulingGates?.length || pod.metadata.deletionTimestamp) continue;
          expect([
            pod.metadata.name,
            nodes.filter((node) => fits(cluster, pod, node)).map(({ metadata }) => metadata.name),
          ]).toEqual([
            pod.metadata.name,
            nodes
              .filter((node) => fits(cluster, pod, node))
              .map(({ metadata }) => metadata.name)
              // A place that somebody else waits for is not free.
              .filter((name) => waiting(cluster).some(({ status }) => status?.nominatedNodeName === name)),
          ]);
        }
        cluster.stop();
      }),
      { numRuns: 40 },
    );
  });

  it("does the same again with the same seed", async () => {
    const state = (cluster: TestCluster) =>
      JSON.stringify([cluster.api.list(coreV1.Pod), cluster.events(), cluster.server.store.version]);
    await fc.assert(
      fc.asyncProperty(happenings, async (list) => {
        const [first, second] = [await play(list, "same"), await play(list, "same")];
        expect(state(second)).toBe(state(first));
        first.stop();
        second.stop();
      }),
      { numRuns: 20 },
    );
  });

  it("B4 gives a free place to the most important of those who wait for it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(priority, { minLength: 2, maxLength: 12 }), async (priorities) => {
        const cluster = new TestCluster({ events: false });
        cluster.node("n", { cpu: "1" });
        cluster.running("first", "n", { cpu: "1" }, { priority: 99 });
        for (const [index, each] of priorities.entries())
          cluster.pod(`p${index}`, { cpu: "1" }, { priority: each, preemptionPolicy: "Never" });
        await cluster.settle();
        let last = "first";
        const order: number[] = [];
        for (const _ of priorities) {
          cluster.delete(last);
          await cluster.settle();
          last = cluster.api.list(coreV1.Pod, "default").find(({ spec }) => spec?.nodeName)?.metadata.name ?? "";
          order.push(Number(last.slice(1)));
        }
        const expected = priorities
          .map((_, index) => index)
          .sort((a, b) => (priorities[b] ?? 0) - (priorities[a] ?? 0) || a - b);
        expect(order).toEqual(expected);
        cluster.stop();
      }),
      { numRuns: 30 },
    );
  });
});
