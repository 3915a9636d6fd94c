/** Who would have to go from one node to make place for a pod: as few as possible, the least important first. */
import { type Checks, checkWithNominated } from "../checks.ts";
import type { NodeInfo } from "../node-info.ts";
import type { Nominator } from "../nominator.ts";
import type { PodInfo } from "../pod-info.ts";
import type { Rejection } from "../rejection.ts";
import { type Budget, splitByBudgets } from "./budgets.ts";
import type { Candidate } from "./candidate.ts";
import { byImportance } from "./importance.ts";

/** There is nobody who is less important. */
export const NOBODY: Rejection = { reasons: ["No preemption victims found for incoming pod"], resolvable: false };

export function selectVictims(
  checks: Checks,
  node: NodeInfo,
  nominator: Nominator,
  budgets: readonly Budget[],
  now: number,
): Candidate | Rejection {
  const potential = node.pods.filter(({ priority }) => priority < checks.pod.priority);
  if (potential.length === 0) return NOBODY;
  const [tried, copy] = [checks.copy(), node.copy()];
  const remove = (pod: PodInfo) => {
    copy.removePod(pod);
    tried.removePod(pod, copy);
  };
  for (const pod of potential) remove(pod);
  const rejection = checkWithNominated(tried, copy, nominator);
  if (rejection) return rejection;

  // All of them would do. As many as possible are spared, those first whom a budget wants to keep.
  const inOrder = byImportance(now);
  potential.sort(inOrder);
  const { violating, others } = splitByBudgets(potential, budgets);
  const victims: PodInfo[] = [];
  let violations = 0;
  const spare = (pod: PodInfo): boolean => {
    copy.addPod(pod);
    tried.addPod(pod, copy);
    if (!checkWithNominated(tried, copy, nominator)) return true;
    remove(pod);
    victims.push(pod);
    return false;
  };
  for (const pod of violating) if (!spare(pod)) violations++;
  for (const pod of others) spare(pod);
  if (violating.length > 0 && others.length > 0) victims.sort(inOrder);
  return { node: node.name, victims, violations };
}
