/** The addresses of a service, and their families: whether they make sense. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkAddress, isDualStack } from "../common/addresses.ts";
import { checkOneOf } from "../common/formats.ts";
import type { Service } from "./allocation.ts";

type Spec = NonNullable<Service["spec"]>;

/** Whether a service has no address of its own, on purpose. */
export function isHeadless({ clusterIPs = [] }: Spec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === "None";
}

export function checkAddresses(spec: Spec, old: Spec | undefined, errors: FieldErrors): void {
  if (spec.type === "ExternalName") return;
  const { clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const field = "spec.clusterIPs";
  if (clusterIP) {
    if (clusterIPs.length === 0) errors.required(field);
    else if (clusterIPs[0] !== clusterIP) errors.invalid(field, clusterIPs, "first value must match `clusterIP`");
  } else if (clusterIPs.length > 0) {
    errors.invalid(field, clusterIPs, "must be empty when `clusterIP` is not specified");
  }
  for (const [index, family] of ipFamilies.entries()) {
    checkOneOf(family, ["IPv4", "IPv6"], `spec.ipFamilies[${index}]`, errors);
    if (ipFamilies.indexOf(family) < index) errors.duplicate(`spec.ipFamilies[${index}]`, family);
  }
  if (ipFamilyPolicy !== undefined) {
    const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    checkOneOf(ipFamilyPolicy, policies, "spec.ipFamilyPolicy", errors);
  }
  const before = errors.causes.length;
  for (const [index, address] of clusterIPs.entries()) {
    if (index === 0 && address === "None") {
      if (clusterIPs.length > 1) errors.invalid(field, clusterIPs, "'None' must be the first and only value");
    } else checkAddress(address, `${field}[${index}]`, errors, old?.clusterIPs);
  }
  const isReadable = errors.causes.length === before;
  if (clusterIPs.length > 2) errors.invalid(field, clusterIPs, "may only hold up to 2 values");
  if (!isReadable) return;
  if (clusterIPs.length > 1 && !isDualStack(clusterIPs)) {
    errors.invalid(field, clusterIPs, "may specify no more than one IP for each IP family");
  }
  if (isHeadless(spec)) return;
  for (const [index, address] of clusterIPs.slice(0, ipFamilies.length).entries()) {
    const family = address.includes(":") ? "IPv6" : "IPv4";
    const expected = ipFamilies[index];
    if (expected === family || (expected !== "IPv4" && expected !== "IPv6")) continue;
    const why = `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``;
    errors.invalid(`${field}[${index}]`, address, why);
  }
}

/** What was given stays: a service keeps its address for life. */
export function checkSameAddresses(spec: Spec, old: Spec, errors: FieldErrors): void {
  if (spec.type === "ExternalName" || old.type === "ExternalName") return;
  if (isHeadless(old) && isHeadless(spec)) return;
  const { clusterIPs: after = [], ipFamilies: families = [] } = spec;
  const { clusterIPs: before = [], ipFamilies: oldFamilies = [] } = old;
  const once = "may not change once set";
  if (before.length === after.length) {
    for (const [index, address] of before.entries()) {
      if (address !== after[index]) errors.invalid(`spec.clusterIPs[${index}]`, after, once);
    }
  } else if (before.length > after.length && after.length === 0) {
    errors.invalid("spec.clusterIPs[0]", after, "primary clusterIP can not be unset");
  } else if (before.length > 0 && after[0] !== before[0]) errors.invalid("spec.clusterIPs[0]", after, once);
  if (isHeadless(spec) || isHeadless(old)) return;
  if (oldFamilies.length > 0 && families.length > 0 && families[0] !== oldFamilies[0]) {
    errors.invalid("spec.ipFamilies[0]", families, once);
  }
}
