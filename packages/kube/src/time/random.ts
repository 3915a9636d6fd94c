/**
 * Chance as a parameter. Whoever throws dice takes a `Random`; the same seed gives the same throws, on every machine.
 */
import { randomFillSync } from "node:crypto";

/** Chance, as whoever needs it takes it. */
export interface Random {
  /** A number from 0 up to, and without, 1. */
  next(): number;
}

/** A whole number from `low` up to, and without, `high`. */
export function integer(random: Random, low: number, high: number): number {
  return low + Math.floor(random.next() * (high - low));
}

/** One of the items. */
export function pick<T>(random: Random, items: readonly T[]): T {
  if (items.length === 0) throw new RangeError("nothing to pick from");
  return items[integer(random, 0, items.length)] as T;
}

/** `value`, changed at random by up to the given share in either direction: `jitter(random, 100, 0.2)` is 80 to 120. */
export function jitter(random: Random, value: number, share: number): number {
  return value * (1 + share * (2 * random.next() - 1));
}

/** Repeatable chance. Not for secrets. */
export class SeededRandom implements Random {
  #state: bigint;

  /** @param seed - Any text or number; equal seeds give equal sequences. */
  constructor(seed: string | number) {
    this.#state = fnv1a(String(seed));
  }

  next(): number {
    // SplitMix64: passes the usual tests, and needs no warming up after a poor seed. 53 bits fill a double.
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let mixed = this.#state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53;
  }

  /** A sequence of its own for a part of the work: what the others draw does not change what this one draws. */
  fork(label: string): SeededRandom {
    return new SeededRandom(`${this.#state}/${label}`);
  }
}

/** The system's chance, different every time. */
export class SystemRandom implements Random {
  /** Fetched many at a time: the system takes its time for each call, not for each byte. */
  readonly #bytes = Buffer.alloc(1024);
  #used = this.#bytes.length;

  next(): number {
    if (this.#used === this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#used = 0;
    }
    const high = this.#bytes.readUInt32LE(this.#used) >>> 6;
    const low = this.#bytes.readUInt32LE(this.#used + 4) >>> 5;
    this.#used += 8;
    return (high * 2 ** 27 + low) / 2 ** 53; // 26 and 27 bits: as many as a double has
  }
}

function fnv1a(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
