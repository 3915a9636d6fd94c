/**
 * The kubelets of all simulated nodes: one component plays them all. It plays every node but those with the annotation
 * `sim.berth.dev/kubelet: "false"`, which somebody else looks after.
 *
 * A pod goes through these files: `admission.ts` (is it taken?), `pod-run.ts` (what is started when), `container.ts` (one
 * container), `runtime.ts` (how long it runs), `pod-status.ts` (what is written about it).
 */
import { type ApiRequest, type Clock, coreV1, jitter, keyOf, kubernetesTime, type Random } from "@berth/kube";
import { type Event, LocalApi } from "../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../controllers/component.ts";
import { podIndexes } from "../controllers/index-by.ts";
import { type Note, Recorder } from "../controllers/recorder.ts";
import { podRequests } from "../placement/resources.ts";
import { type Rejection, rejection } from "./admission.ts";
import { DefaultRuntime } from "./default-runtime.ts";
import { Heartbeats } from "./heartbeats.ts";
import { readLog } from "./logs.ts";
import { NodeHealth } from "./node-health.ts";
import { DEFAULT_RESOURCES, type NodeShape, nodeConditions, nodeObject, nodeStatus } from "./node-object.ts";
import { type PodHost, PodRun } from "./pod-run.ts";
import { podStatus } from "./pod-status.ts";
import type { Runtime } from "./runtime.ts";
import { SimNode } from "./sim-node.ts";

/** How kubelets behave. */
export interface KubeletOptions {
  /** Decides how long containers run. Default: annotations and simple commands, see `DefaultRuntime`. */
  readonly runtime?: Runtime;
  /** How long it takes from bound to the first container, where the pod does not say. Default: no time at all. */
  readonly startMs?: number;
  /** By which share of it, at most, chance makes it longer or shorter. Default: 0.2. */
  readonly startVariation?: number;
  /**
   * How often nodes say that they are alive, by writing. Default: every 10 seconds on a wall clock while there are at most
   * 100 nodes, else never: who lives in this process knows it anyway.
   */
  readonly heartbeatMs?: number;
}

/** On a node: "false" if somebody else plays its kubelet. */
export const KUBELET_ANNOTATION = "sim.berth.dev/kubelet";

/** What its work is called that is about nodes; all other work is called by a pod's uid. */
const NODE_PREFIX = "node ";

export class Kubelet implements Component, PodHost {
  readonly clock: Clock;
  readonly runtime: Runtime;
  /** For whoever wants to know which nodes are alive. */
  readonly health: NodeHealth;
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  /** For what `podStatus` makes, which is as the server would store it. */
  readonly #statuses: LocalApi;
  readonly #random: Random;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #heartbeats: Heartbeats;
  readonly #startMs: number;
  readonly #startVariation: number;
  readonly #nodes = new Map<string, SimNode>();
  readonly #runs = new Map<string, PodRun>();
  /** Pods that were put on a node of ours and not yet looked at. */
  readonly #arrivals = new Map<string, coreV1.Pod>();
  /** Pods of which something is to be written. */
  readonly #dirty = new Set<PodRun>();
  readonly #followers = new Map<string, Set<() => void>>();
  #indexes = 0;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings, options: KubeletOptions = {}) {
    const { runtime = new DefaultRuntime(), startMs = 0, startVariation = 0.2, heartbeatMs } = options;
    this.clock = surroundings.clock;
    this.runtime = runtime;
    this.health = new NodeHealth(surroundings.clock);
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:kubelet");
    this.#statuses = new LocalApi(surroundings.server, "system:kubelet", { trusted: true });
    this.#random = surroundings.random;
    this.#recorder = new Recorder(surroundings, "kubelet");
    this.#bench = new Workbench(surroundings, (key) => this.#work(key));
    this.#startMs = startMs;
    this.#startVariation = startVariation;
    this.#heartbeats = new Heartbeats(surroundings, this.#nodes, heartbeatMs);
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Node, (event) => this.#onNode(event)),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const node of this.#api.list(coreV1.Node)) this.#takeNode(node);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
    this.#heartbeats.stop();
    for (const run of this.#runs.values()) run.abandon();
  }

  // --- Nodes -------------------------------------------------------------------------------------------------------

