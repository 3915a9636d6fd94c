/** The spec of a pod, or of a template of pods: whether it makes sense. Pure. */
import type { ObjectMeta } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabels } from "../../api/names.ts";
import { checkChoice, checkLabel, checkQualified, checkSubdomain, INT32, within } from "../common/formats.ts";
import { textsOf } from "../common/selectors.ts";
import { checkAffinity } from "./affinity.ts";
import { checkContainers, checkEphemeralContainers, checkInitContainers, type Surroundings } from "./containers.ts";
import { checkDns, checkHostNetwork, checkHostnames } from "./network.ts";
import { allContainers, checkPlatform } from "./platform.ts";
import { checkPodTotals } from "./pod-resources.ts";
import { checkOverhead, checkPodResources } from "./resources.ts";
import { checkPodSecurity } from "./security.ts";
import { checkSpread } from "./spread.ts";
import { checkTolerations } from "./tolerations.ts";
import type { Container, PodSpec } from "./types.ts";
import { checkVolumes } from "./volumes.ts";

const NONE: ReadonlySet<string> = new Set();

/** @param meta - Of the pod; a template has none. */
export function checkPodSpec(
  spec: PodSpec,
  meta: ObjectMeta | undefined,
  isPod: boolean,
  field: string,
  errors: FieldErrors,
): void {
  const volumes = checkVolumes(spec.volumes ?? [], meta, isPod, `${field}.volumes`, errors);
  const claims = spec.resourceClaims ? checkClaims(spec.resourceClaims, `${field}.resourceClaims`, errors) : NONE;
  const around: Surroundings = { spec, volumes, claims };
  checkContainers(around, `${field}.containers`, errors);
  checkInitContainers(around, `${field}.initContainers`, errors);
  checkEphemeralContainers(around, `${field}.ephemeralContainers`, errors);
  if (spec.resources) checkWholePod(spec, claims, field, errors);
  checkHostNetwork(spec, isPod, field, errors);
  checkChoice(spec.restartPolicy, ["Always", "OnFailure", "Never"], `${field}.restartPolicy`, errors);
  if (spec.nodeSelector) checkLabels(textsOf(spec.nodeSelector), `${field}.nodeSelector`, errors);
  checkPodSecurity(spec, field, errors);
  if (spec.affinity) checkAffinity(spec.affinity, `${field}.affinity`, errors);
  checkDns(spec, field, errors);
  checkGates(spec, field, errors);
  if (spec.topologySpreadConstraints) {
    checkSpread(spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`, errors);
  }
  checkHostnames(spec, field, errors);
  checkReferences(spec, field, errors);
  const { activeDeadlineSeconds: deadline, tolerations, preemptionPolicy, overhead } = spec;
  if (deadline !== undefined && (deadline < 1 || deadline > INT32)) {
    errors.invalid(`${field}.activeDeadlineSeconds`, deadline, within(1, INT32));
  }
  if (tolerations) checkTolerations(tolerations, `${field}.tolerations`, errors);
  if (preemptionPolicy !== undefined) {
    checkChoice(preemptionPolicy, ["PreemptLowerPriority", "Never"], `${field}.preemptionPolicy`, errors);
  }
  if (overhead) checkOverhead(overhead, `${field}.overhead`, errors);
  checkPlatform(spec, field, errors);
  checkVariableFiles(spec, field, errors);
}

/** What may change of a pod that waits behind a gate. Nothing else depends on it. */
const PLACEMENT: ReadonlySet<string> = new Set(["nodeSelector", "affinity", "schedulingGates", "tolerations"]);

/** Whether two specs differ only in where the pod may go. */
export function differInPlacement(spec: PodSpec, before: PodSpec): boolean {
  const [a, b] = [spec as Record<string, unknown>, before as Record<string, unknown>];
  for (const key in a) if (a[key] !== b[key] && !PLACEMENT.has(key)) return false;
  for (const key in b) if (a[key] === undefined && !PLACEMENT.has(key)) return false;
  return true;
}

/** Whether it makes sense where a pod may go. */
export function checkPlacement(spec: PodSpec, field: string, errors: FieldErrors): void {
  if (spec.nodeSelector) checkLabels(textsOf(spec.nodeSelector), `${field}.nodeSelector`, errors);
  if (spec.affinity) checkAffinity(spec.affinity, `${field}.affinity`, errors);
  checkGates(spec, field, errors);
  if (spec.tolerations) checkTolerations(spec.tolerations, `${field}.tolerations`, errors);
}

function checkGates({ readinessGates, schedulingGates }: PodSpec, field: string, errors: FieldErrors): void {
  for (const [index, { conditionType = "" }] of (readinessGates ?? []).entries()) {
    checkQualified(conditionType, `${field}.readinessGates[${index}].conditionType`, errors);
  }
  if (!schedulingGates) return;
  const seen = new Set<string>();
  for (const [index, { name = "" }] of schedulingGates.entries()) {
    const place = `${field}.schedulingGates[${index}]`;
    checkQualified(name, place, errors);
    if (seen.has(name)) errors.duplicate(place, name);
    seen.add(name);
  }
}

/** Other objects by name. */
const REFERENCES = ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"] as const;

function checkReferences(spec: PodSpec, field: string, errors: FieldErrors): void {
  for (const name of REFERENCES) {
    const value = spec[name];
    if (value || (name === "runtimeClassName" && value !== undefined))
      checkSubdomain(value, `${field}.${name}`, errors);
  }
}

function checkWholePod(spec: PodSpec, claims: ReadonlySet<string>, field: string, errors: FieldErrors): void {
  const place = `${field}.resources`;
  if (spec.os?.name === "windows") {
    errors.forbidden(place, "may not be set for a windows pod");
    return;
  }
  if (spec.resources) checkPodResources(spec.resources, claims, place, errors);
  checkPodTotals(spec, place, errors);
}

/** Claims on devices. Gives their names. */
function checkClaims(
  claims: NonNullable<PodSpec["resourceClaims"]>,
  field: string,
  errors: FieldErrors,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
    const place = `${field}[${index}]`;
    if (name === "") errors.required(`${place}.name`);
    else if (names.has(name)) errors.duplicate(`${place}.name`, name);
    else checkLabel(name, `${place}.name`, errors);
    if (name !== "") names.add(name);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      errors.invalid(place, claim, why);
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.invalid(place, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    if (resourceClaimName !== undefined) checkSubdomain(resourceClaimName, `${place}.resourceClaimName`, errors);
    if (resourceClaimTemplateName !== undefined) {
      checkSubdomain(resourceClaimTemplateName, `${place}.resourceClaimTemplateName`, errors);
    }
  }
  return names;
}

/** Environment variables that stand in files: these must be on a volume of the pod's own. */
function checkVariableFiles(spec: PodSpec, field: string, errors: FieldErrors): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  if (![...containers, ...initContainers, ...ephemeralContainers].some(readsFiles)) return;
  for (const [{ env }, place] of allContainers(spec, field)) {
    for (const [index, { valueFrom }] of (env ?? []).entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName = "" } = valueFrom.fileKeyRef;
      const where = `${place}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const volume = spec.volumes?.findLast(({ name = "" }) => name === volumeName);
      if (!volume) errors.notFound(where, volumeName);
      else if (!volume.emptyDir) {
        errors.invalid(where, volumeName, "referenced volume must be of type emptyDir");
      }
    }
  }
}

function readsFiles({ env }: Pick<Container, "env">): boolean {
  return env?.some(({ valueFrom }) => valueFrom?.fileKeyRef) ?? false;
}
