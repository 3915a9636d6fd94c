/** The filters that look at one pod and one node. */
import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { requiredNodes } from "../../placement/required-nodes.ts";
import { tolerates } from "../../placement/tolerations.ts";
import { nodeInfo, podInfo } from "../testing/samples.ts";
import { CONFLICT, nodeAffinity, pinnedNodes } from "./node-affinity.ts";
import { nodeName } from "./node-name.ts";
import { nodePorts } from "./node-ports.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";
import { taintToleration } from "./taint-toleration.ts";

describe("NodeName", () => {
  it("wants the node that the pod names", () => {
    expect(nodeName(podInfo(), nodeInfo({ name: "a" }))).toBeUndefined();
    expect(nodeName(podInfo({ spec: { nodeName: "a" } }), nodeInfo({ name: "a" }))).toBeUndefined();
    expect(nodeName(podInfo({ spec: { nodeName: "b" } }), nodeInfo({ name: "a" }))).toEqual({
      plugin: "NodeName",
      reasons: ["node(s) didn't match the requested node name"],
      resolvable: false,
    });
  });
});

describe("NodeUnschedulable", () => {
  const cordoned = nodeInfo({ unschedulable: true });
  it("keeps pods from cordoned nodes, unless they tolerate it", () => {
    expect(nodeUnschedulable(podInfo(), nodeInfo())).toBeUndefined();
    expect(nodeUnschedulable(podInfo(), cordoned)?.reasons).toEqual(["node(s) were unschedulable"]);
    const tolerations = [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" as const }];
    expect(nodeUnschedulable(podInfo({ spec: { tolerations } }), cordoned)).toBeUndefined();
  });
});

describe("TaintToleration", () => {
  const taint: coreV1.Taint = { key: "gpu", value: "a", effect: "NoSchedule" };
  it("knows what tolerates what", () => {
    const cases: [coreV1.Toleration, boolean][] = [
      [{ key: "gpu", operator: "Exists" }, true],
      [{ operator: "Exists" }, true],
      [{ key: "gpu", value: "a" }, true],
      [{ key: "gpu", operator: "Equal", value: "a", effect: "NoSchedule" }, true],
      [{ key: "gpu", value: "b" }, false],
      [{ key: "gpu", operator: "Exists", effect: "NoExecute" }, false],
      [{ key: "tpu", operator: "Exists" }, false],
      [{ key: "gpu", operator: "Gt" as never, value: "a" }, false],
    ];
    for (const [toleration, expected] of cases)
      expect([toleration, tolerates(toleration, taint)]).toEqual([toleration, expected]);
  });

  it("keeps pods away from taints that are meant to, and only from those", () => {
    const pod = podInfo();
    const tainted = (effect: coreV1.Taint["effect"]) => nodeInfo({ taints: [{ ...taint, effect }] });
    expect(taintToleration(pod, tainted("NoSchedule"))?.reasons).toEqual(["node(s) had untolerated taint(s)"]);
    expect(taintToleration(pod, tainted("NoExecute"))?.resolvable).toBe(false);
    expect(taintToleration(pod, tainted("PreferNoSchedule"))).toBeUndefined();
  });
});

describe("NodeAffinity", () => {
  const required = (...nodeSelectorTerms: coreV1.NodeSelectorTerm[]): Partial<coreV1.PodSpec> => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const fits = (spec: Partial<coreV1.PodSpec>, node = nodeInfo({ name: "a", labels: { gen: "3", disk: "ssd" } })) =>
    nodeAffinity(requiredNodes(podInfo({ spec }).pod), undefined, node) === undefined;
  const expression = (key: string, operator: coreV1.NodeSelectorRequirement["operator"], ...values: string[]) => ({
    matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
  });
  const field = (operator: "In" | "NotIn", ...values: string[]) => ({ key: "metadata.name", operator, values });

  it("matches selectors and expressions", () => {
    expect(fits({})).toBe(true);
    expect(fits({ nodeSelector: { disk: "ssd" } })).toBe(true);
    expect(fits({ nodeSelector: { disk: "hdd" } })).toBe(false);
    expect(fits(required(expression("gen", "Gt", "2")))).toBe(true);
    expect(fits(required(expression("gen", "Lt", "2")))).toBe(false);
    expect(fits(required(expression("gen", "In", "1", "3")))).toBe(true);
    expect(fits(required(expression("gen", "NotIn", "3")))).toBe(false);
    expect(fits(required(expression("rack", "DoesNotExist")))).toBe(true);
    expect(fits(required(expression("rack", "Exists")))).toBe(false);
  });

  it("wants any of its terms, all of a term, and both the selector and the affinity", () => {
    expect(fits(required(expression("rack", "Exists"), expression("disk", "Exists")))).toBe(true);
    expect(fits(required({ ...expression("disk", "Exists"), matchFields: [field("In", "b")] }))).toBe(false);
    expect(fits({ ...required(expression("disk", "Exists")), nodeSelector: { gen: "4" } })).toBe(false);
  });

  it("selects nothing by terms that are empty or cannot be read", () => {
    expect(fits(required({}))).toBe(false);
    expect(fits(required())).toBe(false);
    expect(fits(required({ matchFields: [field("In", "a", "b")] }))).toBe(false);
    expect(fits(required({ matchFields: [{ key: "metadata.uid", operator: "In", values: ["a"] }] }))).toBe(false);
    expect(fits(required(expression("gen", "Gt", "many")))).toBe(false);
  });

  it("names the nodes that alone come into question", () => {
    const pinned = (...terms: coreV1.NodeSelectorTerm[]) => pinnedNodes(podInfo({ spec: required(...terms) }).pod);
    expect(pinned({ matchFields: [field("In", "a")] })).toEqual(new Set(["a"]));
    expect(pinned({ matchFields: [field("In", "a")] }, { matchFields: [field("In", "b")] })).toEqual(
      new Set(["a", "b"]),
    );
    expect(pinned({ matchFields: [field("In", "a")] }, expression("disk", "Exists"))).toBeUndefined();
    expect(pinned({ matchFields: [field("NotIn", "a")] })).toBeUndefined();
    expect(pinned({ matchFields: [field("In", "a"), field("In", "b")] })).toBe(CONFLICT);
  });

  it("adds what the scheduler enforces", () => {
    const rejection = nodeAffinity(undefined, () => false, nodeInfo());
    expect(rejection?.reasons).toEqual(["node(s) didn't match scheduler-enforced node affinity"]);
  });
});

describe("NodePorts", () => {
  const wants = (hostPort: number, hostIP?: string, protocol?: "TCP" | "UDP") =>
    podInfo({
      spec: {
        containers: [
          {
            name: "a",
            ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }), ...(protocol && { protocol }) }],
          },
        ],
      },
    });
  const conflicts = (a: ReturnType<typeof wants>, b: ReturnType<typeof wants>) =>
    nodePorts(a, nodeInfo({}, [b])) !== undefined;

  it("gives each port to one pod, by address and protocol", () => {
    expect(conflicts(wants(80), wants(80))).toBe(true);
    expect(conflicts(wants(80, "10.0.0.1"), wants(80))).toBe(true);
    expect(conflicts(wants(80), wants(80, "10.0.0.1"))).toBe(true);
    expect(conflicts(wants(80, "10.0.0.1"), wants(80, "10.0.0.2"))).toBe(false);
    expect(conflicts(wants(80, undefined, "UDP"), wants(80))).toBe(false);
    expect(conflicts(wants(80), wants(81))).toBe(false);
    expect(conflicts(wants(0), wants(0))).toBe(false);
  });

  it("gives them back", () => {
    const pod = wants(80);
    const node = nodeInfo({}, [pod]);
    node.removePod(pod);
    expect(nodePorts(wants(80), node)).toBeUndefined();
  });

  it("counts sidecars, but not init containers that end", () => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const init = podInfo({ spec: { initContainers: [{ name: "i", ports }] } });
    const sidecar = podInfo({ spec: { initContainers: [{ name: "s", ports, restartPolicy: "Always" }] } });
    expect([init.ports.length, sidecar.ports.length]).toEqual([0, 1]);
  });
});

