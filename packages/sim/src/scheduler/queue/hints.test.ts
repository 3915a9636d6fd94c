import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../../placement/selectors.ts";
import type { PodInfo } from "../pod-info.ts";
import { PodInfo as Info } from "../pod-info.ts";
import type { Plugin } from "../rejection.ts";
import {
  type NodeSample,
  nodeInfo,
  nodeObject,
  type PodSample,
  podInfo,
  podObject,
  profile,
} from "../testing/samples.ts";
import { type ClusterEvent, nodeChanges, podChanges } from "./cluster-events.ts";
import { hintTable } from "./hints.ts";

const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => EVERYTHING };
const table = hintTable(profile(), around);
const helps = (plugin: Plugin, waiting: PodInfo, event: ClusterEvent) =>
  table.interested(event).includes(plugin) && table.helps(waiting, new Set([plugin]), event);

/** The same pod, before and after. */
function changed(before: PodSample, after: PodSample): [PodInfo, PodInfo] {
  const pod = podObject(before);
  const { uid, name } = pod.metadata;
  const next = podObject(after);
  return [
    new Info(pod),
    new Info({ ...next, metadata: { ...next.metadata, ...(uid && { uid }), ...(name && { name }) } }),
  ];
}

const added = (sample: NodeSample = {}): ClusterEvent => ({ on: "Node", action: "Add", after: nodeInfo(sample) });
const gone = (sample: PodSample = {}): ClusterEvent => ({
  on: "Pod",
  action: "Delete",
  before: podInfo({ ...sample, spec: { nodeName: "n", ...sample.spec } }),
});

describe("what has changed", () => {
  it("about a pod", () => {
    const actions = (before: PodSample, after: PodSample) =>
      podChanges(...changed(before, after)).map(({ action }) => action);
    expect(actions({}, {})).toEqual(["Update"]);
    expect(actions({ labels: { a: "1" } }, { labels: { a: "2" } })).toEqual(["UpdateLabels"]);
    expect(actions({ requests: { cpu: "2" } }, { requests: { cpu: "1" } })).toEqual(["ScaleDown"]);
    expect(actions({ requests: { cpu: "1" } }, { requests: { cpu: "2" } })).toEqual(["Update"]);
    const gates = { schedulingGates: [{ name: "a" }] };
    expect(actions({ spec: gates }, {})).toEqual(["GatesEliminated"]);
    expect(actions({ spec: gates }, { spec: { tolerations: [{ operator: "Exists" }] } })).toEqual([
      "GatesEliminated",
      "UpdateTolerations",
    ]);
  });

  it("about a node", () => {
    const actions = (before: coreV1.Node, after: coreV1.Node) => nodeChanges(before, after).map(({ action }) => action);
    const node = nodeObject();
    expect(actions(node, nodeObject())).toEqual([]);
    expect(actions(node, nodeObject({ allocatable: { cpu: "5" } }))).toEqual(["UpdateAllocatable"]);
    expect(actions(node, nodeObject({ labels: { a: "b" } }))).toEqual(["UpdateLabels"]);
    expect(actions(node, nodeObject({ taints: [{ key: "a", effect: "NoSchedule" }] }))).toEqual(["UpdateTaints"]);
    expect(actions(nodeObject({ unschedulable: true }), node)).toEqual(["UpdateTaints"]);
    expect(actions(node, nodeObject({ unschedulable: true }))).toEqual([]);
    expect(actions(node, { ...node, metadata: { ...node.metadata, annotations: { a: "b" } } })).toEqual([
      "UpdateAnnotations",
    ]);
    const ready = (status: "True" | "False", lastHeartbeatTime: string) => ({
      ...node,
      status: { ...node.status, conditions: [{ type: "Ready", status, lastHeartbeatTime }] },
    });
    expect(actions(ready("True", "2024-01-01T00:00:00Z"), ready("True", "2024-01-01T00:00:10Z"))).toEqual([]);
    expect(actions(ready("True", "2024-01-01T00:00:00Z"), ready("False", "2024-01-01T00:00:00Z"))).toEqual([
      "UpdateConditions",
    ]);
  });
});

