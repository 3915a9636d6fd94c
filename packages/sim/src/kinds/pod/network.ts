/** How a pod is called, and whom it asks for names. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkAddress } from "../common/addresses.ts";
import { checkChoice, checkLabel, checkSubdomain } from "../common/formats.ts";
import type { PodSpec } from "./types.ts";

const POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const MOST_SERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCHES = 2048;

const SEARCH = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SEARCH_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start " +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

export function checkDns({ dnsPolicy, dnsConfig }: PodSpec, field: string, errors: FieldErrors): void {
  if (dnsPolicy !== "ClusterFirst") checkChoice(dnsPolicy, POLICIES, `${field}.dnsPolicy`, errors);
  const place = `${field}.dnsConfig`;
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None") {
    if (!dnsConfig) {
      errors.required(place, "must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if (nameservers.length === 0) {
      const why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
      errors.required(`${place}.nameservers`, why);
      return;
    }
  }
  if (!dnsConfig) return;
  if (nameservers.length > MOST_SERVERS) {
    errors.invalid(`${place}.nameservers`, nameservers, `must not have more than ${MOST_SERVERS} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) checkAddress(server, `${place}.nameservers[${index}]`, errors);
  if (searches.length > MOST_SEARCHES) {
    errors.invalid(`${place}.searches`, searches, `must not have more than ${MOST_SEARCHES} search paths`);
  }
  if (searches.join(" ").length > LONGEST_SEARCHES) {
    const why = `must not have more than ${LONGEST_SEARCHES} characters (including spaces) in the search list`;
    errors.invalid(`${place}.searches`, searches, why);
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const name = search.replace(/\.$/, "");
    const where = `${place}.searches[${index}]`;
    if (name.length > 253) errors.invalid(where, name, "must be no more than 253 characters");
    if (!SEARCH.test(name)) errors.invalid(where, name, SEARCH_WORDS);
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) errors.required(`${place}.options[${index}]`, "must not be empty");
  }
}

export function checkHostnames(spec: PodSpec, field: string, errors: FieldErrors): void {
  const { hostname, subdomain, hostAliases, hostnameOverride } = spec;
  if (hostnameOverride !== undefined) {
    const place = `${field}.hostnameOverride`;
    if (spec.setHostnameAsFQDN) errors.forbidden(place, "may not be specified when setHostnameAsFQDN is true");
    if (spec.hostNetwork) errors.forbidden(place, "may not be specified when hostNetwork is true");
    if (hostnameOverride.length > 64) errors.tooLong(place, 64);
    checkSubdomain(hostnameOverride, place, errors);
  }
  if (hostname) checkLabel(hostname, `${field}.hostname`, errors);
  if (subdomain) checkLabel(subdomain, `${field}.subdomain`, errors);
  for (const [index, { ip = "", hostnames = [] }] of (hostAliases ?? []).entries()) {
    const place = `${field}.hostAliases[${index}]`;
    checkAddress(ip, `${place}.ip`, errors);
    for (const [each, name] of hostnames.entries()) checkSubdomain(name, `${place}.hostnames[${each}]`, errors);
  }
}

/** A pod on its node's network has its node's ports. */
export function checkHostNetwork(spec: PodSpec, isPod: boolean, field: string, errors: FieldErrors): void {
  if (!spec.hostNetwork) return;
  for (const [index, { ports = [] }] of (spec.containers ?? []).entries()) {
    for (const [each, { hostPort = 0, containerPort = 0 }] of ports.entries()) {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) continue;
      const place = `${field}.containers[${index}].ports[${each}].hostPort`;
      errors.invalid(place, hostPort, "must match `containerPort` when `hostNetwork` is true");
    }
  }
}
