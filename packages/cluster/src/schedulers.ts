/** The cluster's kube-scheduler, and further ones beside it with configurations of their own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Binaries } from "./binaries.ts";
import { startComponent, waitUntilReady } from "./component.ts";
import { type SchedulerConfiguration, scheduler, schedulerConfig } from "./control-plane.ts";
import type { ClusterPlaces } from "./places.ts";
import { freePort } from "./ports.ts";

/** Writes the configuration and starts a kube-scheduler with it, as the component of the given name. */
export async function startScheduler(
  places: ClusterPlaces,
  binaries: Binaries,
  component: string,
  given: SchedulerConfiguration,
  signal?: AbortSignal,
): Promise<void> {
  const config = join(places.folder, `${component}.yaml`);
  writeFileSync(config, stringify(schedulerConfig(places.kubeconfig, given)));
  const spec = scheduler({ binaries, places }, component, await freePort(), config);
  await waitUntilReady(places, startComponent(places, spec), signal);
}

/** Pure: a second scheduler answers to its own name unless its configuration says otherwise. */
export function secondScheduler(name: string, given: SchedulerConfiguration): SchedulerConfiguration {
  return { profiles: [{ schedulerName: name }], ...given };
}
