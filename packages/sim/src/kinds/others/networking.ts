/** The rules of ingresses and network policies, as far as anybody meets them. */
import type { networkingV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkRange, isAddress } from "../common/addresses.ts";
import {
  checkLabel,
  checkOneOf,
  checkPort,
  checkPortOrName,
  checkSubdomain,
  portNameProblems,
} from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { checkSelector } from "../common/selectors.ts";

type Ingress = LooseObject<networkingV1.Ingress>;
type Backend = Loose<networkingV1.IngressBackend>;
type Path = Loose<networkingV1.HTTPIngressPath>;
type NetworkPolicy = LooseObject<networkingV1.NetworkPolicy>;

export const ingressRules: Rules = {
  prepareForCreate: (ingress: Ingress) => {
    ingress.status = { loadBalancer: {} };
  },
  validate: (ingress: Ingress, errors) => checkIngress(ingress, errors),
  validateUpdate: (ingress: Ingress, _before, errors) => checkIngress(ingress, errors),
};

const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_WORDS =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower " +
  "case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used " +
  "for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function checkIngress({ spec = {} }: Ingress, errors: FieldErrors): void {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  if (rules.length === 0 && !defaultBackend) {
    errors.invalid("spec", rules, "either `defaultBackend` or `rules` must be specified");
  }
  if (defaultBackend) checkBackend(defaultBackend, "spec.defaultBackend", errors);
  for (const [index, { host, http }] of rules.entries()) {
    const place = `spec.rules[${index}]`;
    if (host) checkHost(host, `${place}.host`, errors);
    if (!http) continue;
    const paths = http.paths ?? [];
    if (paths.length === 0) errors.required(`${place}.http.paths`);
    for (const [each, path] of paths.entries()) checkPath(path, `${place}.http.paths[${each}]`, errors);
  }
  for (const [index, { hosts = [], secretName }] of tls.entries()) {
    for (const [each, host] of hosts.entries()) checkHost(host, `spec.tls[${index}].hosts[${each}]`, errors, true);
    if (secretName) checkSubdomain(secretName, `spec.tls[${index}].secretName`, errors);
  }
  if (ingressClassName !== undefined) checkSubdomain(ingressClassName, "spec.ingressClassName", errors);
}

function checkHost(host: string, field: string, errors: FieldErrors, allowAddress = false): void {
  if (!allowAddress && isAddress(host)) errors.invalid(field, host, "must be a DNS name, not an IP address");
  if (!host.includes("*")) checkSubdomain(host, field, errors);
  else if (!WILDCARD.test(host)) errors.invalid(field, host, WILDCARD_WORDS);
}

function checkPath({ path = "", pathType, backend = {} }: Path, field: string, errors: FieldErrors): void {
  // The server writes null where none was given.
  if (pathType === undefined || pathType === null) {
    errors.required(`${field}.pathType`, "pathType must be specified");
    return;
  }
  const types = ["Exact", "ImplementationSpecific", "Prefix"];
  checkOneOf(pathType, types, `${field}.pathType`, errors);
  const isExact = pathType === "Exact" || pathType === "Prefix";
  if (types.includes(pathType) && !path.startsWith("/") && (isExact || path !== "")) {
    errors.invalid(`${field}.path`, path, "must be an absolute path");
  }
  if (isExact && path !== "") {
    for (const part of ["//", "/./", "/../", "%2f", "%2F"]) {
      if (path.includes(part)) errors.invalid(`${field}.path`, path, `must not contain '${part}'`);
    }
    for (const end of ["/..", "/."]) {
      if (path.endsWith(end)) errors.invalid(`${field}.path`, path, `cannot end with '${end}'`);
    }
  }
  checkBackend(backend, `${field}.backend`, errors);
}

