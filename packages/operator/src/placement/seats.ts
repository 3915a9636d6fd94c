/** What the extender knows of the cluster, from caches. */
import { type Cache, coreV1, keyOf } from "@berth/kube";
import { annotation, label } from "../names.ts";
import { ghostOf, slotAt } from "../slot/world.ts";
import { slotOf } from "./assign.ts";
import type { Seats } from "./extender.ts";

const BY_UID = "berth.dev/tenant";

/** Has to be called before the caches start. */
export function indexForSeats(cache: Cache): void {
  cache
    .informer(coreV1.Pod)
    .addIndex(BY_UID, ({ metadata }) => (metadata.labels?.[label.role] === undefined ? [] : [metadata.uid ?? ""]));
}

export function seatsIn(cache: Cache): Seats {
  return {
    of: (pod) => {
      const { annotations = {}, labels = {} } = pod.metadata;
      const [testbed, slot] = [annotations[annotation.testbed], slotOf(pod)];
      if (labels[label.role] !== "executor" || testbed === undefined || slot === undefined) return undefined;
      const found = slotAt(testbed, slot, cache);
      return found && { slot, node: found.spec.nodeName, ghost: ghostOf(keyOf(found), cache) };
    },
    tenant: (uid) => cache.informer(coreV1.Pod).byIndex(BY_UID, uid)[0],
  };
}
