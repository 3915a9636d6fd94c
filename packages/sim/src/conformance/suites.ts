/** All suites of the conformance tests. */
import { access } from "./access.suite.ts";
import { applications } from "./applications.suite.ts";
import { apply } from "./apply.suite.ts";
import { cel } from "./cel.suite.ts";
import { customDefinitions } from "./custom-definitions.suite.ts";
import { customResources } from "./custom-resources.suite.ts";
import { decoding } from "./decoding.suite.ts";
import { deployments } from "./deployments.suite.ts";
import { extenders } from "./extender.suite.ts";
import { garbageCollection } from "./garbage-collection.suite.ts";
import { http } from "./http.suite.ts";
import { namespaces } from "./namespaces.suite.ts";
import { patches } from "./patches.suite.ts";
import { preemption } from "./preemption.suite.ts";
import { randomWrites } from "./random-writes.suite.ts";
import { scheduling } from "./scheduling.suite.ts";
import { sets } from "./sets.suite.ts";
import type { Suite } from "./suite.ts";

export const suites: readonly Suite[] = [
  http,
  access,
  applications,
  patches,
  apply,
  randomWrites,
  decoding,
  customDefinitions,
  customResources,
  cel,
  garbageCollection,
  namespaces,
  deployments,
  sets,
  scheduling,
  preemption,
  extenders,
];
