/** What the server adds to a service: addresses, families of addresses, ports of the nodes. */
import { FieldErrors } from "../../api/field-errors.ts";
import { internal } from "../../api/refusal.ts";
import type { WriteContext } from "../../api/resource.ts";
import { same } from "../common/semantic.ts";
import { checkAddresses, isHeadless } from "./addresses.ts";
import { allocationOf, type Service, type Taking } from "./allocation.ts";

type Spec = NonNullable<Service["spec"]>;

const SERVICE = { group: "", kind: "Service" };

export function assignNew(service: Service, { lookup, dryRun }: WriteContext): void {
  service.spec ??= {};
  const { spec } = service;
  const { name = "" } = service.metadata;
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  transacted({ lookup, dryRun }, (taking) => {
    assignFamilies(spec, undefined, name);
    assignAddress(spec, taking, name);
    if (wantsNodePorts(spec)) assignPorts(spec, taking, name);
    if (needsHealthPort(spec)) assignHealthPort(spec, taking);
  });
}

export function assignChanged(service: Service, before: Service, { lookup, dryRun }: WriteContext): void {
  service.spec ??= {};
  const { spec } = service;
  const { spec: old = {} } = before;
  const { name = "" } = service.metadata;
  dropUnfit(spec, old);
  keepGiven(spec, old);
  keepTogether(spec, old);
  transacted({ lookup, dryRun }, (taking) => {
    assignFamilies(spec, old, name);
    if (old.type === "ExternalName" && spec.type !== "ExternalName") assignAddress(spec, taking, name);
    if (wantsNodePorts(spec)) changePorts(spec, old, taking, name);
    if (needsHealthPort(spec) && !needsHealthPort(old)) assignHealthPort(spec, taking);
  });
}

/** What is only pretended, or refused half way, takes nothing. */
function transacted(
  { lookup, dryRun }: Pick<WriteContext, "lookup" | "dryRun">,
  assign: (taking: Taking) => void,
): void {
  const taking = allocationOf(lookup).begin(dryRun);
  try {
    assign(taking);
  } catch (error) {
    taking.revert();
    throw error;
  }
  if (dryRun) taking.revert();
}

export function isReachable({ type, externalIPs = [] }: Spec): boolean {
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}

/** Balancers that send only to nodes that have pods must ask the nodes whether they have. */
export function needsHealthPort({ type, externalTrafficPolicy }: Spec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

const wantsNodePorts = ({ type }: Spec) => type === "NodePort" || type === "LoadBalancer";

/** Whether each port gets one of the nodes' ports, also if nobody asks for it. */
const givesNodePorts = (spec: Spec) =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

function refuse(name: string, say: (errors: FieldErrors) => void): void {
  const errors = new FieldErrors();
  say(errors);
  errors.throwIfAny(SERVICE, name);
}

/** This server knows only one family of addresses. */
function assignFamilies(spec: Spec, old: Spec | undefined, name: string): void {
  if (spec.type === "ExternalName") return;
  const bare = spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (bare ? "RequireDualStack" : "SingleStack");
  refuse(name, (errors) => checkAddresses(spec, old, errors));
  refuse(name, (errors) => checkPolicy(spec, errors));
  const families = [...(spec.ipFamilies ?? [])];
  for (const address of (spec.clusterIPs ?? []).slice(families.length)) {
    if (address === "None") break;
    if (address.includes(":")) {
      const why = "IPv6 is not configured on this cluster";
      refuse(name, (errors) => errors.invalid(`spec.clusterIPs[${families.length}]`, spec.clusterIPs, why));
    }
    families.push("IPv4");
  }
  if (families.length === 0) families.push("IPv4");
  if (bare) {
    // Whoever brings addresses of his own may bring those of both families.
    if (families.length < 2 && spec.ipFamilyPolicy !== "SingleStack")
      families.push(families[0] === "IPv4" ? "IPv6" : "IPv4");
  } else {
    refuse(name, (errors) => {
      if (spec.ipFamilyPolicy === "RequireDualStack") {
        const why = "this cluster is not configured for dual-stack services";
        errors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why);
      }
      for (const [index, family] of families.entries()) {
        if (family !== "IPv4") errors.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster");
      }
    });
  }
  spec.ipFamilies = families;
}

