/** What containers and pods may do on their node: whether what they ask for makes sense. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkOneOf, checkSubdomain, INT32, within } from "../common/formats.ts";
import { checkDescendingPath } from "../common/paths.ts";
import type { PodSecurityContext, PodSpec, SecurityContext } from "./types.ts";

type Profile = { type?: string; localhostProfile?: string };

const PROFILES = ["Localhost", "RuntimeDefault", "Unconfined"];

/** @param hostUsers - Whether users in the container are those of the node. */
export function checkSecurityContext(
  context: SecurityContext,
  hostUsers: boolean,
  field: string,
  errors: FieldErrors,
): void {
  const { runAsUser, runAsGroup, procMount, seccompProfile, appArmorProfile, capabilities } = context;
  checkId(runAsUser, `${field}.runAsUser`, errors);
  checkId(runAsGroup, `${field}.runAsGroup`, errors);
  if (procMount !== undefined) {
    checkOneOf(procMount, ["Default", "Unmasked"], `${field}.procMount`, errors);
    if (hostUsers && procMount === "Unmasked") {
      errors.invalid(`${field}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`");
    }
  }
  checkSeccomp(seccompProfile, `${field}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) {
    const cannot = "cannot set `allowPrivilegeEscalation` to false and";
    if (context.privileged) errors.invalid(field, context, `${cannot} \`privileged\` to true`);
    if (capabilities?.add?.includes("CAP_SYS_ADMIN")) {
      errors.invalid(field, context, `${cannot} \`capabilities.Add\` CAP_SYS_ADMIN`);
    }
  }
  checkAppArmor(appArmorProfile, `${field}.appArmorProfile`, errors);
  checkWindowsOptions(context.windowsOptions, `${field}.windowsOptions`, errors);
}

export function checkPodSecurity(spec: PodSpec, field: string, errors: FieldErrors): void {
  const context = spec.securityContext;
  if (!context) return;
  const place = `${field}.securityContext`;
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [], sysctls } = context;
  checkId(fsGroup, `${place}.fsGroup`, errors);
  checkId(runAsUser, `${place}.runAsUser`, errors);
  checkId(runAsGroup, `${place}.runAsGroup`, errors);
  for (const [index, id] of supplementalGroups.entries()) checkId(id, `${place}.supplementalGroups[${index}]`, errors);
  if (spec.shareProcessNamespace && spec.hostPID) {
    const why = "ShareProcessNamespace and HostPID cannot both be enabled";
    errors.invalid(`${place}.shareProcessNamespace`, true, why);
  }
  if (sysctls?.length) checkSysctls(sysctls, spec, `${place}.sysctls`, errors);
  checkPolicies(context, place, errors);
  checkSeccomp(context.seccompProfile, `${place}.seccompProfile`, errors);
  checkAppArmor(context.appArmorProfile, `${place}.appArmorProfile`, errors);
  checkWindowsOptions(context.windowsOptions, `${place}.windowsOptions`, errors);
}

const POLICIES = {
  fsGroupChangePolicy: ["Always", "OnRootMismatch"],
  supplementalGroupsPolicy: ["Merge", "Strict"],
  seLinuxChangePolicy: ["MountOption", "Recursive"],
} as const;

function checkPolicies(context: PodSecurityContext, field: string, errors: FieldErrors): void {
  for (const name of ["fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy"] as const) {
    if (context[name] !== undefined) checkOneOf(context[name], POLICIES[name], `${field}.${name}`, errors);
  }
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_WORDS =
  "must have at most 253 characters and match regex " +
  "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const IPC_SYSCTLS = /^(kernel\.(sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)$|fs\.mqueue\.)/;

function checkSysctls(
  sysctls: NonNullable<PodSecurityContext["sysctls"]>,
  { hostNetwork, hostIPC }: PodSpec,
  field: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of sysctls.entries()) {
    const place = `${field}[${index}].name`;
    if (name === "") errors.required(place);
    else if (name.length > 253 || !SYSCTL.test(name)) errors.invalid(place, name, SYSCTL_WORDS);
    else if (seen.has(name)) errors.duplicate(place, name);
    seen.add(name);
    const dotted = name.includes("/") && !name.includes(".") ? name.replaceAll("/", ".") : name;
    if (hostNetwork && dotted.startsWith("net.")) {
      errors.invalid(place, name, "may not be specified when 'hostNetwork' is true");
    } else if (hostIPC && IPC_SYSCTLS.test(dotted)) {
      errors.invalid(place, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

function checkId(id: number | undefined, field: string, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > INT32)) errors.invalid(field, id, within(0, INT32));
}

function checkSeccomp(profile: Profile | undefined, field: string, errors: FieldErrors): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  if (!type) errors.required(`${field}.type`, "type is required when seccompProfile is set");
  else checkOneOf(type, PROFILES, `${field}.type`, errors);
  const place = `${field}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile !== undefined) {
      errors.invalid(place, profile, "can only be set when seccomp type is Localhost");
    }
  } else if (localhostProfile === undefined) errors.required(place, "must be set when seccomp type is Localhost");
  else checkDescendingPath(localhostProfile, place, errors);
}

function checkAppArmor(profile: Profile | undefined, field: string, errors: FieldErrors): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  const place = `${field}.localhostProfile`;
  if (!type) errors.required(`${field}.type`, "type is required when appArmorProfile is set");
  else if (!PROFILES.includes(type)) errors.notSupported(`${field}.type`, type, PROFILES);
  else if (type !== "Localhost") {
    if (localhostProfile !== undefined) {
      errors.invalid(place, localhostProfile, "can only be set when AppArmor type is Localhost");
    }
  } else if (!localhostProfile) errors.required(place, "must be set when AppArmor type is Localhost");
  else {
    if (localhostProfile.trim() !== localhostProfile) {
      errors.invalid(place, localhostProfile, "must not be padded with whitespace");
    }
    if (localhostProfile.length > 4095) errors.tooLong(place, 4095);
  }
}

const LARGEST_CREDENTIALS = 64 * 1024;

/** As whom processes run on Windows; names of users there are taken as they come, if they are not empty. */
function checkWindowsOptions(options: SecurityContext["windowsOptions"], field: string, errors: FieldErrors): void {
  if (!options) return;
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  if (name !== undefined) checkSubdomain(name, `${field}.gmsaCredentialSpecName`, errors);
  if (spec === "") errors.invalid(`${field}.gmsaCredentialSpec`, spec, "gmsaCredentialSpec cannot be an empty string");
  else if (spec !== undefined && spec.length > LARGEST_CREDENTIALS) {
    errors.invalid(`${field}.gmsaCredentialSpec`, spec, "gmsaCredentialSpec size must be under 64 KiB");
  }
  if (user === "") errors.invalid(`${field}.runAsUserName`, user, "runAsUserName cannot be an empty string");
}
