/** The containers of a pod: those that run, those that run first, and those that somebody adds to look into it. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkChoice, checkLabel, checkOneOf, checkPort, portNameProblems } from "../common/formats.ts";
import { checkVariableSources, checkVariables } from "./env.ts";
import { checkLifecycle, checkProbes } from "./handlers.ts";
import { checkMounts, type Volumes } from "./mounts.ts";
import { checkContainerResources } from "./resources.ts";
import { checkSecurityContext } from "./security.ts";
import type { Container, EphemeralContainer, PodSpec } from "./types.ts";

/** What containers refer to in their pod. */
export interface Surroundings {
  readonly spec: PodSpec;
  readonly volumes: Volumes;
  /** The names of the pod's claims on devices. */
  readonly claims: ReadonlySet<string>;
}

export function checkContainers(around: Surroundings, field: string, errors: FieldErrors): void {
  const { containers = [], terminationGracePeriodSeconds: grace } = around.spec;
  if (containers.length === 0) {
    errors.required(field);
    return;
  }
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const { name = "", lifecycle } = container;
    const place = `${field}[${index}]`;
    checkContainer(container, around, place, errors);
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    names.add(name);
    if (lifecycle) checkLifecycle(lifecycle, grace, `${place}.lifecycle`, errors);
    checkProbes(container, grace, place, errors);
    checkRestart(container, place, errors);
  }
  for (const [index, container] of containers.entries()) {
    if (container.ports) checkHostPorts(container, hostPorts, `${field}[${index}]`, errors);
  }
}

const SIDECARS_ONLY = "may not be set for init containers without restartPolicy=Always";

export function checkInitContainers(around: Surroundings, field: string, errors: FieldErrors): void {
  const { initContainers = [], containers = [], terminationGracePeriodSeconds: grace } = around.spec;
  if (initContainers.length === 0) return;
  const names = new Set(containers.map(({ name = "" }) => name));
  for (const [index, container] of initContainers.entries()) {
    const { name = "", restartPolicy, lifecycle, resizePolicy = [] } = container;
    const place = `${field}[${index}]`;
    checkContainer(container, around, place, errors);
    checkRestart(container, place, errors, true);
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    if (name !== "") names.add(name);
    checkHostPorts(container, new Set(), `${field}[0]`, errors);
    if (restartPolicy === "Always") {
      if (lifecycle) checkLifecycle(lifecycle, grace, `${place}.lifecycle`, errors);
      checkProbes(container, grace, place, errors);
      continue;
    }
    for (const part of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
      if (container[part]) errors.forbidden(`${place}.${part}`, SIDECARS_ONLY);
    }
    for (const [each, policy] of resizePolicy.entries()) {
      if (policy.restartPolicy !== "RestartContainer") continue;
      const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      errors.invalid(`${place}.resizePolicy[${each}].restartPolicy`, policy.restartPolicy, why);
    }
  }
}

/** What somebody who looks into a pod cannot have. */
const NOT_FOR_EPHEMERAL = [
  "ports",
  "resources",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
] as const;
const NOT_EPHEMERAL = "cannot be set for an Ephemeral Container";

export function checkEphemeralContainers(around: Surroundings, field: string, errors: FieldErrors): void {
  const { ephemeralContainers = [], initContainers = [], containers = [] } = around.spec;
  if (ephemeralContainers.length === 0) return;
  const others = new Set([...containers, ...initContainers].map(({ name = "" }) => name));
  const names = new Set(others);
  for (const [index, container] of ephemeralContainers.entries()) {
    const { name = "", targetContainerName, volumeMounts = [] } = container;
    const place = `${field}[${index}]`;
    checkContainer(container, around, place, errors);
    checkImageText(container, place, errors);
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    names.add(name);
    if (targetContainerName && !others.has(targetContainerName)) {
      errors.notFound(`${place}.targetContainerName`, targetContainerName);
    }
    for (const part of NOT_FOR_EPHEMERAL) {
      const value = container[part];
      if (value !== undefined && (part !== "resources" || Object.keys(value).length > 0)) {
        errors.forbidden(`${place}.${part}`, NOT_EPHEMERAL);
      }
    }
    for (const [mount, { subPath, subPathExpr }] of volumeMounts.entries()) {
      if (subPath) errors.forbidden(`${place}.volumeMounts[${mount}].subPath`, NOT_EPHEMERAL);
      if (subPathExpr) errors.forbidden(`${place}.volumeMounts[${mount}].subPathExpr`, NOT_EPHEMERAL);
    }
  }
}

/** Templates may have what pods may not: somebody may still put it right. */
export function checkImageText(
  { image = "" }: Container | EphemeralContainer,
  field: string,
  errors: FieldErrors,
): void {
  if (image.trim().length !== image.length) {
    errors.invalid(`${field}.image`, image, "must not have leading or trailing whitespace");
  }
}

