/** How extenders are asked, and what is made of their answers. */
import type { NodeInfo } from "../node-info.ts";
import type { Pod, PodInfo } from "../pod-info.ts";
import type { Candidate } from "../preemption/candidate.ts";
import { bare } from "../queue/cluster-events.ts";
import type { Rejection } from "../rejection.ts";
import { type ConfiguredExtender, isInterested } from "./extender.ts";
import type { ExtenderArgs, MetaVictims } from "./messages.ts";

/** A pod or node as Go sends it: who it is goes without saying. */
function bareObject<T extends { apiVersion?: string; kind?: string }>({ apiVersion: _, kind: __, ...rest }: T): T {
  return rest as T;
}

function argsFor({ nodeCacheCapable }: ConfiguredExtender, pod: Pod, nodes: readonly NodeInfo[]): ExtenderArgs {
  return {
    Pod: bareObject(pod),
    Nodes: nodeCacheCapable
      ? null
      : { metadata: {}, items: nodes.flatMap(({ node }) => (node ? [bareObject(node)] : [])) },
    NodeNames: nodeCacheCapable ? nodes.map(({ name }) => name) : null,
  };
}

/** The nodes that are left when all have been asked, one after the other. Throws if one fails that must not. */
export async function askToFilter(
  extenders: readonly ConfiguredExtender[],
  pod: Pod,
  nodes: readonly NodeInfo[],
  note: (node: string, rejection: Rejection) => void,
): Promise<readonly NodeInfo[]> {
  let left = nodes;
  for (const extender of extenders) {
    if (left.length === 0) break;
    if (!isInterested(extender, pod)) continue;
    try {
      left = await askOneToFilter(extender, pod, left, note);
    } catch (error) {
      if (!extender.ignorable) throw error;
    }
  }
  return left;
}

async function askOneToFilter(
  configured: ConfiguredExtender,
  pod: Pod,
  nodes: readonly NodeInfo[],
  note: (node: string, rejection: Rejection) => void,
): Promise<readonly NodeInfo[]> {
  const { extender, nodeCacheCapable, name } = configured;
  if (!extender.filter) return nodes;
  const result = await extender.filter(argsFor(configured, pod, nodes));
  if (result.Error) throw new Error(result.Error);
  let left: NodeInfo[] = [];
  if (nodeCacheCapable && result.NodeNames) {
    const known = new Map(nodes.map((node) => [node.name, node]));
    left = result.NodeNames.map((each) => {
      const node = known.get(each);
      if (node) return node;
      throw new Error(
        `extender ${JSON.stringify(name)} claims a filtered node ${JSON.stringify(each)} which is not found in the input node list`,
      );
    });
  } else if (result.Nodes) {
    // As in kube-scheduler: whoever sends nodes back sends them without their pods.
    left = (result.Nodes.items ?? []).map(bare);
  }
  const [failed, hopeless] = [result.FailedNodes ?? {}, result.FailedAndUnresolvableNodes ?? {}];
  for (const [node, why] of Object.entries(hopeless)) note(node, { reasons: [why], resolvable: false });
  for (const [node, why] of Object.entries(failed))
    if (!Object.hasOwn(hopeless, node)) note(node, { reasons: [why], resolvable: true });
  return left;
}

/** Its points are from 0 to 10, those of the rules from 0 to 100. */
const SCALE = 10;

/** What extenders add to the score of each node. One that fails adds nothing. */
export async function askToPrioritize(
  extenders: readonly ConfiguredExtender[],
  pod: Pod,
  nodes: readonly NodeInfo[],
): Promise<ReadonlyMap<string, number>> {
  const scores = new Map<string, number>();
  // One after the other, so that what they see of each other does not depend on who is faster.
  for (const configured of extenders) {
    const { extender, weight } = configured;
    if (!isInterested(configured, pod)) continue;
    if (!extender.prioritize) {
      for (const { name } of nodes) scores.set(name, scores.get(name) ?? 0);
      continue;
    }
    try {
      const answer = await extender.prioritize(argsFor(configured, pod, nodes));
      for (const { Host, Score } of answer) scores.set(Host, (scores.get(Host) ?? 0) + Score * weight * SCALE);
    } catch {
      // The others decide.
    }
  }
  return scores;
}

/** Whom to evict where: what the last extender says that has an opinion. Throws if one fails that must not. */
export async function askToPreempt(
  extenders: readonly ConfiguredExtender[],
  pod: Pod,
  candidates: readonly Candidate[],
  nodeOf: (name: string) => NodeInfo | undefined,
): Promise<readonly Candidate[]> {
  let left = candidates;
  for (const configured of extenders) {
    if (!configured.extender.preempt || !isInterested(configured, pod)) continue;
    try {
      left = checked(await askOneToPreempt(configured, pod, left, nodeOf), configured);
    } catch (error) {
      if (!configured.ignorable) throw error;
    }
    if (left.length === 0) break;
  }
  return left;
}

/** Whether anybody would be asked. */
export function anyoneToPreempt(extenders: readonly ConfiguredExtender[], pod: Pod): boolean {
  return extenders.some((each) => each.extender.preempt !== undefined && isInterested(each, pod));
}

function checked(candidates: readonly Candidate[], { ignorable }: ConfiguredExtender): readonly Candidate[] {
  return candidates.filter(({ victims, node }) => {
    if (victims.length > 0) return true;
    if (ignorable) return false;
    throw new Error(`expected at least one victim pod on node ${JSON.stringify(node)}`);
  });
}

async function askOneToPreempt(
  { extender, nodeCacheCapable, name }: ConfiguredExtender,
  pod: Pod,
  candidates: readonly Candidate[],
  nodeOf: (name: string) => NodeInfo | undefined,
): Promise<readonly Candidate[]> {
  const meta = Object.fromEntries(
    candidates.map(({ node, victims, violations }) => [
      node,
      { Pods: victims.map(({ uid }) => ({ UID: uid })), NumPDBViolations: violations },
    ]),
  );
  const full = Object.fromEntries(
    candidates.map(({ node, victims, violations }) => [
      node,
      { Pods: victims.map((victim) => bareObject(victim.pod)), NumPDBViolations: violations },
    ]),
  );
  const result = await extender.preempt?.({
    Pod: bareObject(pod),
    NodeNameToVictims: nodeCacheCapable ? null : full,
    NodeNameToMetaVictims: nodeCacheCapable ? meta : null,
  });
  const answer = Object.entries(result?.NodeNameToMetaVictims ?? {});
  return answer.map(([node, victims]) => candidateFrom(node, victims, nodeOf(node), name));
}

function candidateFrom(node: string, victims: MetaVictims, info: NodeInfo | undefined, extender: string): Candidate {
  if (!info) throw new Error(`nodeinfo not found for node name ${JSON.stringify(node)}`);
  const find = ({ UID }: { readonly UID: string }): PodInfo => {
    const found = info.pods.find(({ uid }) => uid === UID);
    if (found) return found;
    throw new Error(
      `extender: ${extender} claims to preempt pod (UID: &{${UID}}) on node: ${node}, but the pod is not found on that node`,
    );
  };
  return { node, victims: (victims?.Pods ?? []).map(find), violations: victims?.NumPDBViolations ?? 0 };
}
