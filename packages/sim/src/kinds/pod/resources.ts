/** What a container, or a pod, asks for and is limited to: whether that makes sense. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabel } from "../common/formats.ts";
import { own } from "../common/maps.ts";
import { isLess, isNegative, isSameAmount, isWholeAmount, type ResourceList } from "../common/quantities.ts";
import {
  allowsOvercommit,
  checkContainerResourceName,
  checkResourceName,
  isHugePages,
  isWhole,
  isWholePages,
} from "../common/resource-names.ts";
import { isPodResource } from "./pod-resources.ts";
import type { Requirements } from "./types.ts";

type CheckName = (name: string, field: string, errors: FieldErrors) => void;

export function checkContainerResources(
  requirements: Requirements,
  claims: ReadonlySet<string>,
  field: string,
  errors: FieldErrors,
): void {
  checkRequirements(requirements, checkContainerResourceName, field, errors);
  if (requirements.claims) checkClaims(requirements.claims, claims, `${field}.claims`, errors);
}

/** What a whole pod asks for. */
export function checkPodResources(
  requirements: Requirements,
  claims: ReadonlySet<string>,
  field: string,
  errors: FieldErrors,
): void {
  if (requirements.claims) {
    errors.forbidden(`${field}.claims`, "claims may not be set for Resources at pod-level");
    checkClaims(requirements.claims, claims, `${field}.claims`, errors);
  }
  const checkName: CheckName = (name, place) => {
    if (checkResourceName(name, place, errors) && !isPodResource(name)) {
      errors.notSupported(place, name, ["cpu", "hugepages-", "memory"]);
    }
  };
  checkRequirements(requirements, checkName, field, errors);
}

/** What it costs to run a pod at all. */
export function checkOverhead(overhead: ResourceList, field: string, errors: FieldErrors): void {
  checkRequirements({ limits: overhead as Record<string, string> }, checkContainerResourceName, field, errors);
}

/** An amount of a resource that is not less than nothing, nor a part where there are no parts. */
export function checkAmount(name: string, amount: string, field: string, errors: FieldErrors): void {
  if (isNegative(amount)) errors.invalid(field, amount, "must be greater than or equal to 0");
  if (name !== "cpu" && name !== "memory" && isWhole(name) && !isWholeAmount(amount)) {
    errors.invalid(field, amount, "must be an integer");
  }
}

function checkRequirements(
  { limits, requests }: Requirements,
  checkName: CheckName,
  field: string,
  errors: FieldErrors,
): void {
  let [hasPages, hasCompute] = [false, false];
  const note = (name: string, amount: string, list: string) => {
    if (name === "cpu" || name === "memory") hasCompute = true;
    if (!isHugePages(name)) return;
    hasPages = true;
    if (!isWholePages(name, amount)) {
      errors.invalid(`${field}.${list}[${name}]`, amount, `${amount} is not positive integer multiple of ${name}`);
    }
  };
  for (const name in limits) {
    const amount = limits[name] as string;
    checkName(name, `${field}.limits[${name}]`, errors);
    checkAmount(name, amount, `${field}.limits[${name}]`, errors);
    note(name, amount, "limits");
  }
  for (const name in requests) {
    const amount = requests[name] as string;
    checkName(name, `${field}.requests[${name}]`, errors);
    checkAmount(name, amount, `${field}.requests[${name}]`, errors);
    const limit = own(limits, name);
    if (limit === undefined) {
      if (!allowsOvercommit(name)) {
        errors.required(`${field}.limits`, "Limit must be set for non overcommitable resources");
      }
    } else if (!allowsOvercommit(name) && !isSameAmount(amount, limit)) {
      errors.invalid(`${field}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
    } else if (isLess(limit, amount)) {
      errors.invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`);
    }
    note(name, amount, "requests");
  }
  if (hasPages && !hasCompute) errors.forbidden(field, "HugePages require cpu or memory");
}

function checkClaims(
  claims: NonNullable<Requirements["claims"]>,
  known: ReadonlySet<string>,
  field: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { name = "", request = "" }] of claims.entries()) {
    const place = `${field}[${index}]`;
    if (name === "") {
      errors.required(place);
      continue;
    }
    if (seen.has(name)) errors.duplicate(place, name);
    else {
      if (request !== "") checkLabel(request, `${place}.request`, errors);
      const key = request === "" ? name : `${name}/${request}`;
      if (seen.has(key)) errors.duplicate(place, key);
      else if (request === "") {
        for (const other of seen) if (other.startsWith(`${name}/`)) errors.duplicate(place, name);
      }
      seen.add(key);
    }
    if (!known.has(name)) {
      const names = known.size === 0 ? " which is empty" : `: ${[...known].sort().join(", ")}`;
      errors.notFound(place, name, `must be one of the names in pod.spec.resourceClaims${names}`);
    }
  }
}
