/** The score TaintToleration: rather not where a taint asks pods like this one to stay away. Pure. */
import type { coreV1 } from "@berth/kube";
import { isTolerated } from "../../placement/tolerations.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import { normalize } from "./normalize.ts";

export function taintScores({ pod }: PodInfo, nodes: readonly NodeInfo[]): number[] {
  const tolerations = (pod.spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === "PreferNoSchedule");
  const scores = nodes.map(({ softTaints }) => countUntolerated(softTaints, tolerations));
  normalize(scores, true);
  return scores;
}

function countUntolerated(taints: readonly coreV1.Taint[], tolerations: readonly coreV1.Toleration[]): number {
  let untolerated = 0;
  for (const taint of taints) if (!isTolerated(taint, tolerations)) untolerated++;
  return untolerated;
}
