/** The rules of what stands behind services: endpoints, and slices of them. */
import type { coreV1, discoveryV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { labelProblems, labelValueProblems, subdomainProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkAddress, checkEndpointAddress } from "../common/addresses.ts";
import {
  checkChoice,
  checkLabel,
  checkPort,
  checkQualified,
  checkSubdomain,
  checkUnchanged,
} from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { same } from "../common/semantic.ts";

type Endpoints = LooseObject<coreV1.Endpoints>;
type EndpointSlice = LooseObject<discoveryV1.EndpointSlice>;

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MOST_ENDPOINTS = 1000;
const MOST_HINTS = 8;

export const endpointsRules: Rules = {
  default: ({ subsets }: Endpoints) => {
    for (const { ports } of subsets ?? []) for (const port of ports ?? []) port.protocol ||= "TCP";
  },
  validate: (endpoints: Endpoints, errors) => checkSubsets(endpoints, errors),
  validateUpdate: (endpoints: Endpoints, before: Endpoints, errors) => {
    if (!same(endpoints.subsets, before.subsets)) checkSubsets(endpoints, errors);
  },
};

function checkSubsets({ subsets = [] }: Endpoints, errors: FieldErrors): void {
  for (const [index, { addresses = [], notReadyAddresses = [], ports = [] }] of subsets.entries()) {
    const place = `subsets[${index}]`;
    if (addresses.length + notReadyAddresses.length === 0) {
      errors.required(place, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const [each, address] of addresses.entries()) checkOne(address, `${place}.addresses[${each}]`, errors);
    for (const [each, address] of notReadyAddresses.entries()) {
      checkOne(address, `${place}.notReadyAddresses[${each}]`, errors);
    }
    for (const [each, { name, port, protocol, appProtocol }] of ports.entries()) {
      const field = `${place}.ports[${each}]`;
      if (name) checkLabel(name, `${field}.name`, errors);
      else if (ports.length > 1) errors.required(`${field}.name`);
      checkPort(port, `${field}.port`, errors);
      checkChoice(protocol, PROTOCOLS, `${field}.protocol`, errors);
      if (appProtocol !== undefined) checkQualified(appProtocol, `${field}.appProtocol`, errors);
    }
  }
}

function checkOne(
  { ip = "", hostname, nodeName }: Loose<coreV1.EndpointAddress>,
  field: string,
  errors: FieldErrors,
): void {
  checkAddress(ip, `${field}.ip`, errors);
  if (hostname) checkLabel(hostname, `${field}.hostname`, errors);
  if (nodeName !== undefined) checkSubdomain(nodeName, `${field}.nodeName`, errors);
  checkEndpointAddress(ip, `${field}.ip`, errors);
}

export const endpointSliceRules: Rules = {
  generation: true,
  default: ({ ports }: EndpointSlice) => {
    for (const port of ports ?? []) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },
  validate: (slice: EndpointSlice, errors) => checkSlice(slice, errors),
  validateUpdate: (slice: EndpointSlice, before: EndpointSlice, errors) => {
    checkSlice(slice, errors, before);
    checkUnchanged(slice.addressType === before.addressType, slice.addressType, "addressType", errors);
  },
};

function checkSlice(slice: EndpointSlice, errors: FieldErrors, before?: EndpointSlice): void {
  const { addressType, ports, endpoints: given } = slice;
  checkChoice(addressType, ["FQDN", "IPv4", "IPv6"], "addressType", errors);
  const names = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of (ports ?? []).entries()) {
    const place = `ports[${index}]`;
    if (name) checkLabel(name, `${place}.name`, errors);
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    names.add(name);
    checkChoice(protocol, PROTOCOLS, `${place}.protocol`, errors);
    if (appProtocol !== undefined) checkQualified(appProtocol, `${place}.appProtocol`, errors);
  }
  // What was good once stays good.
  if (before && same(given, before.endpoints)) return;
  const endpoints = given ?? [];
  if (endpoints.length > MOST_ENDPOINTS) {
    errors.tooMany("endpoints", endpoints.length, MOST_ENDPOINTS);
    return;
  }
  for (const [index, { addresses: list, nodeName, hostname, hints }] of endpoints.entries()) {
    const place = `endpoints[${index}]`;
    const addresses = list ?? [];
    if (addresses.length === 0) errors.required(`${place}.addresses`, "must contain at least 1 address");
    else if (addresses.length > 100) errors.tooMany(`${place}.addresses`, addresses.length, 100);
    for (const [each, address] of addresses.entries()) {
      checkSliceAddress(address, addressType ?? "", `${place}.addresses`, each, errors);
    }
    if (nodeName !== undefined) checkSubdomain(nodeName, `${place}.nodeName`, errors);
    if (hostname !== undefined) checkLabel(hostname, `${place}.hostname`, errors);
    if (hints && checkHints(hints.forZones, labelValueProblems, `${place}.hints.forZones`, errors)) {
      checkHints(hints.forNodes, subdomainProblems, `${place}.hints.forNodes`, errors);
    }
  }
}

/** Whether there are few enough of them to go on. */
function checkHints(
  hints: readonly { name?: string }[] | undefined,
  problemsOf: (name: string) => readonly string[],
  field: string,
  errors: FieldErrors,
): boolean {
  const names = new Set<string>();
  if (hints && hints.length > MOST_HINTS) {
    errors.tooMany(field, hints.length, MOST_HINTS);
    return false;
  }
  for (const [index, { name = "" }] of hints?.entries() ?? []) {
    const place = `${field}[${index}].name`;
    if (names.has(name)) errors.duplicate(place, name);
    names.add(name);
    for (const problem of problemsOf(name)) errors.invalid(place, name, problem);
  }
  return true;
}

function checkSliceAddress(address: string, type: string, list: string, index: number, errors: FieldErrors): void {
  const field = `${list}[${index}]`;
  if (type === "FQDN") checkDomain(address, field, errors);
  if (type !== "IPv4" && type !== "IPv6") return;
  const before = errors.causes.length;
  checkAddress(address, field, errors);
  if (errors.causes.length > before) return;
  if (address.includes(":") !== (type === "IPv6")) errors.invalid(list, address, `must be an ${type} address`);
  checkEndpointAddress(address, field, errors);
}

function checkDomain(name: string, field: string, errors: FieldErrors): void {
  const domain = name.replace(/\.$/, "");
  if (name === "") errors.required(field);
  else if (subdomainProblems(domain).length > 0) errors.invalid(field, domain, subdomainProblems(domain).join(","));
  else if (!domain.includes(".")) {
    errors.invalid(field, domain, "should be a domain with at least two segments separated by dots");
  } else {
    const label = domain.split(".").find((each) => labelProblems(each).length > 0);
    if (label) errors.invalid(field, label, labelProblems(label).join(","));
  }
}
