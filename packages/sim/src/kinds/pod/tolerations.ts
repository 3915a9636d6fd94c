/** Which taints of nodes a pod puts up with. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { labelValueProblems } from "../../api/names.ts";
import { checkChoice, checkQualified } from "../common/formats.ts";
import { same } from "../common/semantic.ts";
import type { Toleration } from "./types.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function checkEffect(effect: string | undefined, field: string, errors: FieldErrors): void {
  checkChoice(effect, EFFECTS, field, errors);
}

export function checkTolerations(tolerations: readonly Toleration[], field: string, errors: FieldErrors): void {
  for (const [index, { key, operator, value = "", effect, tolerationSeconds }] of tolerations.entries()) {
    const place = `${field}[${index}]`;
    if (key) checkQualified(key, `${place}.key`, errors);
    else if (operator !== "Exists") {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${place}.operator`, operator ?? "", why);
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(`${place}.effect`, effect ?? "", why);
    }
    checkOperator(operator ?? "", value, `${place}.operator`, errors);
    if (effect) checkEffect(effect, `${place}.effect`, errors);
  }
}

function checkOperator(operator: string, value: string, field: string, errors: FieldErrors): void {
  switch (operator) {
    case "":
    case "Equal": {
      const problems = labelValueProblems(value);
      if (problems.length > 0) errors.invalid(field, value, problems.join(";"));
      break;
    }
    case "Exists":
      if (value) errors.invalid(field, value, "value must be empty when `operator` is 'Exists'");
      break;
    case "Lt":
    case "Gt":
      // Known, and switched off.
      errors.notSupported(field, operator, ["Equal", "Exists", "Lt", "Gt"]);
      break;
    default:
      errors.notSupported(field, operator, ["Equal", "Exists"]);
  }
}

/** A pod may come to put up with more, not with less; only for how long may change. */
export function checkOnlyAdded(
  after: readonly Toleration[],
  before: readonly Toleration[],
  field: string,
  errors: FieldErrors,
): void {
  for (const old of before) {
    if (after.some((toleration) => isAlike(toleration, old))) continue;
    errors.forbidden(field, "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  checkTolerations(after, field, errors);
}

function isAlike(a: Toleration, b: Toleration): boolean {
  if (a === b) return true;
  const { tolerationSeconds: _a, ...left } = a;
  const { tolerationSeconds: _b, ...right } = b;
  return same(left, right);
}
