/** A node where a pod would have place if some others went. */
import type { PodInfo } from "../pod-info.ts";

export interface Candidate {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly PodInfo[];
  /** How many of them a disruption budget wants to keep. */
  readonly violations: number;
}
