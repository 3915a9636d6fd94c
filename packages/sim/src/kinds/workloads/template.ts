/** Templates of pods, which jobs, deployments and the like have in common. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkAnnotations, checkLabels } from "../../api/names.ts";
import type { Loose } from "../common/loose.ts";
import { compiledSelector, isEmptySelector, type Selector, textsOf } from "../common/selectors.ts";
import { checkAnnotationValues } from "../pod/annotations.ts";
import { checkProfiles, dropUnserved } from "../pod/create.ts";
import { defaultPodSpec } from "../pod/defaults.ts";
import { checkPodSpec } from "../pod/spec.ts";
import type { PodTemplate } from "../pod/types.ts";

export function defaultTemplate(template: PodTemplate | undefined): void {
  if (template?.spec) defaultPodSpec(template.spec);
}

/** Drops what belongs to features that are switched off. */
export function prepareTemplate(template: PodTemplate | undefined): void {
  if (template?.spec) dropUnserved(template.spec);
}

export function checkTemplate({ metadata = {}, spec = {} }: PodTemplate, field: string, errors: FieldErrors): void {
  const annotations = textsOf(metadata.annotations);
  checkLabels(textsOf(metadata.labels), `${field}.labels`, errors);
  checkAnnotations(annotations, `${field}.annotations`, errors);
  checkAnnotationValues(annotations, spec, `${field}.annotations`, errors);
  checkPodSpec(spec, undefined, false, `${field}.spec`, errors);
  if (annotations) checkProfiles(annotations, spec, `${field}.spec`, errors);
  if (spec.ephemeralContainers?.length) {
    errors.forbidden(`${field}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template");
  }
}

/** Whoever keeps a number of pods running must find those that it made, and those must go on for ever. */
export function checkLastingTemplate(
  template: PodTemplate,
  selector: Selector | undefined,
  kind: string,
  field: string,
  errors: FieldErrors,
): void {
  checkSelected(template, selector, field, errors);
  checkTemplate(template, field, errors);
  checkLasting(template, kind, field, errors);
}

export function checkLasting({ spec = {} }: PodTemplate, kind: string, field: string, errors: FieldErrors): void {
  if (spec.restartPolicy !== "Always") {
    errors.notSupported(`${field}.spec.restartPolicy`, spec.restartPolicy ?? "", ["Always"]);
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.forbidden(`${field}.spec.activeDeadlineSeconds`, why);
  }
}

/** Whether a selector finds the pods that a template makes. No selector at all finds nothing. */
export function checkSelected(
  { metadata = {} }: PodTemplate,
  selector: Selector | undefined,
  field: string,
  errors: FieldErrors,
): void {
  if (selector && isEmptySelector(selector)) return;
  const labels = textsOf(metadata.labels);
  if (!selector || compiledSelector(selector)?.matches(labels) === false) {
    errors.invalid(`${field}.metadata.labels`, labels ?? null, "`selector` does not match template `labels`");
  }
}

/** A count in a status. */
type Counts = Loose<Readonly<Record<string, unknown>>>;

/** Counts that are not less than none, nor more than there are replicas, nor more available than ready. */
export function checkReplicaCounts(
  status: object,
  names: readonly string[],
  errors: FieldErrors,
  ready = "readyReplicas",
): void {
  const counts = status as Counts;
  const count = (name: string) => (typeof counts[name] === "number" ? counts[name] : 0);
  for (const name of ["replicas", ...names, "observedGeneration", "collisionCount", "terminatingReplicas"]) {
    if (count(name) < 0) errors.invalid(`status.${name}`, count(name), "must be greater than or equal to 0");
  }
  for (const name of names) {
    if (name !== "unavailableReplicas" && count(name) > count("replicas")) {
      errors.invalid(`status.${name}`, count(name), "cannot be greater than status.replicas");
    }
  }
  if (count("availableReplicas") > count("readyReplicas")) {
    errors.invalid("status.availableReplicas", count("availableReplicas"), `cannot be greater than ${ready}`);
  }
}

/** How often a name was taken already: it never becomes less. */
export function checkCollisions(
  { collisionCount }: { collisionCount?: number },
  before: { collisionCount?: number },
  errors: FieldErrors,
): void {
  if (before.collisionCount !== undefined && (collisionCount ?? -1) < before.collisionCount) {
    errors.invalid("status.collisionCount", collisionCount ?? 0, "cannot be decremented");
  }
}