function checkContainer(
  container: Container | EphemeralContainer,
  { spec, volumes, claims }: Surroundings,
  field: string,
  errors: FieldErrors,
): void {
  const { name, image, ports, env, envFrom, resources, resizePolicy, securityContext } = container;
  if (!name) errors.required(`${field}.name`);
  else checkLabel(name, `${field}.name`, errors);
  if (!image) errors.required(`${field}.image`);
  const { terminationMessagePolicy, imagePullPolicy } = container;
  if (terminationMessagePolicy !== "File") {
    const place = `${field}.terminationMessagePolicy`;
    checkChoice(terminationMessagePolicy, ["File", "FallbackToLogsOnError"], place, errors);
  }
  if (ports) checkPorts(ports, `${field}.ports`, errors);
  if (env) checkVariables(env, `${field}.env`, errors);
  if (envFrom) checkVariableSources(envFrom, `${field}.envFrom`, errors);
  checkMounts(container as Container, volumes, field, errors);
  if (imagePullPolicy !== "IfNotPresent") {
    checkChoice(imagePullPolicy, ["Always", "IfNotPresent", "Never"], `${field}.imagePullPolicy`, errors);
  }
  if (resources) checkContainerResources(resources, claims, `${field}.resources`, errors);
  if (resizePolicy) checkResizePolicy(resizePolicy, spec.restartPolicy, `${field}.resizePolicy`, errors);
  if (securityContext) {
    checkSecurityContext(securityContext, spec.hostUsers !== false, `${field}.securityContext`, errors);
  }
}

function checkPorts(ports: NonNullable<Container["ports"]>, field: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol }] of ports.entries()) {
    const place = `${field}[${index}]`;
    if (name) {
      const problems = portNameProblems(name);
      for (const problem of problems) errors.invalid(`${place}.name`, name, problem);
      if (problems.length === 0) {
        if (names.has(name)) errors.duplicate(`${place}.name`, name);
        names.add(name);
      }
    }
    if (!containerPort) errors.required(`${place}.containerPort`);
    else checkPort(containerPort, `${place}.containerPort`, errors);
    if (hostPort) checkPort(hostPort, `${place}.hostPort`, errors);
    checkChoice(protocol, ["SCTP", "TCP", "UDP"], `${place}.protocol`, errors);
  }
}

function checkHostPorts({ ports = [] }: Container, taken: Set<string>, field: string, errors: FieldErrors): void {
  for (const [index, { hostPort, protocol = "", hostIP = "" }] of ports.entries()) {
    if (!hostPort) continue;
    const port = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(port)) errors.duplicate(`${field}.ports[${index}].hostPort`, port);
    taken.add(port);
  }
}

function checkResizePolicy(
  policies: NonNullable<Container["resizePolicy"]>,
  podPolicy: string | undefined,
  field: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (seen.has(resourceName)) errors.duplicate(`${field}[${index}]`, resourceName);
    seen.add(resourceName);
    checkChoice(resourceName, ["cpu", "memory"], field, errors);
    checkChoice(restartPolicy, ["NotRequired", "RestartContainer"], field, errors);
    if (podPolicy === "Never" && restartPolicy !== "NotRequired") {
      const why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.invalid(field, restartPolicy, why);
    }
  }
}

/** When a container is started again, if not as its pod says. */
function checkRestart(
  { restartPolicy, restartPolicyRules: rules }: Container,
  field: string,
  errors: FieldErrors,
  runsFirst = false,
): void {
  if (restartPolicy === undefined && !rules?.length) return;
  if (restartPolicy === undefined) {
    errors.required(`${field}.restartPolicy`, "must specify restartPolicy when restart rules are used");
    if (runsFirst) return;
  } else checkOneOf(restartPolicy, ["Always", "Never", "OnFailure"], `${field}.restartPolicy`, errors);
  if (!rules) return;
  if (rules.length > 20) errors.tooMany(`${field}.restartPolicyRules`, rules.length, 20);
  for (const [index, { action, exitCodes }] of rules.entries()) {
    const place = `${field}.restartPolicyRules[${index}]`;
    checkOneOf(action, ["Restart", "RestartAllContainers"], `${place}.action`, errors);
    if (!exitCodes) {
      errors.required(`${place}.exitCodes`, "must be specified");
      continue;
    }
    checkOneOf(exitCodes.operator, ["In", "NotIn"], `${place}.exitCodes.operator`, errors);
    const count = exitCodes.values?.length ?? 0;
    if (count > 255) errors.tooMany(`${place}.exitCodes.values`, count, 255);
  }
}
