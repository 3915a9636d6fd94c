/** What goes only with some operating systems, or only with users of the pod's own. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Container, EphemeralContainer, PodSpec } from "./types.ts";

const NOT_ON_WINDOWS_PODS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
] as const;
/** In these "no" is an answer too. */
const NOT_ON_WINDOWS_AT_ALL = ["hostUsers", "shareProcessNamespace"] as const;
const NOT_ON_WINDOWS = ["hostPID", "hostIPC"] as const;
const NOT_ON_WINDOWS_CONTAINERS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;

export function checkPlatform(spec: PodSpec, field: string, errors: FieldErrors): void {
  checkHostProcesses(spec, field, errors);
  checkOwnUsers(spec, field, errors);
  if (!spec.os) return;
  const { name } = spec.os;
  if (!name) errors.required(`${field}.os.name`);
  else if (name !== "linux" && name !== "windows") errors.notSupported(`${field}.os`, name, ["linux", "windows"]);
  else if (name === "linux") checkLinux(spec, field, errors);
  else checkWindows(spec, field, errors);
}

function checkLinux(spec: PodSpec, field: string, errors: FieldErrors): void {
  const why = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions) errors.forbidden(`${field}.securityContext.windowsOptions`, why);
  for (const [container, place] of allContainers(spec, field)) {
    if (container.securityContext?.windowsOptions) errors.forbidden(`${place}.securityContext.windowsOptions`, why);
  }
}

function checkWindows(spec: PodSpec, field: string, errors: FieldErrors): void {
  const why = "cannot be set for a windows pod";
  const context = spec.securityContext ?? {};
  for (const name of NOT_ON_WINDOWS_PODS) {
    if (context[name] !== undefined) errors.forbidden(`${field}.securityContext.${name}`, why);
  }
  for (const name of NOT_ON_WINDOWS_AT_ALL) if (spec[name] !== undefined) errors.forbidden(`${field}.${name}`, why);
  for (const name of NOT_ON_WINDOWS) if (spec[name]) errors.forbidden(`${field}.${name}`, why);
  for (const [{ securityContext = {} }, place] of allContainers(spec, field)) {
    for (const name of NOT_ON_WINDOWS_CONTAINERS) {
      if (securityContext[name] !== undefined) errors.forbidden(`${place}.securityContext.${name}`, why);
    }
  }
}

/** Containers that are processes of a Windows node. */
function checkHostProcesses(spec: PodSpec, field: string, errors: FieldErrors): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let [all, onHost] = [0, 0];
  for (const [{ securityContext }, place] of allContainers(spec, field)) {
    const own = securityContext?.windowsOptions?.hostProcess;
    all++;
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.invalid(`${place}.securityContext.windowsOptions.hostProcess`, own, why);
    }
    if (own ?? ofPod) onHost++;
  }
  if (onHost === 0) return;
  if (onHost !== all) {
    const why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.invalid(field, "", why);
  }
  if (!spec.hostNetwork) {
    const why = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.invalid(`${field}.hostNetwork`, false, why);
  }
}

function checkOwnUsers(spec: PodSpec, field: string, errors: FieldErrors): void {
  if (spec.hostUsers !== false) return;
  const why = "when `hostUsers` is false";
  if (spec.hostNetwork) errors.forbidden(`${field}.hostNetwork`, why);
  if (spec.hostPID) errors.forbidden(`${field}.HostPID`, why);
  if (spec.hostIPC) errors.forbidden(`${field}.HostIPC`, why);
  for (const [{ volumeDevices }, place] of allContainers(spec, field)) {
    if (volumeDevices?.length) errors.forbidden(`${place}.volumeDevices`, why);
  }
}

/** All containers of a pod, each with its place. */
export function* allContainers(
  { initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec,
  field: string,
): Generator<[container: Container | EphemeralContainer, place: string]> {
  for (const [index, each] of initContainers.entries()) yield [each, `${field}.initContainers[${index}]`];
  for (const [index, each] of containers.entries()) yield [each, `${field}.containers[${index}]`];
  for (const [index, each] of ephemeralContainers.entries()) yield [each, `${field}.ephemeralContainers[${index}]`];
}
