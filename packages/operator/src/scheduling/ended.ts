/** Schedulings that are over have nobody any more, and go after a while. */
import { type Cache, type ControllerOptions, keyOf, keyText, type Result, watch } from "@berth/kube";
import { BatchJob, Scheduling } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import { keysIn } from "../slot/world.ts";
import { together } from "../together.ts";
import { unlessGone } from "../writes.ts";
import { BY_HOLDER, CATCH_UP_MS, release } from "./controller.ts";
import { holderOf } from "./progress.ts";

export const endedRights = [may([...SEE, "delete"], Scheduling), may([...SEE, "patch"], BatchJob)];

export function endedController({ cache }: { readonly cache: Cache }): ControllerOptions<Scheduling> {
  const schedulings = cache.informer(Scheduling);
  const isEnded = (scheduling: Scheduling | undefined) => scheduling?.status?.completionTime !== undefined;
  return {
    name: "ended",
    for: Scheduling,
    watches: [watch(BatchJob, (job) => keysIn(holderOf(job)).filter((key) => isEnded(schedulings.get(key))))],
    reconcile: async (request, { client, clock }): Promise<Result | undefined> => {
      const scheduling = await client.find(Scheduling, request);
      const { completionTime } = scheduling?.status ?? {};
      if (!scheduling || completionTime === undefined) return undefined;
      const held = cache.informer(BatchJob).byIndex(BY_HOLDER, keyText(keyOf(scheduling)));
      const released: boolean[] = [];
      await together(held, async (job) => released.push(await release(client, job)));
      if (released.includes(false)) return { requeueAfter: CATCH_UP_MS };
      const left = Date.parse(completionTime) + scheduling.spec.ttlSecondsAfterFinished * 1000 - clock.now();
      if (left > 0) return { requeueAfter: left };
      await client.delete(Scheduling, keyOf(scheduling)).catch(unlessGone);
      return undefined;
    },
  };
}
