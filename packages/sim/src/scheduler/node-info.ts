/** A node as the scheduler sees it: what it has, what is taken of it, and by whom. */
import type { coreV1 } from "@berth/kube";
import type { HostPort } from "../placement/host-ports.ts";
import { amountsOf } from "../placement/resources.ts";
import type { Labels } from "../placement/selectors.ts";
import type { PodInfo } from "./pod-info.ts";

export type Node = coreV1.Node;
export type Taint = coreV1.Taint;

const NO_LABELS: Labels = {};
const NO_TAINTS: readonly Taint[] = [];

export class NodeInfo {
  readonly name: string;
  /** `undefined` if there are pods of a node that is not, or no longer, there. */
  node: Node | undefined;
  labels: Labels = NO_LABELS;
  unschedulable = false;
  /** Those that keep pods away, and those that only should. */
  hardTaints: readonly Taint[] = NO_TAINTS;
  softTaints: readonly Taint[] = NO_TAINTS;

  /** What the node has. */
  cpu = 0;
  memory = 0;
  storage = 0;
  scalars: ReadonlyMap<string, number> | undefined;
  maxPods = 0;

  /** What its pods have asked for. */
  usedCpu = 0;
  usedMemory = 0;
  usedStorage = 0;
  usedScalars: Map<string, number> | undefined;
  /** The same where nodes are compared: no container counts for nothing. */
  nonZeroCpu = 0;
  nonZeroMemory = 0;

  pods: PodInfo[] = [];
  /** Those that have any wish about other pods, and those that must not be near some. */
  podsWithTerms: PodInfo[] = [];
  podsWithAntiAffinity: PodInfo[] = [];
  takenPorts: HostPort[] = [];
  /** Counts changes that matter to the filters or scores. */
  generation = 0;

  constructor(name: string) {
    this.name = name;
  }

  setNode(node: Node): void {
    const { metadata, spec, status } = node;
    this.node = node;
    this.labels = metadata.labels ?? NO_LABELS;
    this.unschedulable = spec?.unschedulable ?? false;
    const taints = spec?.taints ?? NO_TAINTS;
    this.hardTaints = taints.filter(({ effect }) => effect === "NoSchedule" || effect === "NoExecute");
    this.softTaints = taints.filter(({ effect }) => effect === "PreferNoSchedule");
    const { cpu, memory, storage, scalars, pods } = amountsOf(status?.allocatable);
    this.cpu = cpu;
    this.memory = memory;
    this.storage = storage;
    this.scalars = scalars;
    this.maxPods = pods;
    this.generation++;
  }

  removeNode(): void {
    this.node = undefined;
  }

  addPod(pod: PodInfo): void {
    this.pods.push(pod);
    if (pod.hasTerms) this.podsWithTerms.push(pod);
    if (pod.terms.antiAffinity.length > 0) this.podsWithAntiAffinity.push(pod);
    this.#count(pod, 1);
  }

  removePod(pod: PodInfo): void {
    takeOut(this.pods, pod);
    if (pod.hasTerms) takeOut(this.podsWithTerms, pod);
    if (pod.terms.antiAffinity.length > 0) takeOut(this.podsWithAntiAffinity, pod);
    this.#count(pod, -1);
  }

  /** Puts a pod into the place of what it was before. */
  replacePod(before: PodInfo, pod: PodInfo): void {
    const likeBefore = before.requests === pod.requests && before.ports === pod.ports && before.terms === pod.terms;
    if (!likeBefore || before.hasTerms) {
      this.removePod(before);
      this.addPod(pod);
    } else {
      this.pods[this.pods.lastIndexOf(before)] = pod;
    }
  }

  /** One to try things with. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name);
    Object.assign(copy, this);
    copy.usedScalars = this.usedScalars && new Map(this.usedScalars);
    copy.pods = [...this.pods];
    copy.podsWithTerms = [...this.podsWithTerms];
    copy.podsWithAntiAffinity = [...this.podsWithAntiAffinity];
    copy.takenPorts = [...this.takenPorts];
    return copy;
  }

  #count({ requests, nonZeroCpu, nonZeroMemory, ports }: PodInfo, sign: 1 | -1): void {
    this.generation++;
    this.usedCpu += sign * requests.cpu;
    this.usedMemory += sign * requests.memory;
    this.usedStorage += sign * requests.storage;
    if (requests.scalars) {
      this.usedScalars ??= new Map();
      for (const [name, amount] of requests.scalars)
        this.usedScalars.set(name, (this.usedScalars.get(name) ?? 0) + sign * amount);
    }
    this.nonZeroCpu += sign * nonZeroCpu;
    this.nonZeroMemory += sign * nonZeroMemory;
    if (ports.length === 0) return;
    if (sign === 1) this.takenPorts.push(...ports);
    else this.takenPorts = this.takenPorts.filter((port) => !ports.includes(port));
  }
}

/** The last one takes its place, as in kube-scheduler: which pods are looked at first depends on it. */
function takeOut(pods: PodInfo[], pod: PodInfo): void {
  const index = pods.lastIndexOf(pod);
  if (index < 0) return;
  const last = pods.pop() as PodInfo;
  if (index < pods.length) pods[index] = last;
}
