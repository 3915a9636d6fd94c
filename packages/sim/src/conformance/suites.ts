/** All suites of the conformance tests. */
import { access } from "./access.suite.ts";
import { applications } from "./applications.suite.ts";
import { http } from "./http.suite.ts";
import type { Suite } from "./suite.ts";

export const suites: readonly Suite[] = [http, access, applications];
