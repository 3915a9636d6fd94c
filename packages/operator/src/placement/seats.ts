/** What the extender knows of the cluster, from caches. */
import { type Cache, type Clock, coreV1, keyOf } from "@berth/kube";
import { forgetUntil } from "../forget.ts";
import { annotation, label } from "../names.ts";
import { ghostOf, slotAt } from "../slot/world.ts";
import { slotOf } from "./assign.ts";
import type { Seats } from "./extender.ts";

const BY_UID = "berth.dev/tenant";

/** A ghost that is still there after so long may be told to go again. */
const GOING_MS = 10_000;

/** Has to be called before the caches start. */
export function indexForSeats(cache: Cache): void {
  cache
    .informer(coreV1.Pod)
    .addIndex(BY_UID, ({ metadata }) => (metadata.labels?.[label.role] === undefined ? [] : [metadata.uid ?? ""]));
}

export function seatsIn(cache: Cache, clock: Clock): Seats {
  /** Who was told to go, and when: the last one last. */
  const told = new Map<string, number>();
  return {
    of: (pod) => {
      const { annotations = {}, labels = {} } = pod.metadata;
      const [testbed, slot] = [annotations[annotation.testbed], slotOf(pod)];
      if (labels[label.role] !== "executor" || testbed === undefined || slot === undefined) return undefined;
      const found = slotAt(testbed, slot, cache);
      return found && { slot, node: found.spec.nodeName, ghost: ghostOf(keyOf(found), cache) };
    },
    tenant: (uid) => cache.informer(coreV1.Pod).byIndex(BY_UID, uid)[0],
    tellToGo: (uid) => {
      const now = clock.steady();
      forgetUntil(now - GOING_MS, told);
      if (told.has(uid)) return false;
      told.set(uid, now);
      return true;
    },
  };
}
