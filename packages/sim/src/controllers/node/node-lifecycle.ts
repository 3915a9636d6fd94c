/**
 * Watches over nodes: who falls silent is marked so, gets taints that keep new pods away and, after a while, make the others
 * leave. See `node-taints.ts` for which taints, `zones.ts` for how fast, and `taint-eviction.ts` for the leaving.
 */
import { coordinationV1, coreV1 } from "@berth/kube";
import { type Event, LocalApi } from "../../api/local-api.ts";
import type { NodeHealth } from "../../kubelet/node-health.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { podIndexes } from "../index-by.ts";
import { Recorder } from "../recorder.ts";
import {
  noExecuteTaint,
  readiness,
  unknownConditions,
  withNoExecuteTaint,
  withNoScheduleTaints,
} from "./node-taints.ts";
import { evictionRate, Zones, zoneOf } from "./zones.ts";

export interface NodeLifecycleOptions {
  /** What is known of nodes without heartbeats. Default: nothing, they have to write theirs. */
  readonly health?: NodeHealth;
  /** For how long a node may be silent. Default: 50 seconds. */
  readonly graceMs?: number;
  /** For how long a new node may be silent. Default: 60 seconds. */
  readonly startupGraceMs?: number;
}

/** Nodes of a zone that are to be given up. */
interface Doomed {
  readonly nodes: Set<string>;
  /** When the next one may be. */
  nextAt: number;
}

const LEASES = "kube-node-lease";
const LABELS = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

