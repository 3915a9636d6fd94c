/** Environment variables of containers: whether they make sense. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabel, checkQualified, checkSubdomain, configKeyProblems, variableProblems } from "../common/formats.ts";
import { checkNoBacksteps } from "../common/paths.ts";
import { quantityOf } from "../common/quantities.ts";
import type { Container } from "./types.ts";

type Variable = NonNullable<Container["env"]>[number];
type VariableSource = NonNullable<Variable["valueFrom"]>;
type FieldRef = NonNullable<VariableSource["fieldRef"]>;
type ResourceFieldRef = NonNullable<VariableSource["resourceFieldRef"]>;
type KeyRef = NonNullable<VariableSource["configMapKeyRef"]>;

const FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** Fields of a pod that have a name at all; which of them can be used depends on where. */
const NAMED_FIELDS = new Set([
  ...FIELDS,
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);
const RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

export function checkVariables(variables: readonly Variable[], field: string, errors: FieldErrors): void {
  for (const [index, { name = "", value, valueFrom }] of variables.entries()) {
    if (name === "") errors.required(`${field}[${index}].name`);
    else for (const problem of variableProblems(name)) errors.invalid(`${field}[${index}].name`, name, problem);
    if (valueFrom) checkSource(valueFrom, value, `${field}[${index}].valueFrom`, errors);
  }
}

function checkSource(source: VariableSource, value: string | undefined, field: string, errors: FieldErrors): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (fieldRef) checkFieldRef(fieldRef, FIELDS, `${field}.fieldRef`, errors);
  if (resourceFieldRef) checkResourceFieldRef(resourceFieldRef, `${field}.resourceFieldRef`, errors);
  if (configMapKeyRef) checkKeyRef(configMapKeyRef, `${field}.configMapKeyRef`, errors);
  if (secretKeyRef) checkKeyRef(secretKeyRef, `${field}.secretKeyRef`, errors);
  if (fileKeyRef) {
    const { key = "", volumeName = "", path = "" } = fileKeyRef;
    const place = `${field}.fileKeyRef`;
    if (key === "") errors.required(`${place}.key`);
    else for (const problem of variableProblems(key)) errors.invalid(`${place}.key`, key, problem);
    if (volumeName === "") errors.required(`${place}.volumeName`);
    else checkLabel(volumeName, `${place}.volumeName`, errors);
    if (path === "") errors.required(`${place}.path`);
    else checkNoBacksteps(path, `${place}.path`, errors);
  }
  if (sources === 0) {
    const choice = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.invalid(field, "", `must specify one of: ${choice}`);
  } else if (value) errors.invalid(field, "", "may not be specified when `value` is not empty");
  else if (sources > 1) errors.invalid(field, "", "may not have more than one field specified at a time");
}

const SUBSCRIPT = /^(.+?)\['(.*)'\]$/s;

/** A field of the pod that a container wants to know. */
export function checkFieldRef(
  { apiVersion = "", fieldPath = "" }: FieldRef,
  supported: readonly string[],
  field: string,
  errors: FieldErrors,
): void {
  if (apiVersion === "") {
    errors.required(`${field}.apiVersion`);
    return;
  }
  if (fieldPath === "") {
    errors.required(`${field}.fieldPath`);
    return;
  }
  const wrong = (why: string) => errors.invalid(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion !== "v1") {
    wrong(`unsupported pod version: ${apiVersion}`);
    return;
  }
  const [, path = "", key = ""] = SUBSCRIPT.exec(fieldPath) ?? [];
  if (path !== "") {
    if (path === "metadata.annotations") checkQualified(key.toLowerCase(), field, errors);
    else if (path === "metadata.labels") checkQualified(key, field, errors);
    else wrong(`field label does not support subscript: ${fieldPath}`);
    return;
  }
  const known = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  if (!NAMED_FIELDS.has(known)) {
    wrong(`field label not supported: ${fieldPath}`);
    return;
  }
  if (!supported.includes(known)) errors.notSupported(`${field}.fieldPath`, known, supported);
}

const BYTES = ["1", ..."kMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => (unit === "1" ? "1" : `1${unit}`));

/** What a container is given, that it wants to know. @param ofOthers - Whether a container has to be named. */
export function checkResourceFieldRef(
  { containerName = "", resource = "", divisor = "0" }: ResourceFieldRef,
  field: string,
  errors: FieldErrors,
  ofOthers = false,
): void {
  const isPages = resource.startsWith("requests.hugepages-") || resource.startsWith("limits.hugepages-");
  if (ofOthers && containerName === "") errors.required(`${field}.containerName`);
  else if (resource === "") errors.required(`${field}.resource`);
  else if (!RESOURCES.includes(resource) && !isPages) errors.notSupported(`${field}.resource`, resource, RESOURCES);
  if (quantityOf(divisor).isZero) return;
  const name = resource.slice(resource.indexOf(".") + 1);
  if (name === "cpu" && resource.includes(".") && divisor !== "1" && divisor !== "1m") {
    const why = "only divisor's values 1m and 1 are supported with the cpu resource";
    errors.invalid(`${field}.divisor`, resource, why);
  }
  if ((RESOURCES.includes(resource) && name !== "cpu") || isPages) {
    if (BYTES.includes(divisor)) return;
    const kind = name === "memory" ? "memory" : isPages ? "hugepages" : "local ephemeral storage";
    const why = `only divisor's values ${BYTES.join(", ")} are supported with the ${kind} resource`;
    errors.invalid(`${field}.divisor`, resource, why);
  }
}

function checkKeyRef({ name = "", key = "" }: KeyRef, field: string, errors: FieldErrors): void {
  checkSubdomain(name, `${field}.name`, errors);
  if (key === "") errors.required(`${field}.key`);
  else for (const problem of configKeyProblems(key)) errors.invalid(`${field}.key`, key, problem);
}

/** Whole ConfigMaps and Secrets that become environment variables. */
export function checkVariableSources(
  sources: NonNullable<Container["envFrom"]>,
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { prefix, configMapRef, secretRef }] of sources.entries()) {
    const place = `${field}[${index}]`;
    if (prefix) {
      for (const problem of variableProblems(prefix)) errors.invalid(`${place}.prefix`, prefix, problem);
    }
    for (const [name, ref] of [
      ["configMapRef", configMapRef],
      ["secretRef", secretRef],
    ] as const) {
      if (!ref) continue;
      if (!ref.name) errors.required(`${place}.${name}.name`);
      // The name may be the beginning of one.
      else checkSubdomain(ref.name.replace(/-$/, "a"), `${place}.${name}.name`, errors);
    }
    if (!configMapRef && !secretRef) errors.invalid(field, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (configMapRef && secretRef) {
      errors.invalid(field, "", "may not have more than one field specified at a time");
    }
  }
}
