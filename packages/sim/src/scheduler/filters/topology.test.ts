/** The filters that look at where other pods are. */
import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../../placement/selectors.ts";
import { type Preparation, prepare } from "../checks.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { PodInfo } from "../pod-info.ts";
import { clusterOf, podInfo, profile } from "../testing/samples.ts";

const zone = (name: string, zoneName: string) => ({ name, labels: { zone: zoneName } });
const term = (app: string, more: Partial<coreV1.PodAffinityTerm> = {}): coreV1.PodAffinityTerm => ({
  labelSelector: { matchLabels: { app } },
  topologyKey: "zone",
  ...more,
});
const near = (...terms: coreV1.PodAffinityTerm[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const apart = (...terms: coreV1.PodAffinityTerm[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const around = {
  namespaces: () =>
    [
      ["default", { team: "a" }],
      ["other", { team: "b" }],
    ] as const,
  namespaceLabels: (name: string) => (name === "default" ? { team: "a" } : { team: "b" }),
  kindSelector: () => EVERYTHING,
};

/** The first reason of each node, or "ok". */
function verdicts(pod: PodInfo, cache: ClusterCache): Record<string, string> {
  const prepared = prepare(pod, profile(), cache, around);
  if ("reasons" in prepared)
    return Object.fromEntries(cache.nodes.map(({ name }) => [name, prepared.reasons[0] ?? ""]));
  return verdictsBy(prepared, cache);
}

function verdictsBy({ checks }: Pick<Preparation, "checks">, cache: ClusterCache): Record<string, string> {
  return Object.fromEntries(cache.nodes.map((node) => [node.name, checks.check(node)?.reasons[0] ?? "ok"]));
}

describe("InterPodAffinity", () => {
  const cluster = clusterOf([
    [zone("a", "x"), { labels: { app: "web" } }],
    [zone("b", "x")],
    [zone("c", "y"), { labels: { app: "web" }, namespace: "other" }],
    [{ name: "d" }],
  ]);

  it("puts pods near others, by topology", () => {
    const no = "node(s) didn't match pod affinity rules";
    expect(verdicts(podInfo({ spec: near(term("web")) }), cluster)).toEqual({ a: "ok", b: "ok", c: no, d: no });
  });

  it("puts pods apart from others, by topology", () => {
    const no = "node(s) didn't match pod anti-affinity rules";
    expect(verdicts(podInfo({ spec: apart(term("web")) }), cluster)).toEqual({ a: no, b: no, c: "ok", d: "ok" });
  });

  it("looks into the namespaces that a term names or selects", () => {
    const no = "node(s) didn't match pod affinity rules";
    const there = { a: no, b: no, c: "ok", d: no };
    expect(verdicts(podInfo({ spec: near(term("web", { namespaces: ["other"] })) }), cluster)).toEqual(there);
    const byTeam = term("web", { namespaceSelector: { matchLabels: { team: "b" } } });
    expect(verdicts(podInfo({ spec: near(byTeam) }), cluster)).toEqual(there);
    const everywhere = term("web", { namespaceSelector: {} });
    expect(verdicts(podInfo({ spec: near(everywhere) }), cluster)).toMatchObject({ a: "ok", c: "ok" });
  });

  it("respects what the others do not want near", () => {
    const hermit = clusterOf([[zone("a", "x"), { spec: apart(term("web")) }], [zone("b", "y")]]);
    const no = "node(s) didn't satisfy existing pods anti-affinity rules";
    expect(verdicts(podInfo({ labels: { app: "web" } }), hermit)).toEqual({ a: no, b: "ok" });
    expect(verdicts(podInfo({ labels: { app: "db" } }), hermit)).toEqual({ a: "ok", b: "ok" });
    expect(verdicts(podInfo({ labels: { app: "web" }, namespace: "other" }), hermit)).toEqual({ a: "ok", b: "ok" });
  });

  it("wants one pod that matches all terms", () => {
    const both = near(term("web"), { ...term("web"), labelSelector: { matchLabels: { tier: "front" } } });
    expect(verdicts(podInfo({ spec: both }), cluster)).toMatchObject({ a: expect.stringContaining("affinity rules") });
  });

  it("lets the first of a group go that wants to be near itself, where there is a topology", () => {
    const ring = podInfo({ labels: { app: "ring" }, spec: near(term("ring")) });
    expect(verdicts(ring, cluster)).toMatchObject({ a: "ok", c: "ok", d: expect.stringContaining("affinity rules") });
  });

  it("says that terms cannot be read", () => {
    const odd = near({ topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "Odd" }] } });
    expect(verdicts(podInfo({ spec: odd }), cluster).a).toMatch(/^parsing pod: /);
  });

  it("can be asked what would be if pods came or went", () => {
    const hermit = clusterOf([[zone("a", "x"), { spec: apart(term("web")) }]]);
    const prepared = prepare(podInfo({ labels: { app: "web" } }), profile(), hermit, around) as Preparation;
    const [node] = hermit.nodes;
    const [pod] = node?.pods ?? [];
    if (!node || !pod) throw new Error("there is one");
    const tried = prepared.checks.copy();
    tried.removePod(pod, node);
    expect(tried.check(node)).toBeUndefined();
    tried.addPod(pod, node);
    expect(tried.check(node)).toBeDefined();
    // The copy is one's own.
    expect(prepared.checks.check(node)).toBeDefined();
  });
});

describe("PodTopologySpread", () => {
  const spread = (more: Partial<coreV1.TopologySpreadConstraint> = {}): Partial<coreV1.PodSpec> => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
        ...more,
      },
    ],
  });
  const web = { labels: { app: "web" } };
  const no = "node(s) didn't match pod topology spread constraints";
  const cluster = clusterOf([[zone("a", "x"), web, web], [zone("b", "y"), web], [{ name: "c" }]]);

  it("allows no place to get far ahead of the others", () => {
    expect(verdicts(podInfo({ ...web, spec: spread() }), cluster)).toEqual({
      a: no,
      b: "ok",
      c: `${no} (missing required label)`,
    });
    expect(verdicts(podInfo({ ...web, spec: spread({ maxSkew: 2 }) }), cluster)).toMatchObject({ a: "ok", b: "ok" });
    // Who is not of the kind adds nothing to it.
    expect(verdicts(podInfo({ spec: spread() }), cluster)).toMatchObject({ a: "ok", b: "ok" });
  });

  it("takes the fewest for none if there are not enough places", () => {
    expect(verdicts(podInfo({ ...web, spec: spread({ minDomains: 3 }) }), cluster)).toMatchObject({ a: no, b: no });
  });

  it("does not count who is about to go, nor other namespaces", () => {
    const leaving = { ...web, deletionTimestamp: "2024-01-01T00:00:00Z" };
    const cache = clusterOf([[zone("a", "x"), web, leaving, { ...web, namespace: "other" }], [zone("b", "y")]]);
    expect(verdicts(podInfo({ ...web, spec: spread({ maxSkew: 2 }) }), cache)).toMatchObject({ a: "ok" });
  });

  it("counts only the nodes that the pod could have, if so told", () => {
    const cache = clusterOf([
      [zone("a", "x"), web],
      [{ ...zone("b", "y"), taints: [{ key: "keep", effect: "NoSchedule" }] }],
    ]);
    expect(verdicts(podInfo({ ...web, spec: spread() }), cache).a).toBe(no);
    expect(verdicts(podInfo({ ...web, spec: spread({ nodeTaintsPolicy: "Honor" }) }), cache).a).toBe("ok");
    const picky = { ...spread(), nodeSelector: { zone: "x" } };
    expect(verdicts(podInfo({ ...web, spec: picky }), cache).a).toBe("ok");
    const honest = { ...spread({ nodeAffinityPolicy: "Ignore" }), nodeSelector: { zone: "x" } };
    expect(verdicts(podInfo({ ...web, spec: honest }), cache).a).toBe(no);
  });

  it("takes the pod's own labels into account", () => {
    const cache = clusterOf([[zone("a", "x"), { labels: { app: "web", version: "1" } }], [zone("b", "y")]]);
    const labels = { app: "web", version: "2" };
    expect(verdicts(podInfo({ labels, spec: spread({ matchLabelKeys: ["version"] }) }), cache)).toMatchObject({
      a: "ok",
    });
    expect(verdicts(podInfo({ labels, spec: spread() }), cache)).toMatchObject({ a: no });
  });

  it("can be asked what would be if pods came or went", () => {
    const prepared = prepare(podInfo({ ...web, spec: spread() }), profile(), cluster, around) as Preparation;
    const [a] = cluster.nodes;
    const [pod] = a?.pods ?? [];
    if (!a || !pod) throw new Error("there is one");
    const tried = prepared.checks.copy();
    tried.removePod(pod, a);
    expect(tried.check(a)).toBeUndefined();
    expect(prepared.checks.check(a)).toBeDefined();
  });
});
