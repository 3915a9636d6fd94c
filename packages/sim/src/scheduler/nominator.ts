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

/** A filter: `undefined` if the node will do. */
interface Check<R> {
  readonly pod: PodInfo;
  check(node: Node): R | undefined;
  copy(): Check<R>;
  addPod(pod: PodInfo, node: Node): void;
}
type Node = import("./node-info.ts").NodeInfo;

/**
 * Whether a node does for a pod both with and without those who wait there: some of them may never come, and some rules
 * are only kept if they do.
 */
export function checkWithNominated<R>(checks: Check<R>, node: Node, nominator: Nominator): R | undefined {
  if (nominator.size > 0) {
    const { pod } = checks;
    const waiting = [...nominator.on(node.name)].filter(
      (other) => other.priority >= pod.priority && other.uid !== pod.uid,
    );
    if (waiting.length > 0) {
      const [tried, copy] = [checks.copy(), node.copy()];
      for (const other of waiting) {
        copy.addPod(other);
        tried.addPod(other, copy);
      }
      const rejection = tried.check(copy);
      if (rejection) return rejection;
    }
  }
  return checks.check(node);
}
