/** All suites of the conformance tests. */
import type { Suite } from "./suite.ts";

export const suites: readonly Suite[] = [];
