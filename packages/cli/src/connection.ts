/** How a command reaches a cluster: as kubectl would, from the same flags. */
import { type Connection, loadConnection } from "@berth/kube";

export interface ConnectionFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Flags that were not given are absent, not undefined: then kubectl's own defaults count. */
export function connectionOf({ kubeconfig, context }: ConnectionFlags): Connection {
  return loadConnection({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
}
