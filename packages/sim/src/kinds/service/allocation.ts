/**
 * Which addresses and ports services have. The next free one is given, so that the same services get the same ones in
 * every run.
 *
 * What was given is remembered and not given again until nothing else is left; only then, and when somebody asks for one
 * that seems to be taken, all services are looked at.
 */
import type { coreV1 } from "@berth/kube";
import type { Lookup } from "../../api/resource.ts";
import type { LooseObject } from "../common/loose.ts";

export type Service = LooseObject<coreV1.Service>;

/** Of the addresses of services, the first two numbers. */
const NETWORK = "10.96";
export const ADDRESS_RANGE = `${NETWORK}.0.0/16`;
export const PORT_RANGE = { low: 30000, high: 32767 } as const;
/** The first ones are kept for those who ask for a certain one. */
const KEPT_ADDRESSES = 256;
const KEPT_PORTS = 86;
const ADDRESSES = 2 ** 16;

/** Numbers that are taken one after the other. */
class Pool {
  readonly #low: number;
  readonly #high: number;
  readonly #kept: number;
  readonly #inUse: () => Iterable<number>;
  #taken: Set<number> | undefined;
  #next: number;

  constructor(low: number, high: number, kept: number, inUse: () => Iterable<number>) {
    this.#low = low;
    this.#high = high;
    this.#kept = kept;
    this.#inUse = inUse;
    this.#next = low + kept;
  }

  /** `undefined` if there is none left. */
  next(): number | undefined {
    const free = this.#free() ?? this.#look().#free();
    if (free === undefined) return undefined;
    this.#taken?.add(free);
    this.#next = free + 1;
    return free;
  }

  /** Whether a certain one was free, and is the caller's now. */
  take(number: number): boolean {
    this.#taken ??= new Set(this.#inUse());
    if (this.#taken.has(number) && this.#look().#taken?.has(number)) return false;
    this.#taken?.add(number);
    return true;
  }

  /** As if they had never been taken. @param next - Where the next one was to be looked for. */
  giveBack(numbers: readonly number[], next: number): void {
    for (const number of numbers) this.#taken?.delete(number);
    this.#next = next;
  }

  get position(): number {
    return this.#next;
  }

  #free(): number | undefined {
    this.#taken ??= new Set(this.#inUse());
    for (let number = this.#next; number < this.#high; number++) if (!this.#taken.has(number)) return number;
    for (let number = this.#low + this.#kept; number < this.#next; number++)
      if (!this.#taken.has(number)) return number;
    for (let number = this.#low; number < this.#low + this.#kept; number++) if (!this.#taken.has(number)) return number;
    return undefined;
  }

  /** Sees what has become free. */
  #look(): this {
    this.#taken = new Set(this.#inUse());
    return this;
  }
}

/** What the services of one server have. */
export class Allocation {
  readonly #addresses: Pool;
  readonly #ports: Pool;

  constructor(lookup: Lookup) {
    const services = () => lookup.list({ group: "", plural: "services" }) as Iterable<Service>;
    this.#addresses = new Pool(1, ADDRESSES - 1, KEPT_ADDRESSES - 1, () => usedAddresses(services()));
    this.#ports = new Pool(PORT_RANGE.low, PORT_RANGE.high + 1, KEPT_PORTS, () => usedPorts(services()));
  }

  /** What a service is about to get. @param pretended - Whether it will be given back at once. */
  begin(pretended: boolean): Taking {
    return new Taking(this.#addresses, this.#ports, pretended);
  }
}

/** What one service gets: all of it, or nothing. */
export class Taking {
  readonly #addresses: Pool;
  readonly #ports: Pool;
  readonly #pretended: boolean;
  readonly #before: readonly [address: number, port: number];
  readonly #takenAddresses: number[] = [];
  readonly #takenPorts: number[] = [];

  constructor(addresses: Pool, ports: Pool, pretended: boolean) {
    this.#addresses = addresses;
    this.#ports = ports;
    this.#pretended = pretended;
    this.#before = [addresses.position, ports.position];
  }

  nextAddress(): string | undefined {
    const number = this.#addresses.next();
    if (number === undefined) return undefined;
    this.#takenAddresses.push(number);
    return `${NETWORK}.${number >> 8}.${number & 255}`;
  }

  /** Why an address cannot be had; `undefined` if it can, and is the service's now. */
  takeAddress(address: string): string | undefined {
    const number = addressNumber(address);
    if (number === undefined || number < 1 || number >= ADDRESSES - 1) {
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${ADDRESS_RANGE}`;
    }
    if (!this.#addresses.take(number)) return "provided IP is already allocated";
    this.#takenAddresses.push(number);
    return undefined;
  }

  nextPort(): number | undefined {
    const port = this.#ports.next();
    if (port !== undefined) this.#takenPorts.push(port);
    return port;
  }

  /** The same for a port of the nodes; who only pretends is not told that it is out of range. */
  takePort(port: number): string | undefined {
    const { low, high } = PORT_RANGE;
    if (!this.#pretended && (port < low || port > high)) {
      return `provided port is not in the valid range. The range of valid ports is ${low}-${high}`;
    }
    if (!this.#ports.take(port)) return "provided port is already allocated";
    this.#takenPorts.push(port);
    return undefined;
  }

  /** The service is not to be: everything is free again. */
  revert(): void {
    this.#addresses.giveBack(this.#takenAddresses, this.#before[0]);
    this.#ports.giveBack(this.#takenPorts, this.#before[1]);
  }
}

const allocations = new WeakMap<Lookup, Allocation>();

/** That of the server whose objects these are. */
export function allocationOf(lookup: Lookup): Allocation {
  const known = allocations.get(lookup);
  if (known) return known;
  const allocation = new Allocation(lookup);
  allocations.set(lookup, allocation);
  return allocation;
}

function addressNumber(address: string): number | undefined {
  const [a, b, c = 0, d = 0] = address.split(".").map(Number);
  return `${a}.${b}` === NETWORK ? c * 256 + d : undefined;
}

function* usedAddresses(services: Iterable<Service>): Generator<number> {
  for (const { spec } of services) {
    for (const address of spec?.clusterIPs ?? []) {
      const number = addressNumber(address);
      if (number !== undefined) yield number;
    }
  }
}

function* usedPorts(services: Iterable<Service>): Generator<number> {
  for (const { spec } of services) {
    for (const { nodePort } of spec?.ports ?? []) if (nodePort) yield nodePort;
    if (spec?.healthCheckNodePort) yield spec.healthCheckNodePort;
  }
}
