/** Annotations of pods that mean something to the API server. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { INT32 } from "../common/formats.ts";
import { checkDescendingPath } from "../common/paths.ts";
import type { PodSpec } from "./types.ts";

type Annotations = Readonly<Record<string, string>>;

const MIRROR = "kubernetes.io/config.mirror";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
/** What the server looks at ends like this, or is in this list; most annotations are nobody's business here. */
const OURS = "kubernetes.io/";

const WHOLE_NUMBER = /^(0|[1-9][0-9]*|-[0-9]+)$/;

export function checkAnnotationValues(
  annotations: Annotations | undefined,
  spec: PodSpec,
  field: string,
  errors: FieldErrors,
): void {
  for (const key in annotations) {
    if (!key.includes(OURS)) continue;
    const value = annotations[key] as string;
    if (key === MIRROR && !spec.nodeName) {
      errors.invalid(`${field}[${key}]`, value, "must set spec.nodeName if mirror pod annotation is set");
    } else if (key === DELETION_COST && !isCost(value)) {
      errors.invalid(`${field}[${key}]`, value, "must be a 32bit integer");
    } else if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) {
      checkSeccompValue(value, `${field}.${key}`, errors);
    } else if (key.startsWith(APP_ARMOR)) {
      const container = key.slice(APP_ARMOR.length);
      if (!containerNames(spec).includes(container)) {
        errors.invalid(`${field}[${key}]`, container, "container not found");
      }
      if (!isAppArmorValue(value)) {
        errors.invalid(`${field}[${key}]`, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`);
      }
    }
  }
}

/** Some can be given only when the pod begins. */
export function checkAnnotationChanges(
  after: Annotations = {},
  before: Annotations = {},
  field: string,
  errors: FieldErrors,
): void {
  if (after === before) return;
  for (const key in before) {
    if (!key.includes(OURS) || (Object.hasOwn(after, key) && after[key] === before[key])) continue;
    if (key.startsWith(APP_ARMOR)) {
      errors.forbidden(`${field}[${key}]`, "may not remove or update AppArmor annotations");
    }
    if (key === MIRROR) errors.forbidden(`${field}[${key}]`, "may not remove or update mirror pod annotation");
  }
  for (const key in after) {
    if (!key.includes(OURS) || Object.hasOwn(before, key)) continue;
    if (key.startsWith(APP_ARMOR)) errors.forbidden(`${field}[${key}]`, "may not add AppArmor annotations");
    if (key === MIRROR) errors.forbidden(`${field}[${key}]`, "may not add mirror pod annotation");
  }
}

function isCost(value: string): boolean {
  return WHOLE_NUMBER.test(value) && Number(value) <= INT32 && Number(value) >= -INT32 - 1;
}

function checkSeccompValue(value: string, field: string, errors: FieldErrors): void {
  if (value === "runtime/default" || value === "docker/default" || value === "unconfined") return;
  if (value.startsWith("localhost/")) checkDescendingPath(value.slice("localhost/".length), field, errors);
  else errors.invalid(field, value, "must be a valid seccomp profile");
}

function isAppArmorValue(value: string): boolean {
  return value === "" || value === "runtime/default" || value === "unconfined" || value.startsWith("localhost/");
}

function containerNames({ containers = [], initContainers = [], ephemeralContainers = [] }: PodSpec): string[] {
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name = "" }) => name);
}
