/** The filter NodePorts: a port of a node can be had by one pod only. Pure. */
import { anyConflict } from "../../placement/host-ports.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, resolvable } from "../rejection.ts";

const REJECTION = resolvable("NodePorts", "node(s) didn't have free ports for the requested pod ports");

export function nodePorts({ ports }: PodInfo, { takenPorts }: NodeInfo): Rejection | undefined {
  return ports.length > 0 && takenPorts.length > 0 && anyConflict(ports, takenPorts) ? REJECTION : undefined;
}
