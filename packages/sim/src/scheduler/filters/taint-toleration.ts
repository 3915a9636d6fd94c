/** The filter TaintToleration: taints keep pods away that do not tolerate them. Pure. */

import { anyUntolerated } from "../../placement/tolerations.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { type Rejection, unresolvable } from "../rejection.ts";

const REJECTION = unresolvable("TaintToleration", "node(s) had untolerated taint(s)");

export function taintToleration({ pod }: PodInfo, { hardTaints }: NodeInfo): Rejection | undefined {
  return hardTaints.length > 0 && anyUntolerated(hardTaints, pod.spec?.tolerations) ? REJECTION : undefined;
}