describe("what may help whom", () => {
  it("NodeResourcesFit: more room", () => {
    const waiting = podInfo({ requests: { cpu: "2" } });
    expect(helps("NodeResourcesFit", waiting, gone())).toBe(true);
    expect(helps("NodeResourcesFit", waiting, gone({ spec: { nodeName: "" } }))).toBe(false);
    expect(helps("NodeResourcesFit", waiting, added())).toBe(true);
    expect(helps("NodeResourcesFit", waiting, added({ allocatable: { cpu: "1" } }))).toBe(false);
    const grown = (before: Record<string, string>, after: Record<string, string>): ClusterEvent => ({
      on: "Node",
      action: "UpdateAllocatable",
      before: nodeInfo({ allocatable: before }),
      after: nodeInfo({ allocatable: after }),
    });
    expect(helps("NodeResourcesFit", waiting, grown({ cpu: "1" }, { cpu: "2" }))).toBe(true);
    expect(helps("NodeResourcesFit", waiting, grown({ memory: "1Gi" }, { memory: "2Gi" }))).toBe(false);
    expect(helps("NodeResourcesFit", waiting, grown({ pods: "1" }, { pods: "2" }))).toBe(true);
    const [before, after] = changed(
      { requests: { cpu: "2" }, spec: { nodeName: "n" } },
      { requests: { cpu: "1" }, spec: { nodeName: "n" } },
    );
    expect(helps("NodeResourcesFit", waiting, { on: "Pod", action: "ScaleDown", before, after })).toBe(true);
    expect(
      helps("NodeResourcesFit", podInfo({ requests: { memory: "1" } }), {
        on: "Pod",
        action: "ScaleDown",
        before,
        after,
      }),
    ).toBe(false);
  });

  it("NodePorts: a port of one's own", () => {
    const port = (hostPort: number) => ({
      spec: { containers: [{ name: "a", ports: [{ containerPort: 1, hostPort }] }] },
    });
    expect(helps("NodePorts", podInfo(port(80)), gone(port(80)))).toBe(true);
    expect(helps("NodePorts", podInfo(port(80)), gone(port(81)))).toBe(false);
    expect(helps("NodePorts", podInfo(port(80)), added())).toBe(true);
  });

  it("TaintToleration and NodeUnschedulable: a node that opens, or a pod that minds less", () => {
    const taints = [{ key: "a", effect: "NoSchedule" as const }];
    const waiting = podInfo();
    expect(helps("TaintToleration", waiting, added())).toBe(true);
    expect(helps("TaintToleration", waiting, added({ taints }))).toBe(false);
    expect(
      helps("TaintToleration", waiting, {
        on: "Node",
        action: "UpdateTaints",
        before: nodeInfo({ taints }),
        after: nodeInfo(),
      }),
    ).toBe(true);
    expect(
      helps("TaintToleration", waiting, { on: "Node", action: "UpdateTaints", before: nodeInfo(), after: nodeInfo() }),
    ).toBe(false);
    const [before, after] = changed({}, { spec: { tolerations: [{ operator: "Exists" }] } });
    expect(helps("TaintToleration", before, { on: "Pod", action: "UpdateTolerations", before, after })).toBe(true);
    expect(helps("TaintToleration", waiting, { on: "Pod", action: "UpdateTolerations", before, after })).toBe(false);
    const cordoned = nodeInfo({ unschedulable: true });
    expect(
      helps("NodeUnschedulable", waiting, { on: "Node", action: "UpdateTaints", before: cordoned, after: nodeInfo() }),
    ).toBe(true);
    expect(
      helps("NodeUnschedulable", waiting, {
        on: "Node",
        action: "UpdateTaints",
        before: nodeInfo(),
        after: nodeInfo(),
      }),
    ).toBe(false);
    expect(helps("NodeUnschedulable", before, { on: "Pod", action: "UpdateTolerations", before, after })).toBe(true);
  });

  it("NodeAffinity: a node that has become one of the wanted", () => {
    const waiting = podInfo({ spec: { nodeSelector: { disk: "ssd" } } });
    const ssd = { labels: { disk: "ssd" } };
    expect(helps("NodeAffinity", waiting, added(ssd))).toBe(true);
    expect(helps("NodeAffinity", waiting, added())).toBe(false);
    const update = (before: NodeSample, after: NodeSample): ClusterEvent => ({
      on: "Node",
      action: "UpdateLabels",
      before: nodeInfo(before),
      after: nodeInfo(after),
    });
    expect(helps("NodeAffinity", waiting, update({}, ssd))).toBe(true);
    expect(helps("NodeAffinity", waiting, update(ssd, ssd))).toBe(false);
    expect(helps("NodeAffinity", waiting, gone())).toBe(false);
  });

  it("InterPodAffinity: company that comes, or goes", () => {
    const term = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "zone" };
    const near = podInfo({
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    });
    const apart = podInfo({
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    });
    const web = { labels: { app: "web" } };
    const bound = (sample: PodSample): ClusterEvent => ({
      on: "Pod",
      action: "Add",
      after: podInfo({ ...sample, spec: { nodeName: "n" } }),
    });
    expect(helps("InterPodAffinity", near, bound(web))).toBe(true);
    expect(helps("InterPodAffinity", near, bound({}))).toBe(false);
    expect(helps("InterPodAffinity", apart, gone(web))).toBe(true);
    expect(helps("InterPodAffinity", apart, gone())).toBe(false);
    expect(helps("InterPodAffinity", podInfo(web), gone({ spec: apart.pod.spec ?? {} }))).toBe(true);
    expect(helps("InterPodAffinity", near, added({ labels: { zone: "a" } }))).toBe(true);
    expect(helps("InterPodAffinity", near, added())).toBe(false);
    expect(helps("InterPodAffinity", apart, added())).toBe(true);
  });

  it("PodTopologySpread: pods of the kind, and places", () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: "zone",
      whenUnsatisfiable: "DoNotSchedule" as const,
      labelSelector: { matchLabels: { app: "web" } },
    };
    const waiting = podInfo({ spec: { topologySpreadConstraints: [constraint] } });
    const web = { labels: { app: "web" } };
    expect(helps("PodTopologySpread", waiting, gone(web))).toBe(true);
    expect(helps("PodTopologySpread", waiting, gone({ ...web, namespace: "other" }))).toBe(false);
    expect(helps("PodTopologySpread", waiting, gone())).toBe(false);
    expect(helps("PodTopologySpread", waiting, added({ labels: { zone: "a" } }))).toBe(true);
    expect(helps("PodTopologySpread", waiting, added())).toBe(false);
    const moved: ClusterEvent = {
      on: "Node",
      action: "UpdateLabels",
      before: nodeInfo({ labels: { zone: "a" } }),
      after: nodeInfo({ labels: { zone: "b" } }),
    };
    expect(helps("PodTopologySpread", waiting, moved)).toBe(true);
  });

  it("an extender: anything; no rule: anything; all rules: new taints, as a precaution", () => {
    const update: ClusterEvent = { on: "Pod", action: "Update", before: podInfo(), after: podInfo() };
    expect(helps("Extender", podInfo(), update)).toBe(true);
    expect(table.helps(podInfo(), new Set(), update)).toBe(true);
    const taints: ClusterEvent = { on: "Node", action: "UpdateTaints", before: nodeInfo(), after: nodeInfo() };
    for (const plugin of ["NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit", "InterPodAffinity"] as const)
      expect([plugin, helps(plugin, podInfo(), taints)]).toEqual([plugin, true]);
  });

  it("gates: only their own end", () => {
    const [before, after] = changed({ spec: { schedulingGates: [{ name: "a" }] } }, {});
    expect(helps("SchedulingGates", before, { on: "Pod", action: "GatesEliminated", before, after })).toBe(true);
    expect(helps("SchedulingGates", podInfo(), { on: "Pod", action: "GatesEliminated", before, after })).toBe(false);
    expect(table.mayOpen("SchedulingGates", gone())).toBe(false);
    expect(table.mayOpen("DefaultPreemption", gone())).toBe(true);
    expect(table.mayOpen("DefaultPreemption", { on: "*" })).toBe(false);
  });
});
