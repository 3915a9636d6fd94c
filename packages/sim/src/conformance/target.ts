/** What the conformance suite runs against: the simulated cluster or a real one, seen through the same eyes. */
import type { Client, Transport } from "@berth/kube";

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeShape {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute" }[];
  /** Over the default of 8 CPUs, 32Gi of memory and 110 pods. */
  readonly allocatable?: Readonly<Record<string, string>>;
}

export interface Target {
  readonly name: "sim" | "real";
  readonly client: Client;
  readonly transport: Transport;
  /** For programs that are not ours. */
  readonly kubeconfig: string;
  /** A namespace of its own, with its default service account. */
  namespace(): Promise<string>;
  /** A node that runs pods: simulated, or KWOK's. */
  addNode(shape: NodeShape): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** The name of a node that really runs containers, with the image `berth.dev/busybox`; absent where there is none. */
  runningNode?(): Promise<string>;
  /**
   * Starts one more scheduler beside the first, with a configuration as kube-scheduler takes it. It serves pods that name
   * it, and stays until the target is gone.
   */
  scheduler?(name: string, configuration: Readonly<Record<string, unknown>>): Promise<void>;
  kubectl(args: readonly string[], input?: string): Promise<KubectlResult>;
  /** A plain HTTP request as an administrator: for what no client of ours would send. */
  http(method: string, path: string, options?: HttpOptions): Promise<HttpAnswer>;
}

export interface HttpOptions {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}
