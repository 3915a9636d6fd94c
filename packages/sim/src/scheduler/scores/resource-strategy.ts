/** The score NodeResourcesFit: rather the emptier node, or rather the fuller one, as the profile wants it. Pure. */

import { isScalar } from "../../placement/resources.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";

export interface ResourceWeight {
  readonly name: string;
  readonly weight: number;
}

interface ShapePoint {
  readonly utilization: number;
  /** From 0 to 10. */
  readonly score: number;
}

/** As in the arguments of NodeResourcesFit. */
export interface ScoringStrategyConfiguration {
  readonly type?: "LeastAllocated" | "MostAllocated" | "RequestedToCapacityRatio";
  readonly resources?: readonly { readonly name: string; readonly weight?: number }[];
  readonly requestedToCapacityRatio?: { readonly shape?: readonly ShapePoint[] };
}

export interface ScoringStrategy {
  readonly resources: readonly ResourceWeight[];
  /** What one resource of a node is worth, from 0 to 100, if so much of it is taken. */
  readonly score: (requested: number, capacity: number) => number;
  /** Resources that are worth nothing do not count at all, and the mean is rounded. */
  readonly leavesOutZeros: boolean;
}

const MOST = 100;

export function strategyOf(
  given: ScoringStrategyConfiguration | undefined,
  defaults: readonly ResourceWeight[],
): ScoringStrategy {
  const { type = "LeastAllocated", resources = [], requestedToCapacityRatio } = given ?? {};
  const weights = resources.map(({ name, weight }) => ({ name, weight: weight || 1 }));
  const common = { resources: weights.length > 0 ? weights : defaults, leavesOutZeros: false };
  switch (type) {
    case "LeastAllocated":
      return { ...common, score: leastAllocated };
    case "MostAllocated":
      return { ...common, score: mostAllocated };
    case "RequestedToCapacityRatio": {
      const shape = requestedToCapacityRatio?.shape ?? [];
      if (shape.length === 0) throw new RangeError("RequestedToCapacityRatio needs a shape");
      return { ...common, leavesOutZeros: true, score: byShape(shape) };
    }
    default:
      throw new RangeError(`there is no scoring strategy ${JSON.stringify(type)}`);
  }
}

function leastAllocated(requested: number, capacity: number): number {
  return requested > capacity ? 0 : Math.floor(((capacity - requested) * MOST) / capacity);
}

function mostAllocated(requested: number, capacity: number): number {
  return Math.floor((Math.min(requested, capacity) * MOST) / capacity);
}

/** Straight lines between the points. */
function byShape(shape: readonly ShapePoint[]): (requested: number, capacity: number) => number {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * 10 }));
  return (requested, capacity) => {
    const used = requested > capacity ? MOST : Math.floor((requested * MOST) / capacity);
    const next = points.findIndex(({ utilization }) => used <= utilization);
    const [left, right] = [points[next - 1], points[next]];
    if (!right) return points.at(-1)?.score ?? 0;
    if (!left) return right.score;
    const rise = (right.score - left.score) * (used - left.utilization);
    return left.score + Math.trunc(rise / (right.utilization - left.utilization));
  };
}

/** What a node has of a resource, and what of it is taken, pods that say nothing counted as something. */
export function shareOf(node: NodeInfo, name: string): readonly [capacity: number, used: number] {
  switch (name) {
    case "cpu":
      return [node.cpu, node.nonZeroCpu];
    case "memory":
      return [node.memory, node.nonZeroMemory];
    case "ephemeral-storage":
      return [node.storage, node.usedStorage];
    default:
      return [node.scalars?.get(name) ?? 0, node.usedScalars?.get(name) ?? 0];
  }
}

function requestOf({ requests, scoreCpu, scoreMemory }: PodInfo, name: string): number {
  if (name === "cpu") return scoreCpu;
  if (name === "memory") return scoreMemory;
  return name === "ephemeral-storage" ? requests.storage : (requests.scalars?.get(name) ?? 0);
}

/** How many points a node gets for a pod. Made once for each pod: as a rule, only CPU and memory count, and that is quick. */
export function resourceScorer(strategy: ScoringStrategy, pod: PodInfo): (node: NodeInfo) => number {
  const [first, second] = strategy.resources;
  const usual = strategy.resources.length === 2 && first?.name === "cpu" && second?.name === "memory";
  if (!usual || strategy.score !== leastAllocated) return (node) => resourceScore(strategy, pod, node);
  const { scoreCpu, scoreMemory } = pod;
  const [cpuWeight, memoryWeight] = [first.weight, second.weight];
  const weights = cpuWeight + memoryWeight;
  return (node) => {
    const { cpu, memory } = node;
    if (cpu === 0 || memory === 0) return resourceScore(strategy, pod, node);
    const cpuPoints = leastAllocated(node.nonZeroCpu + scoreCpu, cpu);
    const memoryPoints = leastAllocated(node.nonZeroMemory + scoreMemory, memory);
    return Math.floor((cpuPoints * cpuWeight + memoryPoints * memoryWeight) / weights);
  };
}

function resourceScore({ resources, score, leavesOutZeros }: ScoringStrategy, pod: PodInfo, node: NodeInfo): number {
  let [sum, weights] = [0, 0];
  for (const { name, weight } of resources) {
    const request = requestOf(pod, name);
    if (request === 0 && isScalar(name)) continue;
    const [capacity, used] = shareOf(node, name);
    if (capacity === 0) continue;
    const points = score(used + request, capacity);
    if (leavesOutZeros && points <= 0) continue;
    sum += points * weight;
    weights += weight;
  }
  if (weights === 0) return 0;
  return leavesOutZeros ? Math.round(sum / weights) : Math.floor(sum / weights);
}
