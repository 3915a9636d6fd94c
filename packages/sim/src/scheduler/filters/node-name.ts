/** The filter NodeName: who names a node wants that one. Pure. */
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, unresolvable } from "../rejection.ts";

const REJECTION = unresolvable("NodeName", "node(s) didn't match the requested node name");

export function nodeName({ pod }: PodInfo, { name }: NodeInfo): Rejection | undefined {
  const wanted = pod.spec?.nodeName;
  return !wanted || wanted === name ? undefined : REJECTION;
}
