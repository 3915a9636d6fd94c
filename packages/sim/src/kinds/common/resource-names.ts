/** What can be asked for, limited and counted: the names of resources. Pure. */

import type { FieldErrors } from "../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../api/names.ts";
import { isPositiveMultiple } from "./quantities.ts";

const HUGE_PAGES = "hugepages-";
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const COUNTED = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const QUOTA = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  ...COUNTED,
  "requests.storage",
]);
const STANDARD = new Set([...QUOTA, "storage"]);
const WHOLE = new Set(COUNTED);

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Not somebody's own, like "example.org/gpu". */
export function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Somebody's own: "example.org/gpu". */
export function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith("requests.")) return false;
  return qualifiedNameProblems(`requests.${name}`).length === 0;
}

/** Whether more may be promised than there is. */
export function allowsOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

/** Whether there are no halves of it. */
export function isWhole(name: string): boolean {
  return WHOLE.has(name) || isExtended(name);
}

/** What a quota can limit, of the resources that are Kubernetes' own. */
export function isQuotaName(name: string): boolean {
  return QUOTA.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);
}

/** Whether the name is good; whoever asks for more asks then. */
export function checkResourceName(name: string, field: string, errors: FieldErrors): boolean {
  const problems = qualifiedNameProblems(name);
  for (const problem of problems) errors.invalid(field, name, problem);
  if (problems.length > 0) return false;
  if (name.includes("/") || STANDARD.has(name) || isQuotaName(name)) return true;
  errors.invalid(field, name, "must be a standard resource type or fully qualified");
  return false;
}

/** A resource that a container can have. */
export function checkContainerResourceName(name: string, field: string, errors: FieldErrors): void {
  if (name === "cpu" || name === "memory") return;
  checkResourceName(name, field, errors);
  if (!name.includes("/")) {
    if (!COMPUTE.includes(name) && !isHugePages(name)) {
      errors.invalid(field, name, "must be a standard resource for containers");
    }
  } else if (!isNative(name) && !isExtended(name)) {
    errors.invalid(field, name, "doesn't follow extended resource name standard");
  }
}

export function checkQuotaResourceName(name: string, field: string, errors: FieldErrors): void {
  checkResourceName(name, field, errors);
  if (!name.includes("/") && !isQuotaName(name)) {
    errors.invalid(field, name, "must be a standard resource for quota");
  }
}

/** Whether an amount of huge pages is so many whole pages of the size that their name says. */
export function isWholePages(name: string, amount: string): boolean {
  return isPositiveMultiple(amount, name.slice(HUGE_PAGES.length));
}
