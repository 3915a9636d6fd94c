/**
 * Clears away pods that nobody else does: those of nodes that are gone, those that were to go before they had a node, those
 * that hang on a node which is out of service, and the oldest of too many that have ended.
 */
import { coreV1, keyOf, kubernetesTime } from "@berth/kube";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { podIndexes } from "../index-by.ts";
import { keyFrom, textOf } from "../parents.ts";
import { readiness } from "./node-taints.ts";
import { withDisruption } from "./taint-eviction.ts";

export interface PodGarbageOptions {
  /** How many pods that have ended are kept. Default: 12,500. */
  readonly terminatedPods?: number;
}

/** How often the real one looks: for as long, something may be wrong before it is cleared away. */
const PERIOD_MS = 20_000;
/** For how long a node must be gone before its pods are. */
const QUARANTINE_MS = 40_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
const TERMINATED = "terminated";

export class PodGarbage implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  /** Keys are "node/NAME", "pod/NAMESPACE/NAME" and "terminated". */
  readonly #bench: Workbench;
  readonly #most: number;
  readonly #terminated = new Map<string, coreV1.Pod>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings, { terminatedPods = 12_500 }: PodGarbageOptions = {}) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:pod-garbage-collector");
    this.#bench = new Workbench(surroundings, (key) => this.#clear(key));
    this.#most = terminatedPods;
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Node, ({ type, object: { metadata, spec } }) => {
        const isOut = spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE);
        if (type === "DELETED") this.#bench.addWithin(`node/${metadata.name}`, QUARANTINE_MS);
        else if (isOut) this.#bench.addWithin(`node/${metadata.name}`, PERIOD_MS);
      }),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const pod of this.#api.list(coreV1.Pod)) this.#onPod({ type: "ADDED", object: pod, before: undefined });
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const { uid = "", deletionTimestamp } = object.metadata;
    const node = object.spec?.nodeName;
    if (type === "DELETED" || !isTerminated(object)) this.#terminated.delete(uid);
    else {
      this.#terminated.set(uid, object);
      if (this.#terminated.size > this.#most) this.#bench.addWithin(TERMINATED, PERIOD_MS);
    }
    if (type === "DELETED") return;
    const isNew = before?.spec?.nodeName !== node || before?.metadata.deletionTimestamp !== deletionTimestamp;
    if (!isNew) return;
    if (node) {
      const found = this.#api.get(coreV1.Node, { name: node });
      if (!found) this.#bench.addWithin(`node/${node}`, QUARANTINE_MS);
      else if (deletionTimestamp !== undefined && isOutOfService(found))
        this.#bench.addWithin(`node/${node}`, PERIOD_MS);
    } else if (deletionTimestamp !== undefined) this.#bench.addWithin(`pod/${textOf(object)}`, PERIOD_MS);
  }

  #clear(key: string): void {
    const rest = key.slice(key.indexOf("/") + 1);
    if (key === TERMINATED) this.#clearTerminated();
    else if (key.startsWith("node/")) this.#clearNode(rest);
    else this.#clearUnscheduled(rest);
  }

  #clearNode(name: string): void {
    const node = this.#api.get(coreV1.Node, { name });
    const pods = [...podIndexes(this.#surroundings.server).byNode.get(name).values()];
    if (!node) for (const pod of pods) this.#delete(pod, "PodGC: node no longer exists");
    else if (isOutOfService(node))
      for (const pod of pods) if (pod.metadata.deletionTimestamp !== undefined) this.#delete(pod);
  }

  #clearUnscheduled(key: string): void {
    const pod = this.#api.get(coreV1.Pod, keyFrom(key));
    if (pod && !pod.spec?.nodeName && pod.metadata.deletionTimestamp !== undefined) this.#delete(pod);
  }

  #clearTerminated(): void {
    const surplus = this.#terminated.size - this.#most;
    if (surplus <= 0) return;
    const order = ({ metadata: { creationTimestamp = "", name = "" }, status }: coreV1.Pod) =>
      `${status?.reason === "Evicted" ? 0 : 1}${creationTimestamp}${name}`;
    const oldest = [...this.#terminated.values()].toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, surplus);
    for (const pod of oldest) this.#delete(pod);
  }

  /** Nobody is left who could end it well. @param why - What to say about it, if something. */
  #delete(pod: coreV1.Pod, why?: string): void {
    if (!isTerminated(pod)) {
      const time = kubernetesTime(this.#surroundings.clock.now());
      const status = why === undefined ? { ...pod.status } : withDisruption(pod, "DeletionByPodGC", why, time);
      const observedGeneration = pod.metadata.generation ?? 1;
      this.#api.updateStatus(coreV1.Pod, { ...pod, status: { ...status, phase: "Failed", observedGeneration } });
    }
    this.#api.delete(coreV1.Pod, keyOf(pod), { gracePeriodSeconds: 0 });
  }
}

function isTerminated({ status }: coreV1.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function isOutOfService(node: coreV1.Node): boolean {
  return readiness(node) !== "True" && (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false);
}
