/** Where a Service's pods can be reached. Pure. */
import type { coreV1, discoveryV1 } from "@berth/kube";
import { isReady } from "../pod-order.ts";

/** Whether a pod can be reached at all, and is not over. */
export function isReachable({ status }: coreV1.Pod): boolean {
  return Boolean(status?.podIP) && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** A pod as an endpoint of a Service. @param zone - That of its node. */
export function endpointOf(pod: coreV1.Pod, service: coreV1.Service, zone: string | undefined): discoveryV1.Endpoint {
  const { name = "", namespace = "", uid = "", deletionTimestamp } = pod.metadata;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses || (serving && !terminating);
  const { nodeName, hostname, subdomain } = pod.spec ?? {};
  const hasHostname = hostname && subdomain === service.metadata.name;
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready, serving, terminating },
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
    ...(hasHostname && { hostname }),
  };
}

/** The ports of a Service as they are on one of its pods. */
export function portsOn({ spec }: coreV1.Pod, service: coreV1.Service): discoveryV1.EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap(({ name = "", port, targetPort, protocol = "TCP", appProtocol }) => {
    const number =
      typeof targetPort === "string" ? named(spec?.containers ?? [], targetPort, protocol) : (targetPort ?? port);
    return number === undefined ? [] : [{ name, port: number, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

function named(containers: readonly coreV1.Container[], name: string, protocol: string): number | undefined {
  for (const { ports = [] } of containers) {
    const found = ports.find((port) => port.name === name && (port.protocol ?? "TCP") === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}
