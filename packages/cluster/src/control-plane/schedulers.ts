/** The cluster's kube-scheduler, and further ones beside it with configurations of their own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Binaries } from "../binaries/binaries.ts";
import type { ClusterPlaces } from "../places.ts";
import type { ComponentSpec } from "../process/component.ts";
import { freePort } from "../process/ports.ts";
import { type SchedulerConfiguration, scheduler, schedulerConfig } from "./components.ts";

/** Writes the configuration of a kube-scheduler and returns the component that runs with it. */
export async function prepareScheduler(
  places: ClusterPlaces,
  binaries: Binaries,
  component: string,
  given: SchedulerConfiguration,
): Promise<ComponentSpec> {
  const config = join(places.folder, `${component}.yaml`);
  writeFileSync(config, stringify(schedulerConfig(places.kubeconfig, given)));
  return scheduler({ binaries, places }, component, await freePort(), config);
}

/** Pure: a second scheduler answers to its own name unless its configuration says otherwise. */
export function secondScheduler(name: string, given: SchedulerConfiguration): SchedulerConfiguration {
  return { profiles: [{ schedulerName: name }], ...given };
}
