/**
 * Which nodes are alive. A kubelet says so by writing heartbeats; where kubelets and whoever listens to them live in one
 * process, they need not: a month of heartbeats of 5000 nodes would be more than a billion writes.
 */
import type { Clock } from "@berth/kube";

export class NodeHealth {
  readonly #clock: Clock;
  readonly #alive = new Set<string>();
  readonly #silentSince = new Map<string, number>();
  readonly #listeners = new Set<(node: string) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this is known of a node at all; of others only their heartbeats tell. */
  isKnown(node: string): boolean {
    return this.#alive.has(node) || this.#silentSince.has(node);
  }

  /** Since when nothing has been heard of a node; `undefined`: it is alive. */
  silentSince(node: string): number | undefined {
    return this.#silentSince.get(node);
  }

  /** A node is there, and well. */
  hear(node: string): void {
    if (this.#alive.has(node)) return;
    this.#alive.add(node);
    this.#silentSince.delete(node);
    this.#tell(node);
  }

  /** A node has fallen silent. */
  lose(node: string): void {
    if (!this.#alive.delete(node)) return;
    this.#silentSince.set(node, this.#clock.now());
    this.#tell(node);
  }

  /** Nobody is responsible for a node any more. */
  forget(node: string): void {
    this.#alive.delete(node);
    this.#silentSince.delete(node);
  }

  /** Told when a node falls silent or is heard of again. */
  onChange(listener: (node: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(node: string): void {
    for (const listener of this.#listeners) listener(node);
  }
}
