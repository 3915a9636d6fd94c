/** What stands between a client's wish and its object, in the order of the real API server. */
import type { Admission } from "../api/write.ts";

export const admissions: readonly Admission[] = [];
