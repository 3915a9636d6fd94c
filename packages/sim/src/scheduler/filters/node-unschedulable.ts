/** The filter NodeUnschedulable: cordoned nodes take nobody, except whoever does not mind. Pure. */

import { toleratesUnschedulable } from "../../placement/tolerations.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, unresolvable } from "../rejection.ts";

const REJECTION = unresolvable("NodeUnschedulable", "node(s) were unschedulable");

export function nodeUnschedulable({ pod }: PodInfo, { unschedulable }: NodeInfo): Rejection | undefined {
  return unschedulable && !toleratesUnschedulable(pod.spec?.tolerations) ? REJECTION : undefined;
}
