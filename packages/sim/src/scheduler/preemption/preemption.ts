/** Who has to go so that a pod can be scheduled: the rules of DefaultPreemption, up to the decision. */
import { integer, type Random } from "@berth/kube";
import type { Checks } from "../checks.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { Profile } from "../configuration.ts";
import { Diagnosis } from "../diagnosis.ts";
import type { NodeInfo } from "../node-info.ts";
import type { Nominator } from "../nominator.ts";
import type { Pod, PodInfo } from "../pod-info.ts";
import type { Budget } from "./budgets.ts";
import type { Candidate } from "./candidate.ts";
import { NOBODY, selectVictims } from "./victims.ts";

/** Everything that the search for candidates looks at. */
export interface PreemptionScene {
  /** `undefined` if no node needs to be looked at. */
  readonly checks: Checks | undefined;
  readonly diagnosis: Diagnosis;
  readonly cache: ClusterCache;
  readonly nominator: Nominator;
  readonly profile: Profile;
  readonly budgets: () => readonly Budget[];
  readonly random: Random;
  readonly now: number;
}

/** Why a pod may not preempt, if so. @param pod - As it is now. */
export function notEligible(
  pod: Pod,
  { diagnosis, cache }: Pick<PreemptionScene, "diagnosis" | "cache">,
): string | undefined {
  if (pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const nominated = pod.status?.nominatedNodeName;
  // Where it waits it can never be placed: then it may look elsewhere.
  if (!nominated || !diagnosis.of(nominated).resolvable) return undefined;
  const waits = cache
    .node(nominated)
    ?.pods.some((other) => other.priority < (pod.spec?.priority ?? 0) && isEnding(other));
  return waits ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

/** Whether a pod is about to go because the scheduler wanted it to. */
function isEnding({ pod: { metadata, status } }: PodInfo): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const target = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return target?.status === "True" && target.reason === "PreemptionByScheduler";
}

/** Nowhere: why, and whether that is an error, which says nothing about where the pod waits. */
export interface Nowhere {
  readonly why: string;
  readonly error: boolean;
}

/** Where it would work. */
export function findCandidates(scene: PreemptionScene): Candidate[] | Nowhere {
  const { checks, diagnosis, cache, nominator, profile, random, now } = scene;
  const potential = potentialNodes(diagnosis, cache);
  const why = new Diagnosis();
  why.absent = { reasons: ["Preemption is not helpful for scheduling"], resolvable: false };
  const [kind, harsh]: [Candidate[], Candidate[]] = [[], []];
  const errors = new Set<string>();
  if (checks && checks.pod.priority <= cache.lowestPriority) for (const { name } of potential) why.note(name, NOBODY);
  else if (checks && potential.length > 0) {
    const budgets = scene.budgets();
    const wanted = Math.min(
      potential.length,
      Math.max(profile.minCandidates, Math.floor((potential.length * profile.minCandidatePercentage) / 100)),
    );
    const offset = integer(random, 0, potential.length);
    for (let step = 0; step < potential.length; step++) {
      const node = potential[(offset + step) % potential.length] as NodeInfo;
      const result = selectVictims(checks, node, nominator, budgets, now);
      if ("reasons" in result) why.note(node.name, result);
      else if (result.victims.length === 0)
        errors.add(`expected at least one victim pod on node ${JSON.stringify(node.name)}`);
      else (result.violations === 0 ? kind : harsh).push(result);
      if (kind.length > 0 && kind.length + harsh.length >= wanted) break;
    }
  }
  const candidates = [...kind, ...harsh];
  if (candidates.length > 0) return candidates;
  if (errors.size === 0) return { why: why.message(cache.nodes.length), error: false };
  const all = [...errors].join(", ");
  return { why: errors.size === 1 ? all : `[${all}]`, error: true };
}

/** Nodes where pods are in the way, and nothing that preemption cannot change. */
function potentialNodes(diagnosis: Diagnosis, cache: ClusterCache): readonly NodeInfo[] {
  if (diagnosis.absent.resolvable) return cache.nodes.filter(({ name }) => diagnosis.of(name).resolvable);
  const nodes: NodeInfo[] = [];
  for (const name of diagnosis.names()) {
    const node = diagnosis.of(name).resolvable && cache.node(name);
    if (node) nodes.push(node);
  }
  return nodes;
}
