/** What the API server fills in when a pod, or a template of pods, leaves it out. In place. */
import { own } from "../common/maps.ts";
import { roundResources } from "../common/quantities.ts";
import { isLatest } from "./images.ts";
import { defaultPodResources } from "./pod-resources.ts";
import type { Container, EphemeralContainer, LifecycleHandler, Pod, PodSpec, Probe } from "./types.ts";
import { defaultVolume } from "./volume-defaults.ts";

const INIT_CONTAINER_ANNOTATIONS = [
  "pod.beta.kubernetes.io/init-containers",
  "pod.alpha.kubernetes.io/init-containers",
  "pod.beta.kubernetes.io/init-container-statuses",
  "pod.alpha.kubernetes.io/init-container-statuses",
];

export function defaultPod(pod: Pod): void {
  pod.spec ??= {};
  const { spec, metadata } = pod;
  if (!Object.isFrozen(spec)) completeSpec(spec);
  if (metadata.annotations) {
    for (const key of INIT_CONTAINER_ANNOTATIONS) delete metadata.annotations[key];
  }
}

function completeSpec(spec: PodSpec): void {
  defaultPodSpec(spec);
  for (const container of spec.containers ?? []) requestLimits(container);
  for (const container of spec.initContainers ?? []) requestLimits(container);
  if (spec.resources) defaultPodResources(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) {
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const port of container.ports ?? []) if (port.containerPort) port.hostPort ||= port.containerPort;
    }
  }
  if (spec.terminationGracePeriodSeconds !== undefined && spec.terminationGracePeriodSeconds < 0) {
    spec.terminationGracePeriodSeconds = 1;
  }
}

/** What pods and templates have in common. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.containers ??= [];
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= "default-scheduler";
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
  for (const container of spec.containers) defaultContainer(container);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  roundResources(spec.overhead);
  roundResources(spec.resources?.limits);
  roundResources(spec.resources?.requests);
}

function requestLimits({ resources }: Container): void {
  if (!resources?.limits) return;
  resources.requests ??= {};
  for (const name in resources.limits) {
    if (own(resources.requests, name) === undefined) resources.requests[name] = resources.limits[name] as string;
  }
}

function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ||= isLatest(container.image ?? "") ? "Always" : "IfNotPresent";
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  const { resources, ports, env, lifecycle } = container;
  roundResources(resources?.limits);
  roundResources(resources?.requests);
  if (ports) for (const port of ports) port.protocol ||= "TCP";
  if (env) {
    for (const { valueFrom } of env) {
      if (!valueFrom) continue;
      if (valueFrom.fieldRef) valueFrom.fieldRef.apiVersion ||= "v1";
      if (valueFrom.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
    }
  }
  if (container.livenessProbe) defaultProbe(container.livenessProbe);
  if (container.readinessProbe) defaultProbe(container.readinessProbe);
  if (container.startupProbe) defaultProbe(container.startupProbe);
  if (lifecycle?.postStart) defaultHandler(lifecycle.postStart);
  if (lifecycle?.preStop) defaultHandler(lifecycle.preStop);
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.grpc) probe.grpc.service ??= "";
  defaultHandler(probe);
}

function defaultHandler({ httpGet }: Probe | LifecycleHandler): void {
  if (!httpGet) return;
  httpGet.path ||= "/";
  httpGet.scheme ||= "HTTP";
}
