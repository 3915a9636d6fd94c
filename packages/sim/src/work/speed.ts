/** How fast work goes: with how many executors, beside which neighbours, on which node. Pure. */
import type { WorkKind, WorkModel } from "./model.ts";

/** How many times as fast as one are so many executors? Amdahl's law, up to the kind's maximum parallelism. */
export function speedup({ serial, maxParallelism }: WorkKind, executors: number): number {
  const useful = Math.min(executors, maxParallelism);
  return useful / (1 + serial * (useful - 1));
}

/** The rate of an application: the mean speed of its executors, so many times faster as that many are. */
export function applicationRate(kind: WorkKind, speeds: Iterable<number>): number {
  let [sum, count] = [0, 0];
  for (const speed of speeds) {
    sum += speed;
    count++;
  }
  return count === 0 ? 0 : (sum / count) * speedup(kind, count);
}

/** How many executors of each kind work on a node; the order of the kinds is that of the model. */
export type Crowd = readonly (readonly [kind: WorkKind, executors: number])[];

/** How fast one executor of a kind is in a crowd that it is part of: the node's speed over the product of all slowdowns. */
export function speedIn(crowd: Crowd, kind: WorkKind, nodeSpeed: number, model: WorkModel): number {
  let slowdown = 1;
  for (const [neighbour, executors] of crowd) {
    const others = neighbour === kind ? executors - 1 : executors;
    if (others > 0) slowdown *= model.slowdown(kind, neighbour) ** others;
  }
  return nodeSpeed / slowdown;
}