describe("NodeResourcesFit", () => {
  const reasons = (requests: Record<string, string>, node = nodeInfo()) =>
    nodeResourcesFit(podInfo({ requests }), node)?.reasons;

  it("takes what fits exactly, and nothing more", () => {
    const node = nodeInfo({}, [podInfo({ requests: { cpu: "3", memory: "7Gi" } })]);
    expect(reasons({ cpu: "1", memory: "1Gi" }, node)).toBeUndefined();
    expect(reasons({ cpu: "1001m" }, node)).toEqual(["Insufficient cpu"]);
    expect(reasons({ memory: "1025Mi" }, node)).toEqual(["Insufficient memory"]);
  });

  it("names all that is lacking", () => {
    const node = nodeInfo({ allocatable: { pods: "0" } });
    expect(reasons({ cpu: "5", memory: "9Gi", "ephemeral-storage": "1", "a/b": "1" }, node)).toEqual([
      "Too many pods",
      "Insufficient cpu",
      "Insufficient memory",
      "Insufficient ephemeral-storage",
      "Insufficient a/b",
    ]);
  });

  it("knows what other pods could make place for, and what not", () => {
    const node = nodeInfo({ allocatable: { "a/b": "2" } }, [podInfo({ requests: { cpu: "4", "a/b": "2" } })]);
    const resolvable = (requests: Record<string, string>) => nodeResourcesFit(podInfo({ requests }), node)?.resolvable;
    expect(resolvable({ cpu: "4" })).toBe(true);
    expect(resolvable({ cpu: "5" })).toBe(false);
    expect(resolvable({ "a/b": "1" })).toBe(true);
    expect(resolvable({ "a/b": "3" })).toBe(false);
    expect(resolvable({ cpu: "1", "a/b": "3" })).toBe(false);
  });

  it("minds only what is asked for", () => {
    const overfull = nodeInfo({ allocatable: { cpu: "1" } }, [podInfo({ requests: { cpu: "2" } })]);
    expect(reasons({ memory: "1Gi" }, overfull)).toBeUndefined();
    expect(reasons({ cpu: "0" }, overfull)).toBeUndefined();
  });

  it("leaves out what is somebody else's affair", () => {
    const pod = podInfo({ requests: { "a.org/x": "1", "b.org/y": "1" } });
    const ignored = { names: new Set(["a.org/x"]), groups: new Set(["b.org"]) };
    expect(nodeResourcesFit(pod, nodeInfo(), ignored)).toBeUndefined();
    expect(nodeResourcesFit(pod, nodeInfo())?.reasons).toHaveLength(2);
  });
});