function checkBackend({ resource, service }: Backend, field: string, errors: FieldErrors): void {
  if (resource && service) errors.invalid(field, "", "cannot set both resource and service backends");
  else if (resource) {
    for (const part of ["kind", "name"] as const) {
      const value = resource[part];
      if (!value) errors.required(`${field}.resource.${part}`);
      else
        for (const problem of nameProblems(value, "segment"))
          errors.invalid(`${field}.resource.${part}`, value, problem);
    }
  } else if (service) {
    const { name, port = {} } = service;
    if (!name) errors.required(`${field}.service.name`);
    else checkLabel(name, `${field}.service.name`, errors);
    if (port.name && port.number) errors.invalid(field, "", "cannot set both port name & port number");
    else if (port.name) {
      for (const problem of portNameProblems(port.name)) {
        errors.invalid(`${field}.service.port.name`, port.name, problem);
      }
    } else if (port.number) checkPort(port.number, `${field}.service.port.number`, errors);
    else errors.required(field, "port name or number is required");
  } else errors.invalid(field, "", "resource or service backend is required");
}

export const networkPolicyRules: Rules = {
  generation: true,
  default: ({ spec }: NetworkPolicy) => {
    if (!spec) return;
    if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? ["Ingress", "Egress"] : ["Ingress"];
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= "TCP";
    }
  },
  validate: (policy: NetworkPolicy, errors) => checkPolicy(policy, errors),
  validateUpdate: (policy: NetworkPolicy, _before, errors) => checkPolicy(policy, errors),
};

type Peer = Loose<networkingV1.NetworkPolicyPeer>;
type PolicyPort = Loose<networkingV1.NetworkPolicyPort>;

function checkPolicy({ spec = {} }: NetworkPolicy, errors: FieldErrors): void {
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = spec;
  checkSelector(podSelector, "spec.podSelector", errors);
  for (const [index, { ports = [], from = [] }] of ingress.entries()) {
    checkTraffic(ports, from, `spec.ingress[${index}]`, "from", errors);
  }
  for (const [index, { ports = [], to = [] }] of egress.entries()) {
    checkTraffic(ports, to, `spec.egress[${index}]`, "to", errors);
  }
  if (policyTypes.length > 2) {
    errors.invalid("spec.policyTypes", policyTypes, "may not specify more than two policyTypes");
    return;
  }
  for (const [index, type] of policyTypes.entries()) {
    checkOneOf(type, ["Ingress", "Egress"], `spec.policyTypes[${index}]`, errors);
  }
}

function checkTraffic(
  ports: readonly PolicyPort[],
  peers: readonly Peer[],
  field: string,
  list: string,
  errors: FieldErrors,
): void {
  for (const [index, { protocol, port, endPort }] of ports.entries()) {
    const place = `${field}.ports[${index}]`;
    if (protocol !== undefined) checkOneOf(protocol, ["TCP", "UDP", "SCTP"], `${place}.protocol`, errors);
    if (port !== undefined) checkPortOrName(port, `${place}.port`, errors);
    if (endPort === undefined) continue;
    if (typeof port === "number") {
      if (endPort < port) errors.invalid(`${place}.endPort`, port, "must be greater than or equal to `port`");
      checkPort(endPort, `${place}.endPort`, errors);
    } else {
      const is = port === undefined ? "is not specified" : "is non-numeric";
      errors.invalid(`${place}.endPort`, endPort, `may not be specified when \`port\` ${is}`);
    }
  }
  for (const [index, { podSelector, namespaceSelector, ipBlock }] of peers.entries()) {
    const place = `${field}.${list}[${index}]`;
    checkSelector(podSelector, `${place}.podSelector`, errors);
    checkSelector(namespaceSelector, `${place}.namespaceSelector`, errors);
    if (ipBlock) {
      if (!ipBlock.cidr) errors.required(`${place}.ipBlock.cidr`);
      else checkRange(ipBlock.cidr, `${place}.ipBlock.cidr`, errors);
      for (const [each, range] of (ipBlock.except ?? []).entries()) {
        checkRange(range, `${place}.ipBlock.except[${each}]`, errors);
      }
    }
    if (!podSelector && !namespaceSelector && !ipBlock) errors.required(place, "must specify a peer");
    else if (ipBlock && (podSelector || namespaceSelector)) {
      errors.forbidden(place, "may not specify both ipBlock and another peer");
    }
  }
}
