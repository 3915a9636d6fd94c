/** Which nodes, and the company of which pods, a pod wants or shuns. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabel, checkQualified, checkSubdomain } from "../common/formats.ts";
import { checkSelector, checkValues } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";
import { checkLabelKeys } from "./spread.ts";
import type { NodeAffinity, NodeSelectorTerm, PodAffinityTerm, PodSpec } from "./types.ts";

type Affinity = NonNullable<PodSpec["affinity"]>;
type Requirement = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

export function checkAffinity({ nodeAffinity, ...others }: Affinity, field: string, errors: FieldErrors): void {
  if (nodeAffinity) {
    const required = nodeAffinity[REQUIRED];
    if (required) checkNodeSelector(required, `${field}.nodeAffinity.${REQUIRED}`, errors);
    for (const [index, { weight, preference = {} }] of (nodeAffinity[PREFERRED] ?? []).entries()) {
      const place = `${field}.nodeAffinity.${PREFERRED}[${index}]`;
      checkWeight(weight, place, errors);
      checkTerm(preference, `${place}.preference`, errors, true);
    }
  }
  for (const name of ["podAffinity", "podAntiAffinity"] as const) {
    const affinity = others[name];
    if (!affinity) continue;
    for (const [index, term] of (affinity[REQUIRED] ?? []).entries()) {
      checkPodTerm(term, `${field}.${name}.${REQUIRED}[${index}]`, errors);
    }
    for (const [index, { weight, podAffinityTerm = {} }] of (affinity[PREFERRED] ?? []).entries()) {
      const place = `${field}.${name}.${PREFERRED}[${index}]`;
      checkWeight(weight, place, errors);
      checkPodTerm(podAffinityTerm, `${place}.podAffinityTerm`, errors);
    }
  }
}

function checkWeight(weight: number | undefined, field: string, errors: FieldErrors): void {
  if (weight === undefined || weight <= 0 || weight > 100) {
    errors.invalid(`${field}.weight`, weight ?? 0, "must be in the range 1-100");
  }
}

/** Terms of which one must hold. Volumes use it too. */
export function checkNodeSelector(
  { nodeSelectorTerms }: { nodeSelectorTerms?: NodeSelectorTerm[] },
  field: string,
  errors: FieldErrors,
): void {
  const terms = nodeSelectorTerms ?? [];
  const place = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) {
    errors.required(place, "must have at least one node selector term");
    return;
  }
  for (const [index, term] of terms.entries()) checkTerm(term, `${place}[${index}]`, errors, false);
}

/** @param lenient - Whether values may be something that no label can be. */
function checkTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  field: string,
  errors: FieldErrors,
  lenient: boolean,
): void {
  for (const [index, requirement] of matchExpressions.entries()) {
    checkExpression(requirement, `${field}.matchExpressions[${index}]`, errors, lenient);
  }
  for (const [index, requirement] of matchFields.entries()) {
    checkField(requirement, `${field}.matchFields[${index}]`, errors);
  }
}

function checkExpression(
  { key = "", operator = "", values = [] }: Requirement,
  field: string,
  errors: FieldErrors,
  lenient: boolean,
): void {
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
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        errors.required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      errors.invalid(`${field}.operator`, operator, "not a valid selector operator");
  }
  checkQualified(key, `${field}.key`, errors);
  if (!lenient) checkValues(values, `${field}.values`, errors);
}

function checkField({ key = "", operator = "", values = [] }: Requirement, field: string, errors: FieldErrors): void {
  if (operator !== "In" && operator !== "NotIn") {
    errors.invalid(`${field}.operator`, operator, "not a valid selector operator");
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required(`${field}.values`, why);
  }
  if (key !== "metadata.name") errors.invalid(`${field}.key`, key, "not a valid field selector key");
  else for (const [index, value] of values.entries()) checkSubdomain(value, `${field}.values[${index}]`, errors);
}

function checkPodTerm(term: PodAffinityTerm, field: string, errors: FieldErrors): void {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey = "" } = term;
  checkSelector(labelSelector, `${field}.labelSelector`, errors);
  checkSelector(namespaceSelector, `${field}.namespaceSelector`, errors);
  for (const name of namespaces) checkLabel(name, `${field}.namespace`, errors);
  checkLabelKeys(labelSelector, term.matchLabelKeys, term.mismatchLabelKeys, field, errors);
  if (topologyKey === "") errors.required(`${field}.topologyKey`, "can not be empty");
  checkQualified(topologyKey, `${field}.topologyKey`, errors);
}

/** A pod that waits behind a gate may ask for fewer nodes, not for others. */
export function checkOnlyNarrowed(
  after: NodeAffinity | undefined,
  before: NodeAffinity | undefined,
  field: string,
  errors: FieldErrors,
): void {
  const old = before?.[REQUIRED]?.nodeSelectorTerms ?? [];
  if (old.length === 0) return;
  const terms = after?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const place = `${field}.${REQUIRED}.nodeSelectorTerms`;
  if (old.length !== terms.length) {
    const shown = terms.length > 0 ? terms : null;
    errors.invalid(place, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  for (const [index, term] of old.entries()) {
    if (hasOnlyAdditions(terms[index] ?? {}, term)) continue;
    errors.invalid(`${place}[${index}]`, terms[index], "only additions are allowed (no mutations or deletions)");
  }
}

function hasOnlyAdditions(after: NodeSelectorTerm, before: NodeSelectorTerm): boolean {
  const count = (term: NodeSelectorTerm) => (term.matchExpressions?.length ?? 0) + (term.matchFields?.length ?? 0);
  // A term without anything selects no node, and must go on doing so.
  if (count(before) === 0) return count(after) === 0;
  return (["matchExpressions", "matchFields"] as const).every((name) => {
    const old = before[name] ?? [];
    return same((after[name] ?? []).slice(0, old.length), old);
  });
}
