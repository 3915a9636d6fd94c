/** Jobs whose Scheduling is gone are nobody's: they are let go. */
import {
  type Cache,
  type ControllerOptions,
  generationChanged,
  keyOf,
  keyText,
  type Reader,
  type Result,
  watch,
} from "@berth/kube";
import { BatchJob, Scheduling } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import { keysIn } from "../slot/world.ts";
import { BY_HOLDER, release } from "./controller.ts";
import { holderOf } from "./progress.ts";

export interface OrphanControllerOptions {
  readonly cache: Cache;
  /** Asks the API server itself: a Scheduling that we have not heard of yet is no reason to let its jobs go. */
  readonly reader: Reader;
}

export const orphanRights = [may([...SEE, "get"], Scheduling), may([...SEE, "patch"], BatchJob)];

export function orphanController({ cache, reader }: OrphanControllerOptions): ControllerOptions<BatchJob> {
  const heldBy = (scheduling: Scheduling) => cache.informer(BatchJob).byIndex(BY_HOLDER, keyText(keyOf(scheduling)));
  return {
    name: "orphan",
    for: BatchJob,
    predicates: [generationChanged], // who has it is in its spec
    watches: [
      watch(Scheduling, (scheduling) => heldBy(scheduling).map(keyOf), {
        predicates: [({ type }) => type === "delete"],
      }),
    ],
    reconcile: async (request, { client }): Promise<Result | undefined> => {
      const job = await client.find(BatchJob, request);
      const [holder] = keysIn(job && holderOf(job));
      if (!holder || cache.informer(Scheduling).get(holder)) return undefined;
      if (await reader.find(Scheduling, holder)) return { requeueAfter: 1000 };
      return (await release(client, job)) ? undefined : { requeueAfter: 1000 };
    },
  };
}
