import { type policyV1, SeededRandom } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../../placement/selectors.ts";
import { Attempt } from "../attempt.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import { Nominator } from "../nominator.ts";
import type { PodInfo } from "../pod-info.ts";
import { clusterOf, type PodSample, podInfo, profile } from "../testing/samples.ts";
import { type Budget, budgetOf, splitByBudgets } from "./budgets.ts";
import type { Candidate } from "./candidate.ts";
import { bestCandidates, pickCandidate } from "./pick-candidate.ts";
import { findCandidates, notEligible } from "./preemption.ts";

const NOW = Date.UTC(2024, 0, 1);
const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => EVERYTHING };
const started = (seconds: number) => ({ startTime: new Date(NOW - 3600_000 + seconds * 1000).toISOString() });
const pod = (name: string, cpu: string, priority: number, more: PodSample = {}): PodSample => ({
  name,
  requests: { cpu },
  ...more,
  spec: { priority, ...more.spec },
});

function candidates(
  preemptor: PodInfo,
  cache: ClusterCache,
  budgets: readonly Budget[] = [],
  nominator = new Nominator(),
) {
  const attempt = new Attempt(preemptor, profile(), { cache, nominator, around });
  expect(attempt.find(0)).toEqual([]);
  const { checks, diagnosis } = attempt;
  return findCandidates({
    checks,
    diagnosis,
    cache,
    nominator,
    profile: profile(),
    budgets: () => budgets,
    random: new SeededRandom("x"),
    now: NOW,
  });
}

/** Who would have to go where. */
function victims(...args: Parameters<typeof candidates>): Record<string, string[]> {
  const found = candidates(...args);
  if ("why" in found) throw new Error(found.why);
  return Object.fromEntries(found.map(({ node, victims: those }) => [node, those.map(({ name }) => name)]));
}

describe("victims", () => {
  const important = podInfo({ requests: { cpu: "2" }, spec: { priority: 100 } });

  it("are as few as possible, the least important and the youngest", () => {
    const cluster = clusterOf([
      [
        { name: "n", allocatable: { cpu: "5" } },
        pod("low-old", "1", 1, { status: started(0) }),
        pod("mid", "1", 5, { status: started(0) }),
        pod("low-young", "1", 1, { status: started(9) }),
        pod("high", "1", 50, { status: started(0) }),
        pod("not-started", "1", 1),
      ],
    ]);
    expect(victims(important, cluster)).toEqual({ n: ["low-young", "not-started"] });
  });

  it("are never as important, or more", () => {
    const cluster = clusterOf([[{ name: "n", allocatable: { cpu: "2" } }, pod("equal", "1", 100), pod("low", "1", 1)]]);
    expect(candidates(important, cluster)).toEqual({
      why: "0/1 nodes are available: 1 Insufficient cpu.",
      error: false,
    });
  });

  it("are found only where they are in the way", () => {
    const cluster = clusterOf([
      [{ name: "small", allocatable: { cpu: "1" } }, pod("a", "1", 1)],
      [{ name: "cordoned", allocatable: { cpu: "2" }, unschedulable: true }, pod("b", "1", 1)],
      [{ name: "vip", allocatable: { cpu: "2" } }, pod("c", "2", 200)],
      [{ name: "full", allocatable: { cpu: "2" } }, pod("d", "1", 1)],
    ]);
    expect(victims(important, cluster)).toEqual({ full: ["d"] });
  });

  it("of nobody: says why", () => {
    const cluster = clusterOf([
      [{ name: "small", allocatable: { cpu: "1" } }, pod("a", "1", 1)],
      [{ name: "vip", allocatable: { cpu: "2" } }, pod("c", "2", 200)],
    ]);
    const why =
      "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.";
    expect(candidates(important, cluster)).toEqual({ why, error: false });
    // The same where nobody at all is less important.
    const least = podInfo({ requests: { cpu: "2" }, spec: { priority: -1 } });
    expect(candidates(least, cluster)).toEqual({ why, error: false });
  });

  it("are spared if a budget wants to keep them and others will do", () => {
    const keep = { labels: { app: "keep" } };
    const cluster = clusterOf([
      [{ name: "n", allocatable: { cpu: "3" } }, pod("kept", "1", 1, keep), pod("a", "1", 5), pod("b", "1", 5)],
    ]);
    const budget: Budget = {
      namespace: "default",
      selector: { isEmpty: false, matches: (labels) => labels?.app === "keep" },
      allowed: 0,
      disrupted: new Set(),
    };
    expect(victims(important, cluster)).toEqual({ n: ["b", "kept"] });
    expect(victims(important, cluster, [budget])).toEqual({ n: ["a", "b"] });
    const big = podInfo({ requests: { cpu: "3" }, spec: { priority: 100 } });
    const [candidate] = candidates(big, cluster, [budget]) as Candidate[];
    expect(candidate).toMatchObject({ violations: 1 });
    expect(candidate?.victims.map(({ name }) => name)).toEqual(["a", "b", "kept"]);
  });

  it("make place for those who wait there already, too", () => {
    const cluster = clusterOf([[{ name: "n", allocatable: { cpu: "4" } }, pod("a", "2", 1), pod("b", "2", 1)]]);
    const nominator = new Nominator();
    nominator.put(podInfo({ requests: { cpu: "2" }, spec: { priority: 100 } }), "n");
    expect(victims(important, cluster, [], nominator)).toEqual({ n: ["a", "b"] });
  });

  it("are whoever keeps a pod away that must not be near", () => {
    const term = { labelSelector: { matchLabels: { app: "noisy" } }, topologyKey: "kubernetes.io/hostname" };
    const quiet = podInfo({
      spec: { priority: 9, affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    });
    const noisy = { labels: { app: "noisy" } };
    const cluster = clusterOf([[{ name: "n" }, pod("other", "1", 1), pod("noisy", "1", 1, noisy)]]);
    expect(victims(quiet, cluster)).toEqual({ n: ["noisy"] });
  });

  it("are looked for on no more nodes than needed", () => {
    const nodes = Array.from(
      { length: 500 },
      (_, index) => [{ name: `n${index}`, allocatable: { cpu: "2" } }, pod(`p${index}`, "2", 1)] as const,
    );
    expect(Object.keys(victims(important, clusterOf(nodes)))).toHaveLength(100);
  });
});

describe("who may preempt", () => {
  const scene = (cache: ClusterCache, preemptor: PodInfo) => ({
    cache,
    diagnosis: (() => {
      const attempt = new Attempt(preemptor, profile(), { cache, nominator: new Nominator(), around });
      attempt.find(0);
      return attempt.diagnosis;
    })(),
  });

  it("is not who says never", () => {
    const never = podInfo({ spec: { preemptionPolicy: "Never" } });
    expect(notEligible(never.pod, scene(clusterOf([[{}]]), never))).toBe("not eligible due to preemptionPolicy=Never.");
  });

  it("is not who waits for victims to go", () => {
    const conditions = [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }];
    const ending = { deletionTimestamp: "2024-01-01T00:00:00Z", status: { conditions } };
    const waits = podInfo({ requests: { cpu: "1" }, spec: { priority: 9 }, status: { nominatedNodeName: "n" } });
    const node = { name: "n", allocatable: { cpu: "1" } };
    const why = "not eligible due to a terminating pod on the nominated node.";
    expect(notEligible(waits.pod, scene(clusterOf([[node, pod("a", "1", 1, ending)]]), waits))).toBe(why);
    // One that goes by itself is nobody's victim.
    const leaving = { deletionTimestamp: "2024-01-01T00:00:00Z" };
    expect(notEligible(waits.pod, scene(clusterOf([[node, pod("a", "1", 1, leaving)]]), waits))).toBeUndefined();
    // Where it waits it can never be placed.
    const cordoned = { ...node, unschedulable: true };
    expect(notEligible(waits.pod, scene(clusterOf([[cordoned, pod("a", "1", 1, ending)]]), waits))).toBeUndefined();
  });
});

