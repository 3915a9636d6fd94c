/** What `kubectl get` shows of services and the ways to them. Pure. */
import type { AnyObject } from "../../api/json.ts";
import { anyTextAt, at, itemsAt, lengthAt, numberAt, textAt, textsAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { age, column, labelsText, name, nameColumn, selectorText, some, wide } from "./common.ts";

/** The addresses of a load balancer. */
function balancerText(object: AnyObject): string {
  const ingress = itemsAt(object, "status", "loadBalancer", "ingress");
  const addresses = ingress.map((each) => textAt(each, "ip") || textAt(each, "hostname")).filter(Boolean);
  return [...new Set(addresses)].sort().join(",");
}

function externalText(service: AnyObject): string {
  const given = textsAt(service, "spec", "externalIPs");
  switch (textAt(service, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return given.join(",") || "<none>";
    case "LoadBalancer": {
      const balancer = balancerText(service);
      return [...(balancer ? [balancer] : []), ...given].join(",") || "<pending>";
    }
    case "ExternalName":
      return textAt(service, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

function portsText(service: AnyObject): string {
  const ports = itemsAt(service, "spec", "ports").map((port) => {
    const nodePort = numberAt(port, "nodePort");
    return `${numberAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
  });
  return ports.join(",") || "<none>";
}

export const serviceColumns: readonly Column[] = [
  name,
  column("Type", (object) => textAt(object, "spec", "type")),
  column("Cluster-IP", (object) => textsAt(object, "spec", "clusterIPs")[0] ?? "<none>"),
  column("External-IP", externalText),
  column("Port(s)", portsText),
  age,
  wide("Selector", (object) => labelsText(at(object, "spec", "selector"))),
];

function endpointsText(object: AnyObject): string {
  const subsets = itemsAt(object, "subsets");
  if (subsets.length === 0) return "<none>";
  const list = subsets.flatMap((subset) => {
    const addresses = itemsAt(subset, "addresses").map((each) => textAt(each, "ip"));
    const ports = itemsAt(subset, "ports").map((each) => numberAt(each, "port"));
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)));
  });
  return some(list, 3);
}

export const endpointsColumns: readonly Column[] = [name, column("Endpoints", endpointsText), age];

export const endpointSliceColumns: readonly Column[] = [
  name,
  column("AddressType", (object) => textAt(object, "addressType")),
  column("Ports", (object) => {
    const ports = itemsAt(object, "ports").map((each) => anyTextAt(each, "port") ?? (textAt(each, "name") || "*"));
    return some(ports, 3) || "<unset>";
  }),
  column("Endpoints", (object) => {
    const addresses = itemsAt(object, "endpoints").flatMap((each) => textsAt(each, "addresses"));
    return some(addresses, 3) || "<unset>";
  }),
  age,
];

function hostsText(ingress: AnyObject): string {
  const rules = itemsAt(ingress, "spec", "rules");
  const hosts = rules.map((rule) => textAt(rule, "host")).filter(Boolean);
  const shown = hosts.slice(0, 3).join(",") || "*";
  return hosts.length > 3 ? `${shown} + ${rules.length - 3} more...` : shown;
}

export const ingressColumns: readonly Column[] = [
  name,
  column("Class", (object) => textAt(object, "spec", "ingressClassName") || "<none>"),
  column("Hosts", hostsText),
  column("Address", balancerText),
  column("Ports", (object) => (lengthAt(object, "spec", "tls") > 0 ? "80, 443" : "80")),
  age,
];

export const ingressClassColumns: readonly Column[] = [
  nameColumn(({ metadata }) => {
    const isDefault = metadata.annotations?.["ingressclass.kubernetes.io/is-default-class"] === "true";
    return `${metadata.name}${isDefault ? " (default)" : ""}`;
  }),
  column("Controller", (object) => textAt(object, "spec", "controller")),
  column("Parameters", (object) => {
    const parameters = at(object, "spec", "parameters");
    if (!parameters) return "<none>";
    const group = textAt(parameters, "apiGroup");
    return `${textAt(parameters, "kind")}${group && `.${group}`}/${textAt(parameters, "name")}`;
  }),
  age,
];

export const networkPolicyColumns: readonly Column[] = [
  name,
  column("Pod-Selector", (object) => selectorText(at(object, "spec", "podSelector")) || "<none>"),
  age,
];

export const serviceCidrColumns: readonly Column[] = [
  name,
  column("CIDRs", (object) => textsAt(object, "spec", "cidrs").join(",")),
  age,
];

export const ipAddressColumns: readonly Column[] = [
  name,
  column("ParentRef", (object) => {
    const parent = at(object, "spec", "parentRef");
    if (!parent) return "<none>";
    const [group, namespace] = [textAt(parent, "group"), textAt(parent, "namespace")];
    const resource = `${textAt(parent, "resource")}${group && `.${group}`}`.toLowerCase();
    return `${resource}${namespace && `/${namespace}`}/${textAt(parent, "name")}`;
  }),
];
