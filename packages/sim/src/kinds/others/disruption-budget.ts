/** The rules of disruption budgets: how many pods may be away on purpose. */
import type { policyV1 } from "@berth/kube";
import { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkConditions } from "../common/conditions.ts";
import { checkCountOrPercent, checkNotNegative, checkOneOf } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";
import { checkSelector } from "../common/selectors.ts";
import { checkWhole } from "../workloads/deployment.ts";

export type DisruptionBudget = LooseObject<policyV1.PodDisruptionBudget>;

const COUNTS = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;

export const disruptionBudgetRules: Rules = {
  names: "segment",
  needsVersion: true,
  prepareForCreate: (budget: DisruptionBudget) => {
    budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: (budget: DisruptionBudget, errors) => {
    const own = new FieldErrors();
    checkBudget(budget, own);
    // The metadata of a new one is looked at only if there is nothing else to say.
    if (own.found) errors.causes.splice(0, errors.causes.length, ...own.causes);
  },
  validateUpdate: (budget: DisruptionBudget, _before, errors) => checkBudget(budget, errors),
  validateStatusUpdate: ({ status = {} }: DisruptionBudget, _before, errors) => {
    checkConditions(status.conditions, "status.conditions", errors);
    for (const name of COUNTS) checkNotNegative(status[name], `status.${name}`, errors);
  },
};

function checkBudget({ spec = {} }: DisruptionBudget, errors: FieldErrors): void {
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const name of ["minAvailable", "maxUnavailable"] as const) {
    const value = spec[name];
    if (value === undefined) continue;
    checkCountOrPercent(value, `spec.${name}`, errors);
    checkWhole(value, `spec.${name}`, errors);
  }
  checkSelector(spec.selector, "spec.selector", errors);
  if (spec.unhealthyPodEvictionPolicy !== undefined) {
    const policies = ["AlwaysAllow", "IfHealthyBudget"];
    checkOneOf(spec.unhealthyPodEvictionPolicy, policies, "spec.unhealthyPodEvictionPolicy", errors);
  }
}
