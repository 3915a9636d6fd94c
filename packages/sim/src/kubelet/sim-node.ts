/** A node as its kubelet knows it: what runs on it, and what that takes. */
import type { coreV1 } from "@berth/kube";
import { nodeAddress, PodAddresses } from "./addresses.ts";
import { type Occupancy, portsOf } from "./admission.ts";
import type { PodRun } from "./pod-run.ts";
import { type Amounts, allocatableOf } from "./resources.ts";

export class SimNode implements Occupancy {
  readonly name: string;
  readonly addresses: PodAddresses;
  readonly hostIP: string;
  /** By uid; those that have ended too, as long as there is a pod. */
  readonly runs = new Map<string, PodRun>();
  /** Nobody hears of it. */
  isSilent = false;
  readonly used = new Map<string, number>();
  readonly ports = new Set<string>();
  readonly #requests = new Map<string, Amounts>();
  #object: coreV1.Node;
  #allocatable: Amounts;

  constructor(object: coreV1.Node, index: number) {
    this.name = object.metadata.name ?? "";
    this.addresses = new PodAddresses(object.spec?.podCIDR, index);
    this.hostIP = object.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? nodeAddress(index);
    this.#object = object;
    this.#allocatable = allocatableOf(object);
  }

  /** As it is stored now. */
  get object(): coreV1.Node {
    return this.#object;
  }

  set object(object: coreV1.Node) {
    if (object.status?.allocatable !== this.#object.status?.allocatable) this.#allocatable = allocatableOf(object);
    this.#object = object;
  }

  get allocatable(): Amounts {
    return this.#allocatable;
  }

  /** How many pods have not ended. */
  get pods(): number {
    return this.#requests.size;
  }

  /** Takes a pod in. */
  occupy(run: PodRun, requests: Amounts): void {
    this.#requests.set(run.uid, requests);
    for (const [name, amount] of requests) this.used.set(name, (this.used.get(name) ?? 0) + amount);
    for (const port of portsOf(run.pod)) this.ports.add(port);
  }

  /** A pod has ended: what it took is free. May be called twice. */
  release(run: PodRun): void {
    const requests = this.#requests.get(run.uid);
    if (!requests) return;
    this.#requests.delete(run.uid);
    for (const [name, amount] of requests) this.used.set(name, (this.used.get(name) ?? 0) - amount);
    for (const port of portsOf(run.pod)) this.ports.delete(port);
    if (run.podIP !== undefined && run.podIP !== this.hostIP) this.addresses.giveBack(run.podIP);
  }
}
