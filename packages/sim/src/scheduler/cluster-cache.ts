/**
 * What the scheduler knows of the cluster: nodes and the pods on them, kept as they change. A pod counts from the moment
 * it is decided where it goes (assumed), not only when it is bound.
 */
import { type Node, NodeInfo } from "./node-info.ts";
import { NodeOrder } from "./node-order.ts";
import { type Pod, PodInfo } from "./pod-info.ts";

interface Place {
  readonly node: NodeInfo;
  info: PodInfo;
  assumed: boolean;
}

export class ClusterCache {
  /** Also those that are gone, as long as there are pods of them. */
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #order = new NodeOrder();
  readonly #places = new Map<string, Place>();
  /** How many pods have which priority. */
  readonly #priorities = new Map<number, number>();
  /** Nodes with pods that have wishes about other pods, and with pods that must not be near some. */
  readonly withTerms = new Set<NodeInfo>();
  readonly withAntiAffinity = new Set<NodeInfo>();
  /** Nodes that some pods should rather stay away from. */
  readonly withSoftTaints = new Set<NodeInfo>();
  #listed: readonly string[] = [];
  #list: readonly NodeInfo[] = [];
  #version = 0;

  /** Counts changes: as long as it is the same, so are all answers. */
  get version(): number {
    return this.#version;
  }

  /** The nodes that there are, in the order in which they are to be looked at. */
  get nodes(): readonly NodeInfo[] {
    const names = this.#order.names();
    if (names !== this.#listed) {
      this.#listed = names;
      this.#list = names.map((name) => this.#nodes.get(name) as NodeInfo);
    }
    return this.#list;
  }

  /** `undefined` if there is no such node. */
  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name);
    return info?.node && info;
  }

  /** The least important of all pods that have a place; if there is none, nothing is less important. */
  get lowestPriority(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const priority of this.#priorities.keys()) if (priority < lowest) lowest = priority;
    return lowest;
  }

  setNode(node: Node): void {
    const info = this.#nodeInfo(node.metadata.name ?? "");
    const { node: before } = info;
    if (before && isAlike(node, before)) {
      info.node = node; // it is alive, and that is all
      return;
    }
    this.#order.put(node, before);
    info.setNode(node);
    if (info.softTaints.length > 0) this.withSoftTaints.add(info);
    else this.withSoftTaints.delete(info);
    this.#version++;
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info?.node) return;
    this.#order.remove(info.node);
    info.removeNode();
    this.withSoftTaints.delete(info);
    this.#tidy(info);
    this.#version++;
  }

  isAssumed(uid: string): boolean {
    return this.#places.get(uid)?.assumed ?? false;
  }

  /** From now on a pod counts on a node, though it is not bound yet. */
  assume(info: PodInfo, nodeName: string): void {
    this.#add(info, nodeName, true);
  }

  /** Nothing came of it. Whether there was something to forget. */
  forget(uid: string): boolean {
    if (!this.isAssumed(uid)) return false;
    return this.#remove(uid) !== undefined;
  }

  /** A pod that is on a node, as it is now. */
  putPod(pod: Pod): void {
    const [uid, nodeName] = [pod.metadata.uid ?? "", pod.spec?.nodeName ?? ""];
    const place = this.#places.get(uid);
    const info = new PodInfo(pod, place?.info);
    if (place?.node.name !== nodeName) {
      this.#remove(uid);
      this.#add(info, nodeName, false);
      return;
    }
    const unchanged = info.requests === place.info.requests && info.labels === place.info.labels;
    const ending = pod.metadata.deletionTimestamp !== place.info.pod.metadata.deletionTimestamp;
    // What else changes about a pod changes nobody's chances, except that of pods that look for wishes or endings.
    if (!unchanged || ending) this.#version++;
    place.node.replacePod(place.info, info);
    place.info = info;
    place.assumed = false;
  }

  /** What it was, if it was here. */
  removePod(uid: string): PodInfo | undefined {
    return this.#remove(uid);
  }

  pod(uid: string): PodInfo | undefined {
    return this.#places.get(uid)?.info;
  }

  #add(info: PodInfo, nodeName: string, assumed: boolean): void {
    const node = this.#nodeInfo(nodeName);
    node.addPod(info);
    this.#places.set(info.uid, { node, info, assumed });
    this.#priorities.set(info.priority, (this.#priorities.get(info.priority) ?? 0) + 1);
    this.#remember(node);
    this.#version++;
  }

  #remove(uid: string): PodInfo | undefined {
    const place = this.#places.get(uid);
    if (!place) return undefined;
    this.#places.delete(uid);
    const { priority } = place.info;
    const left = (this.#priorities.get(priority) ?? 0) - 1;
    if (left > 0) this.#priorities.set(priority, left);
    else this.#priorities.delete(priority);
    place.node.removePod(place.info);
    this.#remember(place.node);
    this.#tidy(place.node);
    this.#version++;
    return place.info;
  }

  #nodeInfo(name: string): NodeInfo {
    let info = this.#nodes.get(name);
    if (!info) {
      info = new NodeInfo(name);
      this.#nodes.set(name, info);
    }
    return info;
  }

  #remember(node: NodeInfo): void {
    if (node.podsWithTerms.length > 0) this.withTerms.add(node);
    else this.withTerms.delete(node);
    if (node.podsWithAntiAffinity.length > 0) this.withAntiAffinity.add(node);
    else this.withAntiAffinity.delete(node);
  }

  #tidy(info: NodeInfo): void {
    if (info.node === undefined && info.pods.length === 0) this.#nodes.delete(info.name);
  }
}

/** Objects share what has not changed, so that comparing costs next to nothing. */
function isAlike(node: Node, before: Node): boolean {
  return (
    node.spec === before.spec &&
    node.metadata.labels === before.metadata.labels &&
    node.status?.allocatable === before.status?.allocatable
  );
}
