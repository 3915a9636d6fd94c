/** How nodes say that they are alive: leases that are renewed, and now and then a status with a new time in it. */
import { coordinationV1, coreV1, kubernetesTime, microTime, type Timer, WallClock } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Surroundings } from "../controllers/component.ts";
import type { SimNode } from "./sim-node.ts";

const NAMESPACE = "kube-node-lease";
const USUAL_MS = 10_000;
const MOST_NODES = 100;
const LEASE_SECONDS = 40;
/** Every so many heartbeats a node repeats its status: every five minutes. */
const STATUS_EVERY = 30;

export class Heartbeats {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #nodes: ReadonlyMap<string, SimNode>;
  readonly #intervalMs: number | undefined;
  #timer: Timer | undefined;
  #beats = 0;
  #stopped = false;

  /** @param intervalMs - Default: see `KubeletOptions.heartbeatMs`; 0 is never. */
  constructor(surroundings: Surroundings, nodes: ReadonlyMap<string, SimNode>, intervalMs: number | undefined) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:kubelet");
    this.#nodes = nodes;
    this.#intervalMs = intervalMs;
  }

  /** There is a node; if it is the first, its heart begins to beat. */
  expect(): void {
    if (this.#timer || this.#stopped || this.#interval() === 0) return;
    this.#timer = this.#surroundings.clock.setTimer(0, () => this.#beat());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #interval(): number {
    if (this.#intervalMs !== undefined) return this.#intervalMs;
    return this.#surroundings.clock instanceof WallClock && this.#nodes.size <= MOST_NODES ? USUAL_MS : 0;
  }

  #beat(): void {
    this.#timer = undefined;
    const interval = this.#interval();
    if (interval === 0 || this.#nodes.size === 0) return;
    this.#timer = this.#surroundings.clock.setTimer(interval, () => this.#beat());
    const withStatus = this.#beats++ % STATUS_EVERY === STATUS_EVERY - 1;
    for (const node of this.#nodes.values()) {
      if (node.isSilent) continue;
      try {
        this.#renew(node);
        if (withStatus) this.#repeatStatus(node);
      } catch (error) {
        this.#surroundings.onFailure(error);
      }
    }
  }

  #renew({ name, object }: SimNode): void {
    const key = { namespace: NAMESPACE, name };
    const renewTime = microTime(this.#surroundings.clock.now());
    const lease = this.#api.get(coordinationV1.Lease, key);
    if (lease) {
      this.#api.update(coordinationV1.Lease, { ...lease, spec: { ...lease.spec, holderIdentity: name, renewTime } });
      return;
    }
    const { uid = "" } = object.metadata;
    this.#api.create(coordinationV1.Lease, {
      metadata: { ...key, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
      spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
    });
  }

  #repeatStatus({ object }: SimNode): void {
    const lastHeartbeatTime = kubernetesTime(this.#surroundings.clock.now());
    const conditions = object.status?.conditions?.map((condition) => ({ ...condition, lastHeartbeatTime })) ?? [];
    this.#api.updateStatus(coreV1.Node, { ...object, status: { ...object.status, conditions } });
  }
}