  /** Creates a node that runs pods. */
  addNode(shape: NodeShape): coreV1.Node {
    const object = nodeObject(shape, this.#indexes, this.clock.now());
    const { status, ...rest } = object;
    const created = this.#api.create(coreV1.Node, object);
    // A server that takes no status from those who create needs to be told again.
    if (created.status?.nodeInfo || !status) return created;
    return this.#api.updateStatus(coreV1.Node, { ...created, ...rest, metadata: created.metadata, status });
  }

  /**
   * A node falls silent: nothing is heard of it or its pods until it recovers. Its containers are lost, or, if they are to
   * be kept, go on unseen, as those behind a broken network do.
   */
  failNode(name: string, { containers = "lost" }: { containers?: "lost" | "kept" } = {}): void {
    const node = this.#node(name);
    node.isSilent = true;
    this.health.lose(name);
    if (containers === "lost") for (const run of node.runs.values()) run.lose();
  }

  /** A node is back, and tells of itself and its pods. */
  recoverNode(name: string): void {
    const node = this.#node(name);
    node.isSilent = false;
    this.health.hear(name);
    this.reportNode(name);
    for (const run of node.runs.values()) {
      run.recover();
      this.changed(run);
    }
    for (const pod of podIndexes(this.#surroundings.server).byNode.get(name).values()) {
      if (this.#arrivals.has(pod.metadata.uid ?? "")) this.#arrive(pod);
    }
  }

  /** What a node says of itself: that it is well, or why it is not. */
  reportNode(name: string, problem?: { readonly reason: string; readonly message: string }): void {
    const { object } = this.#node(name);
    const time = kubernetesTime(this.clock.now());
    const conditions = nodeConditions(time).map((condition) => {
      const said = problem && condition.type === "Ready" ? { ...condition, status: "False", ...problem } : condition;
      const before = object.status?.conditions?.find(({ type }) => type === said.type);
      const { lastTransitionTime } = before ?? {};
      return before?.status === said.status && lastTransitionTime !== undefined
        ? { ...said, lastTransitionTime }
        : said;
    });
    const ours = new Set(conditions.map(({ type }) => type));
    const others = object.status?.conditions?.filter(({ type }) => !ours.has(type)) ?? [];
    const status = { ...object.status, conditions: [...others, ...conditions] };
    this.#api.updateStatus(coreV1.Node, { ...object, status });
  }

  /** Deletes a node; its pods have nobody to look after them then. */
  removeNode(name: string): void {
    this.#api.delete(coreV1.Node, { name });
  }

  #node(name: string): SimNode {
    const node = this.#nodes.get(name);
    if (!node) throw new RangeError(`there is no simulated node "${name}"`);
    return node;
  }

  #onNode({ type, object }: Event<coreV1.Node>): void {
    const { name = "" } = object.metadata;
    const known = this.#nodes.get(name);
    if (type === "DELETED" || !isOurs(object)) {
      if (known) this.#leaveNode(known);
    } else if (known) known.object = object;
    else this.#takeNode(object);
  }

  #takeNode(object: coreV1.Node): void {
    if (!isOurs(object)) return;
    const node = new SimNode(object, this.#indexes++);
    this.#nodes.set(node.name, node);
    this.health.hear(node.name);
    this.#heartbeats.expect();
    if (!object.status?.conditions?.some(({ type }) => type === "Ready")) this.#bench.add(`${NODE_PREFIX}${node.name}`);
    for (const pod of podIndexes(this.#surroundings.server).byNode.get(node.name).values()) this.#arrive(pod);
  }

  /** A node that somebody has made without a status gets one. */
  #register(name: string): void {
    const node = this.#nodes.get(name);
    if (!node) return;
    const { object } = node;
    const resources = { ...DEFAULT_RESOURCES, ...object.status?.capacity, ...object.status?.allocatable };
    const status = { ...nodeStatus(name, resources, node.hostIP, this.clock.now()) };
    const conditions = [...(object.status?.conditions ?? []), ...(status.conditions ?? [])];
    this.#api.updateStatus(coreV1.Node, { ...object, status: { ...status, ...object.status, conditions } });
  }

  #leaveNode(node: SimNode): void {
    this.#nodes.delete(node.name);
    this.health.forget(node.name);
    for (const run of node.runs.values()) {
      this.#runs.delete(run.uid);
      this.#dirty.delete(run);
      run.abandon();
    }
  }

  // --- Pods --------------------------------------------------------------------------------------------------------

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const { uid = "", deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
    const run = this.#runs.get(uid);
    if (type === "DELETED") {
      this.#arrivals.delete(uid);
      if (run) this.#leave(run);
    } else if (run) {
      run.pod = object;
      const isNews =
        deletionTimestamp !== before?.metadata.deletionTimestamp ||
        deletionGracePeriodSeconds !== before?.metadata.deletionGracePeriodSeconds ||
        (object.spec?.readinessGates !== undefined && object.status?.conditions !== before?.status?.conditions);
      if (isNews) this.changed(run);
    } else if (object.spec?.nodeName) this.#arrive(object);
  }

  #arrive(pod: coreV1.Pod): void {
    const { uid = "" } = pod.metadata;
    if (!this.#nodes.has(pod.spec?.nodeName ?? "") || isTerminal(pod)) return;
    this.#arrivals.set(uid, pod);
    this.#bench.add(uid);
  }

  #leave(run: PodRun): void {
    const node = this.#nodes.get(run.node);
    this.#runs.delete(run.uid);
    this.#dirty.delete(run);
    node?.runs.delete(run.uid);
    node?.release(run);
    run.abandon();
    this.logged(run);
    this.#followers.delete(run.uid);
  }

