/** Everything together: a cluster with operator and gateway in one process. @packageDocumentation */
export { type Berth, type BerthOptions, SLOT_LABEL, startBerth } from "./up/berth.ts";
