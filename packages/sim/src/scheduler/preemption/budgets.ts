/** Pods that a disruption budget wants to keep. Pure. */
import type { policyV1 } from "@berth/kube";
import { NOTHING, type Selector, selectorOf } from "../../placement/selectors.ts";
import type { PodInfo } from "../pod-info.ts";

export interface Budget {
  readonly namespace: string;
  readonly selector: Selector;
  readonly allowed: number;
  /** Whose end is counted already. */
  readonly disrupted: ReadonlySet<string>;
}

export function budgetOf({ metadata, spec, status }: policyV1.PodDisruptionBudget): Budget {
  let selector = NOTHING;
  try {
    selector = selectorOf(spec?.selector);
  } catch {
    // One that cannot be read selects nothing.
  }
  return {
    namespace: metadata.namespace ?? "",
    // An empty one selects nothing here.
    selector: selector.isEmpty ? NOTHING : selector,
    allowed: status?.disruptionsAllowed ?? 0,
    disrupted: new Set(Object.keys(status?.disruptedPods ?? {})),
  };
}

/** Who of these could not go without breaking a budget, if they went in this order; and the others. */
export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly Budget[],
): { violating: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map(({ allowed }) => allowed);
  const [violating, others]: [PodInfo[], PodInfo[]] = [[], []];
  for (const pod of pods) {
    let violates = false;
    for (const [index, { namespace, selector, disrupted }] of budgets.entries()) {
      if (namespace !== pod.namespace || disrupted.has(pod.name)) continue;
      if (!pod.labels || !selector.matches(pod.labels)) continue;
      const allowed = (left[index] ?? 0) - 1;
      left[index] = allowed;
      if (allowed < 0) violates = true;
    }
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}
