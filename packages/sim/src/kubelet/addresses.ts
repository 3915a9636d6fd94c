/** Which addresses simulated nodes and pods have. Pure but for `PodAddresses`, which remembers who has which. */

/** A node's own address, by its number: 172.16.0.1 and up. */
export function nodeAddress(index: number): string {
  const number = (index % 0xff_fffe) + 1;
  return `172.${16 + ((number >> 16) & 15)}.${(number >> 8) & 255}.${number & 255}`;
}

/** The addresses of a node's pods, by its number: a thousand each, from 10.128.0.0 up. */
export function podRange(index: number): string {
  const start = podRangeStart(index);
  return `10.${(start >> 16) & 255}.${(start >> 8) & 255}.0/22`;
}

const RANGE_BITS = 10;
const RANGES = 2 ** (23 - RANGE_BITS);

function podRangeStart(index: number): number {
  return (128 << 16) + ((index % RANGES) << RANGE_BITS);
}

/** Hands out the addresses of one node's pods. */
export class PodAddresses {
  readonly #first: number;
  readonly #size: number;
  readonly #taken = new Set<number>();
  #next = 2; // the first two are the network's and the node's

  /** @param range - As `spec.podCIDR` has it; one that cannot be understood is replaced by that of the index. */
  constructor(range: string | undefined, index: number) {
    const { first, size } = parse(range) ?? { first: 0x0a000000 + podRangeStart(index), size: 2 ** RANGE_BITS };
    this.#first = first;
    this.#size = size;
  }

  /** A free address; those that were given back come last. Only a node with far too many pods gives one out twice. */
  take(): string {
    for (let tries = 0; tries < this.#size && this.#taken.has(this.#next); tries++) this.#step();
    const offset = this.#next;
    this.#taken.add(offset);
    this.#step();
    return text(this.#first + offset);
  }

  giveBack(address: string): void {
    this.#taken.delete(numberOf(address) - this.#first);
  }

  #step(): void {
    this.#next = this.#next + 1 >= this.#size - 1 ? 2 : this.#next + 1;
  }
}

const RANGE = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\/(\d{1,2})$/;

function parse(range = ""): { first: number; size: number } | undefined {
  const [, address, bits] = RANGE.exec(range) ?? [];
  const length = Number(bits);
  if (address === undefined || length > 29 || length < 8) return undefined;
  return { first: numberOf(address), size: 2 ** (32 - length) };
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function text(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join(".");
}