export class NodeLifecycle implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #evictions: Workbench;
  readonly #health: NodeHealth | undefined;
  readonly #graceMs: number;
  readonly #startupGraceMs: number;
  /** When a node was last heard of that writes its own heartbeats. */
  readonly #heard = new Map<string, number>();
  /** How ready nodes were when they were last looked at. */
  readonly #readiness = new Map<string, string | undefined>();
  readonly #zones = new Zones();
  readonly #doomed = new Map<string, Doomed>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings, options: NodeLifecycleOptions = {}) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:node-controller");
    this.#recorder = new Recorder(surroundings, "node-controller");
    this.#bench = new Workbench(surroundings, (name) => this.#look(name));
    this.#evictions = new Workbench(surroundings, (zone) => this.#giveUpNext(zone));
    this.#health = options.health;
    this.#graceMs = options.graceMs ?? 50_000;
    this.#startupGraceMs = options.startupGraceMs ?? 60_000;
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Node, (event) => this.#onNode(event)),
      this.#api.onChange(coordinationV1.Lease, ({ type, object: { metadata } }) => {
        if (metadata.namespace === LEASES && type !== "DELETED") this.#hear(metadata.name ?? "");
      }),
    ];
    if (this.#health) this.#stops.push(this.#health.onChange((name) => this.#bench.add(name)));
    for (const node of this.#api.list(coreV1.Node)) this.#onNode({ type: "ADDED", object: node, before: undefined });
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
    this.#evictions.stop();
  }

  #onNode({ type, object, before }: Event<coreV1.Node>): void {
    const { name = "" } = object.metadata;
    if (type === "DELETED") {
      this.#forget(object);
      return;
    }
    const beat = (node: coreV1.Node) =>
      node.status?.conditions?.find((each) => each.type === "Ready")?.lastHeartbeatTime;
    if (!this.#heard.has(name) || !before || beat(before) !== beat(object)) this.#hear(name);
    this.#bench.add(name);
  }

  #hear(name: string): void {
    if (this.#health?.isKnown(name)) return;
    const isFirst = !this.#heard.has(name);
    this.#heard.set(name, this.#surroundings.clock.now());
    if (isFirst) this.#bench.add(name);
  }

  #forget(node: coreV1.Node): void {
    const { name = "" } = node.metadata;
    this.#heard.delete(name);
    this.#readiness.delete(name);
    this.#zones.remove(name);
    this.#doomed.get(zoneOf(node))?.nodes.delete(name);
    this.#bench.forget(name);
    this.#tell(node, "RemovingNode", `Removing Node ${name} from Controller`);
  }

  #look(name: string): void {
    const found = this.#api.get(coreV1.Node, { name });
    if (!found) return;
    if (!this.#readiness.has(name)) {
      this.#readiness.set(name, undefined);
      this.#tell(found, "RegisteredNode", `Registered Node ${name} in Controller`);
    }
    const node = this.#withLabels(this.#withSilence(found));
    const taints = withNoScheduleTaints(node, this.#surroundings.clock.now());
    this.#followReadiness(taints ? this.#taint(node, taints) : node);
  }

  /** Marks a node as unknown if it has been silent for too long. */
  #withSilence(node: coreV1.Node): coreV1.Node {
    const { name = "" } = node.metadata;
    const { clock } = this.#surroundings;
    const isKnown = this.#health?.isKnown(name);
    const since = isKnown ? this.#health?.silentSince(name) : this.#heard.get(name);
    if (since === undefined) return node;
    const left = since + (readiness(node) === undefined ? this.#startupGraceMs : this.#graceMs) - clock.now();
    if (left > 0) {
      this.#bench.addWithin(name, left);
      return node;
    }
    if (readiness(node) === "Unknown") return node;
    const status = { ...node.status, conditions: unknownConditions(node, clock.now()) };
    return this.#api.updateStatus(coreV1.Node, { ...node, status });
  }

  /** The old names of two labels say the same as the new ones. */
  #withLabels(node: coreV1.Node): coreV1.Node {
    const { labels = {} } = node.metadata;
    const wrong = LABELS.filter(([name, old]) => labels[name] !== undefined && labels[old] !== labels[name]);
    if (wrong.length === 0) return node;
    const right = Object.fromEntries(wrong.map(([name, old]) => [old, labels[name] as string]));
    return this.#api.update(coreV1.Node, { ...node, metadata: { ...node.metadata, labels: { ...labels, ...right } } });
  }

  #followReadiness(node: coreV1.Node): void {
    const { name = "" } = node.metadata;
    const [was, is] = [this.#readiness.get(name), readiness(node)];
    const wasAllLost = this.#zones.isAllLost;
    this.#readiness.set(name, is);
    this.#zones.put(name, zoneOf(node), is === "True");
    if (is === "True") this.#keep(node);
    else if (is !== undefined) this.#doom(node, is);
    if (was === "True" && is !== "True") this.#markPods(node);
    if (wasAllLost !== this.#zones.isAllLost) this.#onAllLost(this.#zones.isAllLost);
  }

  /** A node is well: nobody has to leave it. */
  #keep(node: coreV1.Node): void {
    const { name = "" } = node.metadata;
    this.#doomed.get(zoneOf(node))?.nodes.delete(name);
    const taints = withNoExecuteTaint(node, undefined, 0);
    if (taints) this.#taint(node, taints);
  }

  #doom(node: coreV1.Node, ready: string): void {
    const { name = "" } = node.metadata;
    const { clock } = this.#surroundings;
    const wanted = noExecuteTaint(ready);
    const taints = withNoExecuteTaint(node, wanted, clock.now());
    if (!taints) return;
    // Whoever has the other of the two taints gets this one at once; others wait for their turn.
    const isTainted = node.spec?.taints?.some(({ key, effect }) => effect === "NoExecute" && isReadinessTaint(key));
    if (isTainted) {
      this.#taint(node, taints);
      return;
    }
    const zone = zoneOf(node);
    const doomed = this.#doomed.get(zone) ?? { nodes: new Set(), nextAt: clock.now() };
    this.#doomed.set(zone, doomed);
    doomed.nodes.add(name);
    this.#evictions.add(zone);
  }

  #giveUpNext(zone: string): void {
    const doomed = this.#doomed.get(zone);
    const rate = this.#zones.isAllLost ? 0 : evictionRate(this.#zones.count(zone));
    if (!doomed || doomed.nodes.size === 0 || rate === 0) return;
    const now = this.#surroundings.clock.now();
    if (now < doomed.nextAt) {
      this.#evictions.addWithin(zone, doomed.nextAt - now);
      return;
    }
    const [name = ""] = doomed.nodes;
    doomed.nodes.delete(name);
    doomed.nextAt = now + 1000 / rate;
    const node = this.#api.get(coreV1.Node, { name });
    const wanted = node && noExecuteTaint(readiness(node));
    const taints = node && wanted !== undefined ? withNoExecuteTaint(node, wanted, now) : undefined;
    if (node && taints) this.#taint(node, taints);
    if (doomed.nodes.size > 0) this.#evictions.addWithin(zone, doomed.nextAt - now);
  }

  /** If not one node is heard of, it is not the nodes that are lost: then nobody has to leave. */
  #onAllLost(isAllLost: boolean): void {
    for (const name of [...this.#zones.names()]) {
      const node = this.#api.get(coreV1.Node, { name });
      if (node && isAllLost) this.#keep(node);
      else if (node) this.#bench.add(name);
    }
  }

  #markPods(node: coreV1.Node): void {
    const { name = "" } = node.metadata;
    this.#tell(node, "NodeNotReady", undefined, `Node ${name} status is now: NodeNotReady`);
    const { clock } = this.#surroundings;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    for (const pod of [...podIndexes(this.#surroundings.server).byNode.get(name).values()]) {
      const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") continue;
      const conditions = pod.status?.conditions?.map((condition) =>
        condition === ready ? { ...ready, status: "False", lastTransitionTime: time } : condition,
      );
      const status = { ...pod.status, ...(conditions && { conditions }) };
      const marked = this.#api.updateStatus(coreV1.Pod, { ...pod, status });
      this.#recorder.tell(marked, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
    }
  }

  #taint(node: coreV1.Node, taints: readonly coreV1.Taint[]): coreV1.Node {
    const { taints: _before, ...spec } = node.spec ?? {};
    const wanted = taints.length > 0 ? { ...spec, taints: [...taints] } : spec;
    return this.#api.update(coreV1.Node, { ...node, spec: wanted });
  }

  #tell(node: coreV1.Node, reason: string, what: string | undefined, message?: string): void {
    const text = message ?? `Node ${node.metadata.name} event: ${what}`;
    this.#recorder.tell(node, { reason, message: text });
  }
}

function isReadinessTaint(key: string): boolean {
  return key === noExecuteTaint("False") || key === noExecuteTaint("Unknown");
}
