/** Where everything happens at once: a cluster with two replicas of the operator, in which anybody may die at any moment. */
import type { Client } from "@berth/kube";
import type { Audit } from "./audit.ts";

export interface Arena {
  readonly client: Client;
  /** Lets so much time pass. */
  pass(milliseconds: number): Promise<void>;
  /** How long things may take until they count as stuck. */
  readonly patienceMs: number;
  addNode(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** It falls silent, and speaks again. */
  breakNode(name: string): Promise<void>;
  mendNode(name: string): Promise<void>;
  /** One replica of the operator dies in the middle of whatever it does, and another takes its place. */
  killOperator(): Promise<void>;
  killScheduler(): Promise<void>;
  /** What the API server's own record says so far. */
  audit(): Promise<Audit>;
  close(): Promise<void>;
}

export interface ArenaOptions {
  readonly seed: string;
  readonly placement: "gate" | "extender";
}
