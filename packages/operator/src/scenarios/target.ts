/** What scenarios are played on: a simulated cluster in virtual time, or a real control plane. The operator runs on it. */
import type { Client, VirtualClock } from "@berth/kube";

export interface TargetOptions {
  readonly placement: "gate" | "extender";
  /** Of a simulated cluster. Default: one of its own. */
  readonly clock?: VirtualClock;
}

export interface Target {
  readonly name: "sim" | "real";
  readonly client: Client;
  /** A node with 8 CPUs and 32Gi of memory that runs pods. */
  addNode(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** It is not ready any more, and ready again. */
  breakNode(name: string): Promise<void>;
  mendNode(name: string): Promise<void>;
  /** Waits until the answer is neither nothing nor no. */
  eventually<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T>;
  /** Lets so much time pass. */
  pass(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}
