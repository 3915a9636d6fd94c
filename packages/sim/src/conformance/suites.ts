/** All suites of the conformance tests. */
import { access } from "./access.suite.ts";
import { admission } from "./admission.suite.ts";
import { applications } from "./applications.suite.ts";
import { apply } from "./apply.suite.ts";
import { cel } from "./cel.suite.ts";
import { customDefinitions } from "./custom-definitions.suite.ts";
import { customResources } from "./custom-resources.suite.ts";
import { decoding } from "./decoding.suite.ts";
import { deployments } from "./deployments.suite.ts";
import { extenders } from "./extender.suite.ts";
import { garbageCollection } from "./garbage-collection.suite.ts";
import { gates } from "./gates.suite.ts";
import { http } from "./http.suite.ts";
import { jobsApi } from "./jobs-api.suite.ts";
import { namespaces } from "./namespaces.suite.ts";
import { objects } from "./objects.suite.ts";
import { patches } from "./patches.suite.ts";
import { pods } from "./pods.suite.ts";
import { preemption } from "./preemption.suite.ts";
import { randomObjects } from "./random-objects.suite.ts";
import { randomWrites } from "./random-writes.suite.ts";
import { reading } from "./reading.suite.ts";
import { scheduling } from "./scheduling.suite.ts";
import { sets } from "./sets.suite.ts";
import { subresources } from "./subresources.suite.ts";
import type { Suite } from "./suite.ts";

export const suites: readonly Suite[] = [
  http,
  access,
  reading,
  decoding,
  objects,
  pods,
  jobsApi,
  subresources,
  admission,
  randomObjects,
  patches,
  apply,
  randomWrites,
  customDefinitions,
  customResources,
  cel,
  garbageCollection,
  namespaces,
  deployments,
  sets,
  applications,
  scheduling,
  preemption,
  extenders,
  gates,
];
