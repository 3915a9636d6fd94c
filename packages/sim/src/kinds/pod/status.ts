/** What may be written to the status of a pod. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkAddress, isDualStack } from "../common/addresses.ts";
import { checkQualified, checkSubdomain } from "../common/formats.ts";
import { checkAnnotationChanges, checkAnnotationValues } from "./annotations.ts";
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from "./types.ts";

/** What the server keeps, or completes, whatever a client says. */
export function keepStatus(pod: Pod, before: Pod): void {
  pod.status ??= {};
  const { status } = pod;
  const { status: old = {} } = before;
  const { ownerReferences } = before.metadata;
  if (ownerReferences) pod.metadata.ownerReferences = ownerReferences;
  else delete pod.metadata.ownerReferences;
  if (!status.qosClass && old.qosClass) status.qosClass = old.qosClass;
  completeAddresses(status);
  keepGenerations(status, old);
}

/** Either form of the addresses will do, and both are shown. */
function completeAddresses(status: PodStatus): void {
  const { podIP, podIPs } = status;
  if (podIP && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (!podIP && podIPs?.[0]?.ip) status.podIP = podIPs[0].ip;
}

/** Whoever does not say which generation it has seen leaves what was said. */
function keepGenerations(status: PodStatus, old: PodStatus): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
  if (!status.conditions || !old.conditions) return;
  const used = new Set<object>();
  for (const condition of status.conditions) {
    const twin = old.conditions.find((each) => each.type === condition.type && !used.has(each));
    if (!twin) continue;
    used.add(twin);
    if (!condition.observedGeneration && twin.observedGeneration) {
      condition.observedGeneration = twin.observedGeneration;
    }
  }
}

const SYSTEM_CONDITIONS = new Set(["PodScheduled", "Ready", "Initialized"]);

export function checkStatus(pod: Pod, before: Pod, errors: FieldErrors): void {
  const { status = {}, spec = {}, metadata } = pod;
  const { status: old = {} } = before;
  checkAnnotationChanges(metadata.annotations, before.metadata.annotations, "metadata.annotations", errors);
  if (metadata.annotations !== before.metadata.annotations) {
    checkAnnotationValues(metadata.annotations, spec, "metadata.annotations", errors);
  }
  for (const [index, { type = "", observedGeneration = 0 }] of (status.conditions ?? []).entries()) {
    if (observedGeneration < 0) {
      const place = `status.conditions[${index}].observedGeneration`;
      errors.invalid(place, observedGeneration, "must be a non-negative integer");
    }
    if (!SYSTEM_CONDITIONS.has(type)) checkQualified(type, `status.conditions[${index}].Type`, errors);
  }
  const { nominatedNodeName = "" } = status;
  if (nominatedNodeName !== "" && nominatedNodeName !== (old.nominatedNodeName ?? "")) {
    checkSubdomain(nominatedNodeName, "status.nominatedNodeName", errors);
    if (spec.nodeName) {
      errors.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node");
    }
  }
  if ((status.observedGeneration ?? 0) < 0) {
    const why = "must be a non-negative integer";
    errors.invalid("status.observedGeneration", status.observedGeneration, why);
  }
  if ((status.qosClass ?? "") !== (old.qosClass ?? "")) {
    errors.invalid("status.qosClass", status.qosClass ?? "", "field is immutable");
  }
  checkTransitions(status, old, spec, errors);
  checkAddresses(status, old, errors);
}

function checkAddresses(status: PodStatus, old: PodStatus, errors: FieldErrors): void {
  for (const name of ["podIPs", "hostIPs"] as const) {
    const list = status[name];
    if (!list || list === old[name]) continue;
    const ips = list.map(({ ip = "" }) => ip);
    if (name === "hostIPs" && ips.length > 0 && ips[0] !== (status.hostIP ?? "")) {
      errors.invalid("status.hostIPs[0].ip", ips[0], "must be equal to `hostIP`");
    }
    const known = old[name]?.map(({ ip }) => ip) ?? [];
    for (const [index, ip] of ips.entries()) checkAddress(ip, `status.${name}[${index}]`, errors, known);
    if (ips.length > 1 && !isDualStack(ips)) {
      errors.invalid(`status.${name}`, list, "may specify no more than one IP for each IP family");
    }
  }
}

/** What has ended and will not be started again stays ended. */
function checkTransitions(status: PodStatus, old: PodStatus, spec: PodSpec, errors: FieldErrors): void {
  const { containers = [], initContainers = [], restartPolicy } = spec;
  if (hasRestartAll([...containers, ...initContainers])) return;
  check(status.containerStatuses, old.containerStatuses, "containerStatuses", containers);
  check(status.initContainerStatuses, old.initContainerStatuses, "initContainerStatuses", initContainers);
  check(status.ephemeralContainerStatuses, old.ephemeralContainerStatuses, "ephemeralContainerStatuses", []);

  function check(
    after: readonly ContainerStatus[] = [],
    before: readonly ContainerStatus[] = [],
    list: string,
    declared: readonly Container[],
  ): void {
    if (after === before) return;
    for (const [index, { name, state }] of before.entries()) {
      if (!state?.terminated) continue;
      const now = after.find((each) => each.name === name);
      if (!now || now.state?.terminated) continue;
      const container = declared.find((each) => each.name === name);
      if (container && restarts(container, restartPolicy, state.terminated.exitCode ?? 0)) continue;
      const why = "may not be transitioned to non-terminated state";
      errors.forbidden(`status.${list}[${index}].state`, why);
    }
  }
}

function hasRestartAll(containers: readonly Container[]): boolean {
  return containers.some((each) => each.restartPolicyRules?.some(({ action }) => action === "RestartAllContainers"));
}

/** Whether a container that has ended with a code is started again. */
export function restarts(container: Container, podPolicy: string | undefined, code: number): boolean {
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    const listed = exitCodes?.values?.includes(code) ?? false;
    if ((exitCodes?.operator === "In") === listed) return action === "Restart";
  }
  const policy = container.restartPolicy ?? podPolicy;
  return policy === "Always" || (policy === "OnFailure" && code !== 0);
}