function checkPolicy({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: Spec, errors: FieldErrors): void {
  if (ipFamilyPolicy !== "SingleStack") return;
  const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (clusterIPs.length === 2)
    errors.invalid("spec.ipFamilyPolicy", ipFamilyPolicy, `${why} cluster IPs are specified`);
  if (ipFamilies.length === 2)
    errors.invalid("spec.ipFamilyPolicy", ipFamilyPolicy, `${why} IP families are specified`);
}

function assignAddress(spec: Spec, taking: Taking, name: string): void {
  if (spec.type === "ExternalName" || isHeadless(spec)) return;
  const [wanted] = spec.clusterIPs ?? [];
  if (wanted) {
    const problem = taking.takeAddress(wanted);
    refuse(name, (errors) => {
      if (problem) errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${wanted}: ${problem}`);
    });
    return;
  }
  const address = taking.nextAddress();
  if (!address) throw internal(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
  spec.clusterIP = address;
  spec.clusterIPs = [address];
}

/** The same port of two protocols gets the same port of the nodes. */
function assignPorts(spec: Spec, taking: Taking, name: string): void {
  const ports = spec.ports ?? [];
  const given = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && !givesNodePorts(spec)) continue;
    const { port: number = 0 } = port;
    const known = given.get(number);
    if (known === port.nodePort && known !== undefined) continue;
    if (known !== undefined && !port.nodePort) {
      port.nodePort = known;
      continue;
    }
    const wanted =
      known === undefined ? ports.find((each) => each.port === number && each.nodePort)?.nodePort : port.nodePort;
    if (wanted) {
      takePort(taking, wanted, index, name);
      port.nodePort = wanted;
    } else port.nodePort = freePort(taking);
    if (known === undefined) given.set(number, port.nodePort);
  }
}

function changePorts(spec: Spec, old: Spec, taking: Taking, name: string): void {
  const taken = new Set(old.ports?.map(({ nodePort }) => nodePort ?? 0));
  for (const [index, port] of (spec.ports ?? []).entries()) {
    if (port.nodePort) {
      if (!taken.has(port.nodePort)) takePort(taking, port.nodePort, index, name);
      taken.add(port.nodePort);
    } else if (givesNodePorts(spec)) port.nodePort = freePort(taking);
  }
}

function takePort(taking: Taking, port: number, index: number, name: string): void {
  const problem = taking.takePort(port);
  refuse(name, (errors) => {
    if (problem) errors.invalid(`spec.ports[${index}].nodePort`, port, problem);
  });
}

function freePort(taking: Taking): number {
  const port = taking.nextPort();
  if (!port) throw internal("failed to allocate a nodePort: range is full");
  return port;
}

function assignHealthPort(spec: Spec, taking: Taking): void {
  const { healthCheckNodePort: wanted } = spec;
  if (!wanted) {
    spec.healthCheckNodePort = freePort(taking);
    return;
  }
  const problem = taking.takePort(wanted);
  if (problem) throw internal(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`);
}

/** What the old type had and the new one cannot have goes, unless somebody has just set it. */
function dropUnfit(spec: Spec, old: Spec): void {
  if (old.type !== "ExternalName" && spec.type === "ExternalName") {
    if (spec.clusterIP === old.clusterIP && same(spec.clusterIPs, old.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (same(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  const known = new Set(old.ports?.map(({ nodePort }) => nodePort));
  const onlyKnown = spec.ports?.every(({ nodePort }) => !nodePort || known.has(nodePort)) ?? true;
  if (wantsNodePorts(old) && !wantsNodePorts(spec) && onlyKnown)
    for (const port of spec.ports ?? []) delete port.nodePort;
  if (needsHealthPort(old) && !needsHealthPort(spec) && spec.healthCheckNodePort === old.healthCheckNodePort) {
    delete spec.healthCheckNodePort;
  }
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts;
    }
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (isReachable(old) && !isReachable(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy) {
    delete spec.externalTrafficPolicy;
  }
}

/** Who leaves out what the server gave keeps it. */
function keepGiven(spec: Spec, old: Spec): void {
  if (old.type !== "ExternalName" && spec.type !== "ExternalName") {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs) spec.clusterIPs = [...old.clusterIPs];
  }
  if (givesNodePorts(old) && givesNodePorts(spec)) {
    const inBoth = new Set(old.ports?.map(({ nodePort }) => nodePort));
    const used = new Set(spec.ports?.map(({ nodePort }) => nodePort).filter((port) => port && inBoth.has(port)));
    for (const port of spec.ports ?? []) {
      const before = old.ports?.findLast(({ name = "" }) => name === (port.name ?? ""))?.nodePort;
      if (!port.nodePort && before && !used.has(before)) port.nodePort = before;
    }
  }
  if (needsHealthPort(old) && needsHealthPort(spec) && old.healthCheckNodePort) {
    spec.healthCheckNodePort ||= old.healthCheckNodePort;
  }
}

/** Two fields say the same; who changes one of them means both. */
function keepTogether(spec: Spec, old: Spec): void {
  if (old.clusterIP === spec.clusterIP || !same(old.clusterIPs, spec.clusterIPs)) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}