  #work(key: string): void {
    if (key.startsWith(NODE_PREFIX)) this.#register(key.slice(NODE_PREFIX.length));
    else this.#look(key);
  }

  /** Looks at a pod again: takes it in, lets it end, writes what has become of it. */
  #look(uid: string): void {
    const arrival = this.#arrivals.get(uid);
    if (arrival) this.#take(uid, arrival);
    const run = this.#runs.get(uid);
    if (!run) return;
    if (this.#nodes.get(run.node)?.isSilent) return;
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = run.pod.metadata;
    if (deletionTimestamp !== undefined && !run.isEnded) run.stop(deletionGracePeriodSeconds * 1000);
    if (this.#dirty.delete(run)) this.#publish(run);
  }

  #take(uid: string, pod: coreV1.Pod): void {
    const node = this.#nodes.get(pod.spec?.nodeName ?? "");
    if (node?.isSilent) return; // whoever comes waits at its door
    this.#arrivals.delete(uid);
    if (!node) return;
    const run = new PodRun(pod, node.name, node.hostIP, this);
    const { requests } = podRequests(pod);
    const refusal = invalid(run) ?? rejection(pod, requests, node.object, node);
    if (refusal) {
      this.#reject(run, refusal);
      return;
    }
    node.occupy(run, requests);
    node.runs.set(uid, run);
    this.#runs.set(uid, run);
    if (pod.metadata.deletionTimestamp === undefined) run.begin(this.#startDelay(run));
  }

  #startDelay({ behaviour }: PodRun): number {
    if (behaviour.startDelayMs !== undefined) return behaviour.startDelayMs;
    return this.#startMs === 0 ? 0 : jitter(this.#random, this.#startMs, this.#startVariation);
  }

  #reject(run: PodRun, { reason, message }: Rejection): void {
    const { pod } = run;
    this.tell(run, { type: "Warning", reason, message });
    const { conditions: _gone, ...status } = pod.status ?? {};
    this.#api.updateStatus(coreV1.Pod, {
      ...pod,
      status: {
        ...status,
        phase: "Failed",
        reason,
        message: `Pod was rejected: ${message}`,
        observedGeneration: pod.metadata.generation ?? 1,
        startTime: run.startTime,
      },
    });
    if (pod.metadata.deletionTimestamp !== undefined) this.#remove(pod);
  }

  #publish(run: PodRun): void {
    const { pod } = run;
    if (isTerminal(pod) && !run.isEnded) {
      this.#leave(run); // somebody else has ended it
      return;
    }
    if (!isTerminal(pod)) {
      const status = podStatus(pod, run, kubernetesTime(this.clock.now()));
      run.pod = this.#statuses.updateStatus(coreV1.Pod, { ...pod, status });
    }
    if (!run.isEnded) return;
    this.#nodes.get(run.node)?.release(run);
    if (pod.metadata.deletionTimestamp !== undefined) this.#remove(pod);
  }

  /** The last word on a pod that was to go. */
  #remove(pod: coreV1.Pod): void {
    const { uid = "" } = pod.metadata;
    this.#api.delete(coreV1.Pod, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } });
  }

  // --- What pods need of their kubelet -----------------------------------------------------------------------------

  changed(run: PodRun): void {
    this.#dirty.add(run);
    this.#bench.add(run.uid);
    this.logged(run);
  }

  logged({ uid }: PodRun): void {
    for (const wake of this.#followers.get(uid) ?? []) wake();
  }

  tell(run: PodRun, note: Note): void {
    if (!this.#nodes.get(run.node)?.isSilent) this.#recorder.tell(run.pod, note, run.node);
  }

  address({ node: name, pod }: PodRun): string {
    const node = this.#node(name);
    return pod.spec?.hostNetwork ? node.hostIP : node.addresses.take();
  }

  // --- Logs --------------------------------------------------------------------------------------------------------

  /** What a container said, as the API's `pods/log` answers; for `SimTransport`. */
  logs(request: ApiRequest): AsyncIterable<Uint8Array> {
    const { namespace = "", name = "", parameters = {}, signal } = request;
    const pod = this.#api.get(coreV1.Pod, { namespace, name });
    const uid = pod?.metadata.uid ?? "";
    const subscribe = (wake: () => void) => {
      const followers = this.#followers.get(uid) ?? new Set();
      this.#followers.set(uid, followers.add(wake));
      return () => void followers.delete(wake);
    };
    return readLog({ pod, name, run: this.#runs.get(uid), parameters, signal, clock: this.clock, subscribe });
  }
}

function isOurs({ metadata }: coreV1.Node): boolean {
  return metadata.annotations?.[KUBELET_ANNOTATION] !== "false";
}

function isTerminal({ status }: coreV1.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Annotations that make no sense end a pod as they do on KWOK's nodes. */
function invalid({ behaviour: { problem } }: PodRun): Rejection | undefined {
  return problem === undefined ? undefined : { reason: "InvalidAnnotation", message: problem };
}
