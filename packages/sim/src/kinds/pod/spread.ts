/** How pods are to be spread over zones, nodes and the like. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkOneOf, checkPositive, checkQualified } from "../common/formats.ts";
import { checkSelector, type Selector } from "../common/selectors.ts";
import type { PodSpec } from "./types.ts";

type Constraint = NonNullable<PodSpec["topologySpreadConstraints"]>[number];

export function checkSpread(constraints: readonly Constraint[], field: string, errors: FieldErrors): void {
  for (const [index, constraint] of constraints.entries()) {
    const { maxSkew, topologyKey = "", whenUnsatisfiable = "", minDomains, labelSelector, matchLabelKeys } = constraint;
    const place = `${field}[${index}]`;
    checkPositive(maxSkew, `${place}.maxSkew`, errors);
    if (topologyKey === "") errors.required(`${place}.topologyKey`, "can not be empty");
    checkOneOf(whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"], `${place}.whenUnsatisfiable`, errors);
    const twin = constraints
      .slice(index + 1)
      .some(
        (other) => (other.topologyKey ?? "") === topologyKey && (other.whenUnsatisfiable ?? "") === whenUnsatisfiable,
      );
    if (twin) {
      errors.duplicate(`${place}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`);
    }
    if (minDomains !== undefined) {
      checkPositive(minDomains, `${place}.minDomains`, errors);
      if (whenUnsatisfiable !== "DoNotSchedule") {
        const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        errors.invalid(`${place}.minDomains`, minDomains, why);
      }
    }
    for (const policy of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
      if (constraint[policy] !== undefined) {
        checkOneOf(constraint[policy], ["Honor", "Ignore"], `${place}.${policy}`, errors);
      }
    }
    checkLabelKeys(labelSelector, matchLabelKeys, [], place, errors);
    checkSelector(labelSelector, `${place}.labelSelector`, errors);
  }
}

/** Labels whose values a selector takes from the pod itself. */
export function checkLabelKeys(
  selector: Selector | undefined,
  match: readonly string[] = [],
  mismatch: readonly string[] = [],
  field: string,
  errors: FieldErrors,
): void {
  for (const [name, keys] of [
    ["matchLabelKeys", match],
    ["mismatchLabelKeys", mismatch],
  ] as const) {
    if (keys.length === 0) continue;
    if (!selector) errors.forbidden(`${field}.${name}`, "must not be specified when labelSelector is not set");
    else for (const [index, key] of keys.entries()) checkQualified(key, `${field}.${name}[${index}]`, errors);
  }
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key = "" } of selector?.matchExpressions ?? []) {
    const index = match.lastIndexOf(key);
    if (index !== -1 && seen.has(key)) {
      errors.invalid(`${field}[${index}]`, key, "exists in both matchLabelKeys and labelSelector");
    }
    seen.add(key);
  }
  for (const [index, key] of match.entries()) {
    if (mismatch.includes(key)) {
      errors.invalid(`${field}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
}

/** Writes those values into the selectors, once, when the pod begins. */
export function mergeLabelKeys(
  selector: Selector | undefined,
  match: readonly string[] = [],
  mismatch: readonly string[] = [],
  labels: Readonly<Record<string, string>> = {},
): void {
  if (!selector) return;
  for (const [operator, keys] of [
    ["In", match],
    ["NotIn", mismatch],
  ] as const) {
    for (const key of keys) {
      if (!Object.hasOwn(labels, key)) continue;
      selector.matchExpressions ??= [];
      selector.matchExpressions.push({ key, operator, values: [labels[key] as string] });
    }
  }
}
