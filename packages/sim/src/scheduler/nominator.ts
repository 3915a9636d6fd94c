/** Pods that wait for a place on a node which is being made for them: others of no higher rank must not take it. */
import type { PodInfo } from "./pod-info.ts";

export class Nominator {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodes = new Map<string, string>();
  #version = 0;

  /** Counts changes: as long as it is the same, so are all answers. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Where a pod waits, if anywhere. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid);
  }

  /** Those who wait for a place on a node, the longest first. */
  on(node: string): Iterable<PodInfo> {
    return this.#byNode.get(node)?.values() ?? [];
  }

  put(pod: PodInfo, node: string): void {
    this.remove(pod.uid);
    this.#version++;
    this.#nodes.set(pod.uid, node);
    const waiting = this.#byNode.get(node);
    if (waiting) waiting.set(pod.uid, pod);
    else this.#byNode.set(node, new Map([[pod.uid, pod]]));
  }

  /** The same pod, as it is now. */
  refresh(pod: PodInfo): void {
    const waiting = this.#byNode.get(this.#nodes.get(pod.uid) ?? "");
    if (waiting?.has(pod.uid)) waiting.set(pod.uid, pod);
  }

  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    this.#version++;
    this.#nodes.delete(uid);
    const waiting = this.#byNode.get(node);
    waiting?.delete(uid);
    if (waiting?.size === 0) this.#byNode.delete(node);
  }
}