describe("the best candidate", () => {
  const victim = (priority: number, seconds = 0) => podInfo({ spec: { priority }, status: started(seconds) });
  const candidate = (node: string, violations: number, ...those: PodInfo[]): Candidate => ({
    node,
    violations,
    victims: those,
  });
  const best = (...all: Candidate[]) => bestCandidates(all, NOW).map(({ node }) => node);

  it("is chosen by one criterion after the other", () => {
    expect(best(candidate("a", 1, victim(1)), candidate("b", 0, victim(99)))).toEqual(["b"]);
    expect(best(candidate("a", 0, victim(5)), candidate("b", 0, victim(4), victim(4)))).toEqual(["b"]);
    expect(best(candidate("a", 0, victim(5), victim(2)), candidate("b", 0, victim(5), victim(1)))).toEqual(["b"]);
    // Fewer are never worse, also below zero.
    expect(best(candidate("a", 0, victim(-5), victim(-5)), candidate("b", 0, victim(-5)))).toEqual(["b"]);
    expect(best(candidate("a", 0, victim(5, 1)), candidate("b", 0, victim(5, 2)))).toEqual(["b"]);
    // Only the start of the most important counts.
    expect(best(candidate("a", 0, victim(5, 1), victim(1, 99)), candidate("b", 0, victim(5, 2), victim(1, 0)))).toEqual(
      ["b"],
    );
  });

  it("is left to chance among equals", () => {
    const equals = [candidate("a", 0, victim(5)), candidate("b", 0, victim(5))];
    const random = new SeededRandom("x");
    const taken = new Set(Array.from({ length: 50 }, () => pickCandidate(equals, NOW, random)?.node));
    expect(taken).toEqual(new Set(["a", "b"]));
    expect(pickCandidate([], NOW, random)).toBeUndefined();
  });
});

describe("budgets", () => {
  const budget = (disruptionsAllowed: number, more: Partial<policyV1.PodDisruptionBudget> = {}) =>
    budgetOf({
      metadata: { namespace: "default", name: "b" },
      spec: { selector: { matchLabels: { app: "a" } } },
      status: { disruptionsAllowed, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      ...more,
    });
  const those = ["x", "y", "z"].map((name) => podInfo({ name, labels: { app: "a" } }));
  const violating = (...budgets: Budget[]) => splitByBudgets(those, budgets).violating.map(({ name }) => name);

  it("let so many go, in order", () => {
    expect(violating(budget(2))).toEqual(["z"]);
    expect(violating(budget(0))).toEqual(["x", "y", "z"]);
    expect(violating(budget(3), budget(1))).toEqual(["y", "z"]);
  });

  it("do not count who is counted already, nor those of others", () => {
    const status = {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      disruptedPods: { x: "2024-01-01T00:00:00Z" },
    };
    expect(violating(budget(0, { status }))).toEqual(["y", "z"]);
    expect(violating(budget(0, { metadata: { namespace: "other", name: "b" } }))).toEqual([]);
    expect(violating(budget(0, { spec: { selector: {} } }))).toEqual([]);
    expect(violating(budget(0, { spec: {} }))).toEqual([]);
    expect(violating(budget(0, { spec: { selector: { matchExpressions: [{ key: "a", operator: "Odd" }] } } }))).toEqual(
      [],
    );
  });
});
