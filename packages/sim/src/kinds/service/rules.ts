/** The rules of services. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabels } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkAddress, checkEndpointAddress, checkRange, isAddress } from "../common/addresses.ts";
import {
  checkChoice,
  checkLabel,
  checkOneOf,
  checkPort,
  checkPortOrName,
  checkQualified,
  checkSubdomain,
} from "../common/formats.ts";
import { textsOf } from "../common/selectors.ts";
import { checkAddresses, checkSameAddresses, isHeadless } from "./addresses.ts";
import type { Service } from "./allocation.ts";
import { assignChanged, assignNew, isReachable, needsHealthPort } from "./assign.ts";

type Spec = NonNullable<Service["spec"]>;
type Port = NonNullable<Spec["ports"]>[number];

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const CLIENT_TIMEOUT = 10_800;
const LONGEST_TIMEOUT = 86_400;

export const serviceRules: Rules = {
  names: "label",
  generation: false,
  default: ({ spec }: Service) => {
    if (spec) defaultSpec(spec);
  },
  defaultStatus: ({ spec, status }: Service) => {
    if (spec?.type !== "LoadBalancer") return;
    for (const ingress of status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= "VIP";
  },
  prepareForCreate: (service: Service, context) => {
    service.status = { loadBalancer: {} };
    assignNew(service, context);
  },
  validate: ({ spec = {} }: Service, errors) => checkSpec(spec, undefined, errors),
  prepareForUpdate: (service: Service, before: Service, context) => {
    assignChanged(service, before, context);
    if (service.spec?.type !== "LoadBalancer") service.status = { ...service.status, loadBalancer: {} };
  },
  validateUpdate: ({ spec = {} }: Service, { spec: old = {} }: Service, errors) => {
    checkSameAddresses(spec, old, errors);
    if (spec.type === "LoadBalancer" && old.type === spec.type && spec.loadBalancerClass !== old.loadBalancerClass) {
      errors.invalid("spec.loadBalancerClass", spec.loadBalancerClass ?? null, "may not change once set");
    }
    if (needsHealthPort(old) && needsHealthPort(spec) && spec.healthCheckNodePort !== old.healthCheckNodePort) {
      errors.forbidden("spec.healthCheckNodePort", "field is immutable");
    }
    checkSpec(spec, old, errors);
  },
  validateStatusUpdate: (service: Service, before: Service, errors) => checkStatus(service, before, errors),
  fields: ({ spec = {} }: Service) => ({ "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" }),
};

function defaultSpec(spec: Spec): void {
  spec.sessionAffinity ||= "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === "ClientIP" && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: CLIENT_TIMEOUT } };
  }
  spec.type ||= "ClusterIP";
  for (const port of spec.ports ?? []) {
    port.protocol ||= "TCP";
    if (!port.targetPort) port.targetPort = port.port ?? 0;
  }
  if (isReachable(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (spec.type === "ExternalName") delete spec.internalTrafficPolicy;
  else if (TYPES.includes(spec.type)) spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

function checkSpec(spec: Spec, old: Spec | undefined, errors: FieldErrors): void {
  const { ports = [], type = "", selector } = spec;
  if (ports.length === 0 && !isHeadless(spec) && type !== "ExternalName") errors.required("spec.ports");
  checkType(spec, errors);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) checkServicePort(port, ports, index, names, errors);
  if (selector) checkLabels(textsOf(selector), "spec.selector", errors);
  checkAffinity(spec, errors);
  checkAddresses(spec, old, errors);
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const before = errors.causes.length;
    checkAddress(ip, `spec.externalIPs[${index}]`, errors, old?.externalIPs);
    if (errors.causes.length === before) checkEndpointAddress(ip, `spec.externalIPs[${index}]`, errors);
  }
  checkChoice(type, TYPES, "spec.type", errors);
  checkNodePorts(ports, type, errors);
  checkBalancer(spec, errors);
  checkTraffic(spec, errors);
}

function checkType(spec: Spec, errors: FieldErrors): void {
  const { type, externalName = "", clusterIPs = [], ipFamilies = [] } = spec;
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec)) {
    errors.invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`);
  }
  if (type !== "ExternalName") return;
  const not = "may not be set for ExternalName services";
  if (clusterIPs.length > 0) errors.forbidden("spec.clusterIPs", not);
  if (ipFamilies.length > 0) errors.forbidden("spec.ipFamilies", not);
  if (spec.ipFamilyPolicy !== undefined) errors.forbidden("spec.ipFamilyPolicy", not);
  const name = externalName.replace(/\.$/, "");
  if (name === "") errors.required("spec.externalName");
  else checkSubdomain(name, "spec.externalName", errors);
}

function checkServicePort(
  { name, port, protocol, targetPort, appProtocol }: Port,
  ports: readonly Port[],
  index: number,
  names: Set<string>,
  errors: FieldErrors,
): void {
  const place = `spec.ports[${index}]`;
  if (name) {
    checkLabel(name, `${place}.name`, errors);
    if (names.has(name)) errors.duplicate(`${place}.name`, name);
    names.add(name);
  } else if (ports.length > 1) errors.required(`${place}.name`);
  checkPort(port, `${place}.port`, errors);
  checkChoice(protocol, ["SCTP", "TCP", "UDP"], `${place}.protocol`, errors);
  checkPortOrName(targetPort, `${place}.targetPort`, errors);
  if (appProtocol !== undefined) checkQualified(appProtocol, `${place}.appProtocol`, errors);
}

function checkNodePorts(ports: readonly Port[], type: string, errors: FieldErrors): void {
  const nodePorts = new Set<string>();
  const own = new Set<string>();
  for (const [index, { nodePort, protocol, port }] of ports.entries()) {
    const place = `spec.ports[${index}]`;
    if (nodePort && type === "ClusterIP") {
      errors.forbidden(`${place}.nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
    if (nodePort) {
      if (nodePorts.has(`${protocol} ${nodePort}`)) errors.duplicate(`${place}.nodePort`, nodePort);
      nodePorts.add(`${protocol} ${nodePort}`);
    }
    if (own.has(`${protocol} ${port}`)) errors.duplicate(place, { protocol, port });
    own.add(`${protocol} ${port}`);
  }
}

function checkAffinity({ sessionAffinity, sessionAffinityConfig: config }: Spec, errors: FieldErrors): void {
  checkChoice(sessionAffinity, ["ClientIP", "None"], "spec.sessionAffinity", errors);
  const timeout = config?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== "ClientIP" || timeout === undefined || (timeout > 0 && timeout <= LONGEST_TIMEOUT)) return;
  const why = `must be greater than 0 and less than ${LONGEST_TIMEOUT}`;
  errors.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", timeout, why);
}

function checkBalancer(spec: Spec, errors: FieldErrors): void {
  const { type, loadBalancerSourceRanges: ranges = [], loadBalancerClass: balancer } = spec;
  const only = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0 && type !== "LoadBalancer") errors.forbidden("spec.LoadBalancerSourceRanges", only);
  for (const [index, range] of ranges.entries()) {
    checkRange(range.trim(), `spec.LoadBalancerSourceRanges[${index}]`, errors);
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && type !== "LoadBalancer") {
    errors.forbidden("spec.allocateLoadBalancerNodePorts", only);
  }
  if (balancer === undefined) return;
  if (type === "LoadBalancer") checkQualified(balancer, "spec.loadBalancerClass", errors);
  else errors.forbidden("spec.loadBalancerClass", only);
}

function checkTraffic(spec: Spec, errors: FieldErrors): void {
  const { externalTrafficPolicy: outside, internalTrafficPolicy: inside, trafficDistribution } = spec;
  if (isReachable(spec)) checkChoice(outside, ["Cluster", "Local"], "spec.externalTrafficPolicy", errors);
  else if (outside) {
    errors.invalid("spec.externalTrafficPolicy", outside, "may only be set for externally-accessible services");
  }
  const { healthCheckNodePort: port = 0 } = spec;
  if (needsHealthPort(spec)) checkPort(port, "spec.healthCheckNodePort", errors);
  else if (port !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid("spec.healthCheckNodePort", port, why);
  }
  if (inside !== undefined) checkOneOf(inside, ["Cluster", "Local"], "spec.internalTrafficPolicy", errors);
  if (trafficDistribution !== undefined) {
    const ways = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    checkOneOf(trafficDistribution, ways, "spec.trafficDistribution", errors);
  }
}

function checkStatus({ spec = {}, status = {} }: Service, before: Service, errors: FieldErrors): void {
  const ingress = status.loadBalancer?.ingress ?? [];
  const place = "status.loadBalancer.ingress";
  if (spec.type !== "LoadBalancer") {
    if (ingress.length > 0) errors.forbidden(place, "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const known = before.status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];
  for (const [index, { ip, ipMode, hostname }] of ingress.entries()) {
    const field = `${place}[${index}]`;
    if (ip) checkAddress(ip, `${field}.ip`, errors, known);
    if (ipMode === undefined) {
      if (ip) errors.required(`${field}.ipMode`, "must be specified when `ip` is set");
    } else if (!ip) errors.forbidden(`${field}.ipMode`, "may not be specified when `ip` is not set");
    else checkOneOf(ipMode, ["Proxy", "VIP"], `${field}.ipMode`, errors);
    if (!hostname) continue;
    checkSubdomain(hostname, `${field}.hostname`, errors);
    if (isAddress(hostname)) errors.invalid(`${field}.hostname`, hostname, "must be a DNS name, not an IP address");
  }
}
