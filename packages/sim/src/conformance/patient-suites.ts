/** Suites that have to wait for a long time on a real cluster; the simulated one runs them on a faster clock. */
import { jobs } from "./jobs.suite.ts";
import { nodes } from "./nodes.suite.ts";
import type { Suite } from "./suite.ts";

export const patientSuites: readonly Suite[] = [jobs, nodes];
