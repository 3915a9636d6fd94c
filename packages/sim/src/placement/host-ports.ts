/** Which ports of a node are taken: by address, protocol and number. */
import type { coreV1 } from "@berth/kube";

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY = "0.0.0.0";
const NONE: readonly HostPort[] = [];

/** Of containers that run as long as the pod does. */
export function hostPortsOf({ spec }: coreV1.Pod): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  const collect = (container: coreV1.Container) => {
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (!hostPort || hostPort <= 0) continue;
      ports ??= [];
      ports.push({ ip: hostIP || ANY, protocol: protocol || "TCP", port: hostPort });
    }
  };
  for (const container of spec?.initContainers ?? []) if (container.restartPolicy === "Always") collect(container);
  for (const container of spec?.containers ?? []) collect(container);
  return ports ?? NONE;
}

/** An address that means all of them is in the way of every other. */
export function conflict(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === ANY || b.ip === ANY);
}

export function anyConflict(wanted: readonly HostPort[], taken: readonly HostPort[]): boolean {
  return wanted.some((port) => taken.some((other) => conflict(port, other)));
}
