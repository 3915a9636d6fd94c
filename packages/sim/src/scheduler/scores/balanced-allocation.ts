/** The score NodeResourcesBalancedAllocation: rather where the pod makes the shares of CPU and memory more alike. Pure. */

import { isScalar } from "../../placement/resources.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import type { ResourceWeight } from "./resource-strategy.ts";

const MOST = 100;

/** Whether there is anything to balance: pods that ask for nothing are not scored. */
export function hasBalance({ requests }: PodInfo, resources: readonly ResourceWeight[]): boolean {
  return resources.some(({ name }) => requestOf(requests, name) !== 0);
}

/** From 50 to 100; 75 if nothing changes. Made once for each pod: as a rule, only CPU and memory count, and that is quick. */
export function balanceScorer(pod: PodInfo, resources: readonly ResourceWeight[]): (node: NodeInfo) => number {
  const { cpu, memory } = pod.requests;
  const usual = resources.length === 2 && resources[0]?.name === "cpu" && resources[1]?.name === "memory";
  if (!usual) return (node) => balancedAllocation(pod, node, resources);
  return (node) => {
    if (node.cpu === 0 || node.memory === 0) return balancedAllocation(pod, node, resources);
    const before = share(node.usedCpu, node.cpu) - share(node.usedMemory, node.memory);
    const after = share(node.usedCpu + cpu, node.cpu) - share(node.usedMemory + memory, node.memory);
    return points(Math.abs(before / 2), Math.abs(after / 2));
  };
}

function share(used: number, capacity: number): number {
  return Math.min(1, used / capacity);
}

function points(deviationBefore: number, deviationAfter: number): number {
  const [before, after] = [evenness(deviationBefore), evenness(deviationAfter)];
  return MOST / 2 + Math.trunc((MOST / 2 + after - before) / 2);
}

function balancedAllocation({ requests }: PodInfo, node: NodeInfo, resources: readonly ResourceWeight[]): number {
  const before: number[] = [];
  const after: number[] = [];
  for (const { name } of resources) {
    const request = requestOf(requests, name);
    if (request === 0 && isScalar(name)) continue;
    const [capacity, used] = shareOf(node, name);
    if (capacity === 0) continue;
    before.push(share(used, capacity));
    after.push(share(used + request, capacity));
  }
  return points(deviation(before), deviation(after));
}

function evenness(deviation: number): number {
  return Math.trunc((1 - deviation) * MOST);
}

function deviation(fractions: readonly number[]): number {
  const [first, second] = fractions;
  if (first === undefined || second === undefined) return 0;
  if (fractions.length === 2) return Math.abs((first - second) / 2);
  const mean = fractions.reduce((sum, each) => sum + each, 0) / fractions.length;
  return Math.sqrt(fractions.reduce((sum, each) => sum + (each - mean) ** 2, 0) / fractions.length);
}

function requestOf(requests: PodInfo["requests"], name: string): number {
  if (name === "cpu") return requests.cpu;
  if (name === "memory") return requests.memory;
  return name === "ephemeral-storage" ? requests.storage : (requests.scalars?.get(name) ?? 0);
}

/** Unlike the other score, this one counts what is asked for, and nothing for what says nothing. */
function shareOf(node: NodeInfo, name: string): readonly [capacity: number, used: number] {
  if (name === "cpu") return [node.cpu, node.usedCpu];
  if (name === "memory") return [node.memory, node.usedMemory];
  if (name === "ephemeral-storage") return [node.storage, node.usedStorage];
  return [node.scalars?.get(name) ?? 0, node.usedScalars?.get(name) ?? 0];
}
