/** A pod carries the labels that say where its node is. */
import type { coreV1 } from "@berth/kube";
import type { Lookup } from "../api/resource.ts";
import type { Admission } from "../api/write.ts";
import type { LooseObject } from "../kinds/common/loose.ts";
import { own } from "../kinds/common/maps.ts";
import type { Pod } from "../kinds/pod/types.ts";
import { isPods } from "./refused.ts";

const NODES = { group: "", plural: "nodes" };
const LABELS = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export const topologyLabels: Admission = {
  admit: (object, resource, { lookup }, operation) => {
    if (operation !== "create" || !isPods(resource)) return;
    const { spec, metadata }: Pod = object;
    const labels = spec?.nodeName ? topologyOf(spec.nodeName, lookup) : undefined;
    if (labels) metadata.labels = { ...metadata.labels, ...labels };
  },
};

/** `undefined` if the node says nothing of it. */
export function topologyOf(node: string, lookup: Lookup): Record<string, string> | undefined {
  const { labels } = (lookup.get(NODES, node) as LooseObject<coreV1.Node> | undefined)?.metadata ?? {};
  let result: Record<string, string> | undefined;
  for (const key of LABELS) {
    const value = own(labels, key);
    if (value !== undefined) result = { ...result, [key]: value };
  }
  return result;
}
