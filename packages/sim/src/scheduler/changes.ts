/** What happens in the cluster, as the scheduler hears of it: noted in the cache, and told to the pods that wait. */
import type { Event } from "../api/local-api.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Node } from "./node-info.ts";
import { isAssigned, isFinished, type Pod, PodInfo } from "./pod-info.ts";
import { bare, nodeChanges, podChanges } from "./queue/cluster-events.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export class Changes {
  readonly #cache: ClusterCache;
  readonly #queue: SchedulingQueue;
  readonly #isMine: (pod: Pod) => boolean;

  /** @param isMine - Whether a pod names this scheduler. */
  constructor(cache: ClusterCache, queue: SchedulingQueue, isMine: (pod: Pod) => boolean) {
    this.#cache = cache;
    this.#queue = queue;
    this.#isMine = isMine;
  }

  onNode({ type, object, before }: Event<Node>): void {
    if (type === "ADDED") {
      this.#cache.setNode(object);
      this.#queue.move({ on: "Node", action: "Add", after: bare(object) });
    } else if (type === "MODIFIED" && before) {
      this.#cache.setNode(object);
      for (const event of nodeChanges(before, object)) this.#queue.move(event);
    } else if (type === "DELETED") {
      this.#queue.move({ on: "Node", action: "Delete", before: bare(object) });
      this.#cache.removeNode(object.metadata.name ?? "");
    }
  }

  onPod({ type, object, before }: Event<Pod>): void {
    const was = before && !isFinished(before) ? before : undefined;
    const is = type !== "DELETED" && !isFinished(object) ? object : undefined;
    if (is && was) this.#onPodChanged(was, is);
    else if (is) {
      if (isAssigned(is)) this.#onAssigned(is);
      else if (this.#isMine(is)) this.#queue.add(is);
    } else if (was) this.#onPodGone(object);
  }

  /** A pod that was given a place will not come. */
  forget(uid: string): void {
    const before = this.#cache.pod(uid);
    if (this.#cache.forget(uid)) this.#queue.move({ on: "Pod", action: "Delete", before });
  }

  #onPodChanged(was: Pod, is: Pod): void {
    const uid = is.metadata.uid ?? "";
    if (isAssigned(was)) {
      const before = this.#cache.pod(uid);
      this.#cache.putPod(is);
      const after = this.#cache.pod(uid);
      if (before && after && this.#queue.size > 0)
        for (const event of podChanges(before, after)) this.#queue.move(event);
    } else if (isAssigned(is)) {
      this.#onAssigned(is);
      if (this.#isMine(was)) this.#queue.delete(uid);
    } else if (this.#isMine(was)) this.#onWaitingChanged(was, is);
  }

  #onAssigned(pod: Pod): void {
    this.#cache.putPod(pod);
    this.#queue.move({ on: "Pod", action: "Add", after: this.#cache.pod(pod.metadata.uid ?? "") });
  }

  #onWaitingChanged(was: Pod, is: Pod): void {
    const uid = is.metadata.uid ?? "";
    if (this.#cache.isAssumed(uid)) {
      if (is.metadata.deletionTimestamp && !was.metadata.deletionTimestamp) this.forget(uid);
      return;
    }
    this.#queue.update(was, is);
    const nominated = was.status?.nominatedNodeName;
    if (nominated && nominated !== is.status?.nominatedNodeName) this.#freeNomination(was);
  }

  #onPodGone(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    if (isAssigned(pod)) {
      const before = this.#cache.removePod(uid);
      this.#queue.move({ on: "Pod", action: "Delete", before: before ?? new PodInfo(pod) });
    } else if (this.#isMine(pod)) {
      this.#queue.delete(uid);
      if (this.#cache.isAssumed(uid)) this.forget(uid);
      else if (pod.status?.nominatedNodeName) this.#freeNomination(pod);
    }
  }

  /** A pod does not wait any more where it did: for those who had to leave the place to it, it is as if it had gone. */
  #freeNomination(pod: Pod): void {
    const before = new PodInfo(pod);
    this.#queue.move({ on: "Pod", action: "Delete", before }, ({ priority }) => priority <= before.priority);
  }
}
