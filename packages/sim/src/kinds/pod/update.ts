/** What may change of a pod once it is there. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { INT32, within } from "../common/formats.ts";
import { isContained } from "../common/maps.ts";
import { same } from "../common/semantic.ts";
import { checkOnlyNarrowed } from "./affinity.ts";
import { checkAnnotationChanges, checkAnnotationValues } from "./annotations.ts";
import { checkPod } from "./create.ts";
import { checkPlacement, differInPlacement } from "./spec.ts";
import { checkOnlyAdded } from "./tolerations.ts";
import type { Container, Pod, PodSpec } from "./types.ts";

const UPDATABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

export function checkChangedPod(pod: Pod, before: Pod, errors: FieldErrors): void {
  const { spec = {} } = pod;
  const { spec: old = {} } = before;
  checkAnnotationChanges(pod.metadata.annotations, before.metadata.annotations, "metadata.annotations", errors);
  // What was good and has not changed is still good: most writes change labels and annotations only.
  if (spec === old || same(spec, old)) {
    checkAnnotationValues(pod.metadata.annotations, spec, "metadata.annotations", errors);
    return;
  }
  if (differInPlacement(spec, old)) {
    checkAnnotationValues(pod.metadata.annotations, spec, "metadata.annotations", errors);
    checkPlacement(spec, "spec", errors);
  } else checkPod(pod, errors);
  if (!checkImages(spec.containers, old.containers, "spec.containers", errors)) return;
  if (!checkImages(spec.initContainers, old.initContainers, "spec.initContainers", errors)) return;
  if (!checkDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds, errors)) return;
  checkOnlyAdded(spec.tolerations ?? [], old.tolerations ?? [], "spec.tolerations", errors);
  checkOnlyOpened(spec, old, errors);
  const rest = withoutAllowed(spec, old);
  if (old.schedulingGates?.length) checkGatedChanges(rest, old, errors);
  if (!same(rest, old)) {
    errors.forbidden("spec", `pod updates may not change fields other than ${UPDATABLE}\n${differences(old, rest)}`);
  }
}

/** Whether there are as many containers as before, so that they can be compared. */
function checkImages(
  containers: readonly Container[] = [],
  before: readonly Container[] = [],
  field: string,
  errors: FieldErrors,
): boolean {
  if (containers.length === before.length) return true;
  errors.forbidden(field, "pod updates may not add or remove containers");
  return false;
}

function checkDeadline(deadline: number | undefined, before: number | undefined, errors: FieldErrors): boolean {
  const field = "spec.activeDeadlineSeconds";
  if (deadline === undefined) {
    if (before !== undefined) errors.invalid(field, null, "must not update from a positive integer to nil value");
    return true;
  }
  if (deadline < 0 || deadline > INT32) errors.invalid(field, deadline, within(0, INT32));
  else if (before !== undefined && before < deadline) {
    errors.invalid(field, deadline, "must be less than or equal to previous value");
  } else return true;
  return false;
}

/** Gates can be taken away, never put up. */
function checkOnlyOpened({ schedulingGates = [] }: PodSpec, before: PodSpec, errors: FieldErrors): void {
  const known = new Set(before.schedulingGates?.map(({ name = "" }) => name));
  for (const [index, { name = "" }] of schedulingGates.entries()) {
    if (known.has(name)) continue;
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.forbidden(`spec.schedulingGates[${index}].name`, why);
  }
}

/** The spec with what may change put back to what it was. */
function withoutAllowed(spec: PodSpec, before: PodSpec): PodSpec {
  const withOldImages = (containers: Container[] | undefined, old: Container[] | undefined) =>
    containers?.map((container, index) => withField(container, "image", old?.[index]?.image));
  const rest: PodSpec = { ...spec };
  for (const name of ["containers", "initContainers"] as const) {
    const containers = withOldImages(spec[name], before[name]);
    if (containers) rest[name] = containers;
  }
  putBack(rest, before, "activeDeadlineSeconds");
  putBack(rest, before, "schedulingGates");
  putBack(rest, before, "tolerations");
  const grace = before.terminationGracePeriodSeconds;
  if (grace !== undefined && grace < 0 && rest.terminationGracePeriodSeconds === 1) {
    rest.terminationGracePeriodSeconds = grace;
  }
  return rest;
}

/** A pod that waits behind a gate may be told more exactly where to go. */
function checkGatedChanges(rest: PodSpec, before: PodSpec, errors: FieldErrors): void {
  if (!same(rest.nodeSelector ?? {}, before.nodeSelector ?? {})) {
    if (!isContained(before.nodeSelector, rest.nodeSelector)) {
      const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
      errors.invalid("spec.nodeSelector", rest.nodeSelector ?? null, why);
    }
    putBack(rest, before, "nodeSelector");
  }
  const old = before.affinity?.nodeAffinity;
  const { affinity } = rest;
  if (same(affinity?.nodeAffinity, old)) return;
  checkOnlyNarrowed(affinity?.nodeAffinity, old, "spec.affinity.nodeAffinity", errors);
  if (!affinity) {
    if (old) rest.affinity = { nodeAffinity: old };
  } else if (!before.affinity && !affinity.podAffinity && !affinity.podAntiAffinity) delete rest.affinity;
  else rest.affinity = withField(affinity, "nodeAffinity", old);
}

function withField<T extends object, K extends keyof T>(object: T, name: K, value: T[K] | undefined): T {
  const copy = { ...object };
  if (value === undefined) delete copy[name];
  else copy[name] = value;
  return copy;
}

function putBack<K extends keyof PodSpec>(spec: PodSpec, before: PodSpec, name: K): void {
  const value = before[name];
  if (value === undefined) delete spec[name];
  else spec[name] = value;
}

/** What is different, one line for what was and one for what was to be. */
export function differences(before: object, after: object): string {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  const lines = names
    .filter((name) => !same(old.get(name), fresh.get(name)))
    .flatMap((name) => [line("-", name, old.get(name)), line("+", name, fresh.get(name))]);
  return lines.join("");
}

function line(sign: string, name: string, value: unknown): string {
  return `${sign} ${name}: ${value === undefined ? "null" : JSON.stringify(value)}\n`;
}
