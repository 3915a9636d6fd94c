/**
 * What our rules say that a scheduler will do, worked out from what can be seen of a cluster. Held against what the
 * simulated scheduler does this is nothing new; held against kube-scheduler it shows whether the rules are right.
 */
import { type Client, coreV1, policyV1, SeededRandom } from "@berth/kube";
import { EVERYTHING } from "../placement/selectors.ts";
import { Attempt } from "../scheduler/attempt.ts";
import { ClusterCache } from "../scheduler/cluster-cache.ts";
import { profilesOf, type SchedulerConfiguration } from "../scheduler/configuration.ts";
import { Nominator } from "../scheduler/nominator.ts";
import { isAssigned, isFinished, PodInfo } from "../scheduler/pod-info.ts";
import { budgetOf } from "../scheduler/preemption/budgets.ts";
import { bestCandidates } from "../scheduler/preemption/pick-candidate.ts";
import { findCandidates } from "../scheduler/preemption/preemption.ts";
import { scoresOf } from "../scheduler/scoring.ts";

export interface Prediction {
  /** The nodes with the most points; empty if none will do. */
  readonly best: readonly string[];
  /** If none will do: the nodes where preemption does the least harm, and who has to go there, by name. */
  readonly preemption: ReadonlyMap<string, readonly string[]>;
  /** If none will do: how messages about it begin. */
  readonly message: string;
}

/** @param pod - Not scheduled yet: a gate keeps it from being. */
export async function predict(
  client: Client,
  pod: coreV1.Pod,
  configuration: SchedulerConfiguration = {},
): Promise<Prediction> {
  const cache = new ClusterCache();
  const [nodes, pods, budgets] = await Promise.all([
    client.list(coreV1.Node),
    client.list(coreV1.Pod),
    client.list(policyV1.PodDisruptionBudget),
  ]);
  for (const node of nodes.items) cache.setNode(node);
  for (const other of pods.items) if (isAssigned(other) && !isFinished(other)) cache.putPod(other);
  const [profile] = profilesOf({ percentageOfNodesToScore: 100, ...configuration });
  if (!profile) throw new Error("no profile");
  const nominator = new Nominator();
  const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => EVERYTHING };
  const info = new PodInfo(pod);
  const attempt = new Attempt(info, profile, { cache, nominator, around });
  const found = attempt.find(0);
  if (found.length > 0) {
    const scores = scoresOf(info, found, attempt.checks?.required, profile, cache, around);
    const highest = Math.max(...scores);
    const best = found.filter((_, index) => scores[index] === highest).map(({ name }) => name);
    return { best, preemption: new Map(), message: "" };
  }
  const now = Math.max(...pods.items.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "")));
  const candidates = findCandidates({
    checks: attempt.checks,
    diagnosis: attempt.diagnosis,
    cache,
    nominator,
    profile: { ...profile, minCandidatePercentage: 100 },
    budgets: () => budgets.items.map(budgetOf),
    random: new SeededRandom("prediction"),
    now,
  });
  const least = "why" in candidates ? [] : bestCandidates(candidates, now);
  return {
    best: [],
    preemption: new Map(least.map(({ node, victims }) => [node, victims.map(({ name }) => name)])),
    message: attempt.diagnosis.message(cache.nodes.length),
  };
}
