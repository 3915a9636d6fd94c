/** A node as its kubelet knows it: what runs on it, and what that takes. */
import type { coreV1 } from "@berth/kube";
import { type HostPort, hostPortsOf } from "../placement/host-ports.ts";
import { type Amounts, amountsOf, count, nothing } from "../placement/resources.ts";
import { nodeAddress, PodAddresses } from "./addresses.ts";
import type { Occupancy } from "./admission.ts";
import type { PodRun } from "./pod-run.ts";

export class SimNode implements Occupancy {
  readonly name: string;
  readonly addresses: PodAddresses;
  readonly hostIP: string;
  /** By uid; those that have ended too, as long as there is a pod. */
  readonly runs = new Map<string, PodRun>();
  /** Nobody hears of it. */
  isSilent = false;
  readonly used = nothing();
  ports: readonly HostPort[] = [];
  /** By uid, of pods that have not ended. */
  readonly #taken = new Map<string, { readonly requests: Amounts; readonly ports: readonly HostPort[] }>();
  #object: coreV1.Node;
  #allocatable: Occupancy["allocatable"];

  constructor(object: coreV1.Node, index: number) {
    this.name = object.metadata.name ?? "";
    this.addresses = new PodAddresses(object.spec?.podCIDR, index);
    this.hostIP = object.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? nodeAddress(index);
    this.#object = object;
    this.#allocatable = amountsOf(object.status?.allocatable);
  }

  /** As it is stored now. */
  get object(): coreV1.Node {
    return this.#object;
  }

  set object(object: coreV1.Node) {
    const { allocatable } = object.status ?? {};
    if (allocatable !== this.#object.status?.allocatable) this.#allocatable = amountsOf(allocatable);
    this.#object = object;
  }

  get allocatable(): Occupancy["allocatable"] {
    return this.#allocatable;
  }

  /** How many pods have not ended. */
  get pods(): number {
    return this.#taken.size;
  }

  /** Takes a pod in. */
  occupy(run: PodRun, requests: Amounts): void {
    const ports = hostPortsOf(run.pod);
    this.#taken.set(run.uid, { requests, ports });
    count(this.used, requests, 1);
    if (ports.length > 0) this.ports = [...this.ports, ...ports];
  }

  /** A pod has ended: what it took is free. May be called twice. */
  release(run: PodRun): void {
    const taken = this.#taken.get(run.uid);
    if (!taken) return;
    this.#taken.delete(run.uid);
    count(this.used, taken.requests, -1);
    if (taken.ports.length > 0) this.ports = this.ports.filter((port) => !taken.ports.includes(port));
    if (run.podIP !== undefined && run.podIP !== this.hostIP) this.addresses.giveBack(run.podIP);
  }
}
