/** Label selectors as they stand in specs: whether they make sense. Pure. */
import { LabelSelector, type LabelSelectorSpec } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabels, labelValueProblems } from "../../api/names.ts";
import { checkQualified } from "./formats.ts";
import type { Loose } from "./loose.ts";

export type Selector = Loose<LabelSelectorSpec>;

export function checkSelector(selector: Selector | undefined, field: string, errors: FieldErrors): void {
  if (!selector) return;
  checkLabels(textsOf(selector.matchLabels), `${field}.matchLabels`, errors);
  for (const [index, { key = "", operator = "", values = [] }] of selector.matchExpressions?.entries() ?? []) {
    const place = `${field}.matchExpressions[${index}]`;
    checkOperator(operator, values, place, errors);
    checkQualified(key, `${place}.key`, errors);
    checkValues(values, `${place}.values`, errors);
  }
}

function checkOperator(operator: string, values: readonly string[], field: string, errors: FieldErrors): void {
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        errors.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        errors.forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    default:
      errors.invalid(`${field}.operator`, operator, "not a valid selector operator");
  }
}

export function checkValues(values: readonly string[], field: string, errors: FieldErrors): void {
  for (const [index, value] of values.entries()) {
    for (const problem of labelValueProblems(value)) errors.invalid(`${field}[${index}]`, value, problem);
  }
}

export function isEmptySelector(selector: Selector | undefined): boolean {
  if (!selector) return true;
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
}

/** A selector to match with; `undefined` of one that makes no sense. */
export function compiledSelector(selector: Selector): LabelSelector | undefined {
  try {
    return LabelSelector.fromSpec(selector as LabelSelectorSpec);
  } catch {
    return undefined;
  }
}

/** A map whose values are all there, as they are in JSON. */
export function textsOf(map: { [key: string]: string | undefined } | undefined): Record<string, string> | undefined {
  return map as Record<string, string> | undefined;
}
