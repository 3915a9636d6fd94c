/** All of them, for whoever installs or documents them. */
import type { Resource } from "@berth/kube";
import { BatchJob } from "./batch-job.ts";
import { Scheduling } from "./scheduling.ts";
import { Slot } from "./slot.ts";
import { Testbed } from "./testbed.ts";

/** Berth's resources, in the order in which people meet them. */
export const resources: readonly Resource[] = [Testbed, Slot, BatchJob, Scheduling] as readonly unknown[] as Resource[];
