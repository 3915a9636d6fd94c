/** How a pod begins: what the server notes on it, and whether it may be. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { WriteContext } from "../../api/resource.ts";
import { checkAnnotationValues } from "./annotations.ts";
import { checkImageText } from "./containers.ts";
import { allContainers } from "./platform.ts";
import { qosClass } from "./qos.ts";
import { checkPodSpec } from "./spec.ts";
import { mergeLabelKeys } from "./spread.ts";
import type { Container, Pod, PodSpec } from "./types.ts";

export function beginPod(pod: Pod, { time }: Pick<WriteContext, "time">): void {
  pod.spec ??= {};
  const { spec, metadata } = pod;
  dropUnserved(spec);
  // The real server believes who says so, once.
  pod.status = { phase: "Pending", qosClass: pod.status?.qosClass || qosClass(spec) };
  if (spec.schedulingGates?.length) {
    const message = "Scheduling is blocked due to non-empty scheduling gates";
    const reason = "SchedulingGated";
    pod.status.conditions = [{ type: "PodScheduled", status: "False", reason, message, lastTransitionTime: time }];
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    mergeLabelKeys(constraint.labelSelector, constraint.matchLabelKeys, [], metadata.labels);
  }
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  for (const affinity of [podAffinity, podAntiAffinity]) {
    if (!affinity) continue;
    const terms = [
      ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) => each.podAffinityTerm ?? {}),
    ];
    for (const { labelSelector, matchLabelKeys, mismatchLabelKeys } of terms) {
      mergeLabelKeys(labelSelector, matchLabelKeys, mismatchLabelKeys, metadata.labels);
    }
  }
}

/** Fields that the API knows, for features that are switched off. */
export function dropUnserved(spec: PodSpec): void {
  if ("schedulingGroup" in spec) delete spec.schedulingGroup;
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      delete source.clusterTrustBundle;
      delete source.podCertificate;
    }
  }
  const containers: Container[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const container of containers) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (!lifecycle.preStop && !lifecycle.postStart) delete container.lifecycle;
  }
}

export function checkNewPod(pod: Pod, errors: FieldErrors): void {
  checkPod(pod, errors);
  const { spec = {}, metadata } = pod;
  if (spec.ephemeralContainers?.length) errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (spec.nodeName && spec.schedulingGates?.length) {
    errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
  if (metadata.annotations) checkProfiles(metadata.annotations, spec, "spec", errors);
}

/** What must be true of any pod, new or changed. */
export function checkPod({ spec = {}, metadata }: Pod, errors: FieldErrors): void {
  checkAnnotationValues(metadata.annotations, spec, "metadata.annotations", errors);
  checkPodSpec(spec, metadata, true, "spec", errors);
  if (!spec.serviceAccountName) {
    for (const [index, { projected }] of (spec.volumes ?? []).entries()) {
      for (const [each, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
        if (!serviceAccountToken) continue;
        const place = `spec.volumes[${index}].projected.sources[${each}].serviceAccountToken`;
        errors.forbidden(place, "must not be specified when serviceAccountName is not set");
      }
    }
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    checkImageText(container, `spec.containers[${index}]`, errors);
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    checkImageText(container, `spec.initContainers[${index}]`, errors);
  }
}

/** How profiles were given before there were fields for them. Both must say the same. */
const OLD_WORDS: Readonly<Record<string, readonly string[]>> = {
  Unconfined: ["unconfined"],
  RuntimeDefault: ["runtime/default", "docker/default"],
};
const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";

export function checkProfiles(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  field: string,
  errors: FieldErrors,
): void {
  if (!Object.keys(annotations).some((key) => key.includes("seccomp.security") || key.startsWith(APP_ARMOR))) return;
  const compare = (key: string, profile: { type?: string; localhostProfile?: string } | undefined, place: string) => {
    if (!profile?.type || !Object.hasOwn(annotations, key)) return;
    const what = key.startsWith(APP_ARMOR) ? "apparmor" : "seccomp";
    const value = annotations[key] as string;
    const isLocal = value.startsWith("localhost/");
    if (profile.type === "Localhost" ? !isLocal : !OLD_WORDS[profile.type]?.includes(value)) {
      errors.forbidden(`${place}.type`, `${what} type in annotation and field must match`);
    } else if (profile.type === "Localhost" && value.slice("localhost/".length) !== profile.localhostProfile) {
      errors.forbidden(`${place}.localhostProfile`, `${what} profile in annotation and field must match`);
    }
  };
  const ofPod = spec.securityContext;
  compare(SECCOMP_POD, ofPod?.seccompProfile, `${field}.securityContext.seccompProfile`);
  for (const [{ name = "", securityContext }, place] of allContainers(spec, field)) {
    compare(SECCOMP_CONTAINER + name, securityContext?.seccompProfile, `${place}.securityContext.seccompProfile`);
    const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile;
    compare(APP_ARMOR + name, profile, `${place}.securityContext.appArmorProfile`);
  }
}
