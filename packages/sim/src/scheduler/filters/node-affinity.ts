/** The filter NodeAffinity: the nodes that a pod must have, by labels or by name. Pure. */
import type { coreV1 } from "@berth/kube";
import type { NodeMatcher } from "../../placement/selectors.ts";
import type { NodeInfo } from "../node-info.ts";
import type { Pod } from "../pod-info.ts";
import { type Rejection, unresolvable } from "../rejection.ts";

const REJECTION = unresolvable("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
const ENFORCED = unresolvable("NodeAffinity", "node(s) didn't match scheduler-enforced node affinity");
export const CONFLICT = unresolvable("NodeAffinity", "pod affinity terms conflict");

/**
 * The only nodes that come into question, if the pod names them: then no other needs to be looked at. A conflict if no
 * node can have all the names that it must.
 */
export function pinnedNodes({ spec }: Pod): ReadonlySet<string> | typeof CONFLICT | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const pinned = new Set<string>();
  for (const term of terms) {
    const names = namesOf(term);
    if (!names) return undefined; // any node may do
    for (const name of names) pinned.add(name);
  }
  return pinned.size > 0 ? pinned : CONFLICT;
}

function namesOf({ matchFields = [] }: coreV1.NodeSelectorTerm): readonly string[] | undefined {
  let names: readonly string[] | undefined;
  for (const { key, operator, values = [] } of matchFields) {
    if (key !== "metadata.name" || operator !== "In") continue;
    names = names ? names.filter((name) => values.includes(name)) : values;
  }
  return names;
}

/** @param enforced - What the scheduler's configuration adds. */
export function nodeAffinity(
  required: NodeMatcher | undefined,
  enforced: NodeMatcher | undefined,
  node: NodeInfo,
): Rejection | undefined {
  if (enforced && !enforced(node)) return ENFORCED;
  return required && !required(node) ? REJECTION : undefined;
}
