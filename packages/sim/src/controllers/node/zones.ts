/**
 * How fast nodes are given up: one by one while most are well, slowly or not at all when many are lost at once. Then it is
 * more likely that something is wrong with whoever watches them.
 */
import type { coreV1 } from "@berth/kube";

/** Nodes that are given up in a second, in good times and in bad ones. */
const USUAL_RATE = 0.1;
const REDUCED_RATE = 0.01;
const LARGE_ZONE = 50;
const UNHEALTHY_SHARE = 0.55;

/** How many nodes of a zone are ready, and how many are not. */
export interface ZoneCount {
  readonly ready: number;
  readonly notReady: number;
}

/** How many nodes of a zone may be given up in a second. Pure. */
export function evictionRate({ ready, notReady }: ZoneCount): number {
  if (ready === 0) return USUAL_RATE; // the others see to it that not all zones are so
  const isPartlyLost = notReady > 2 && notReady / (ready + notReady) >= UNHEALTHY_SHARE;
  if (!isPartlyLost) return USUAL_RATE;
  return ready + notReady > LARGE_ZONE ? REDUCED_RATE : 0;
}

/** The zone that a node is in; "" where there are none. Pure. */
export function zoneOf({ metadata: { labels = {} } }: coreV1.Node): string {
  const region = labels["topology.kubernetes.io/region"] ?? "";
  const zone = labels["topology.kubernetes.io/zone"] ?? "";
  return region || zone ? `${region}:${zone}` : "";
}

/** Counts nodes by zone as they change. */
export class Zones {
  readonly #nodes = new Map<string, { readonly zone: string; readonly isReady: boolean }>();
  readonly #counts = new Map<string, { ready: number; notReady: number }>();
  #ready = 0;

  /** Whether there are nodes, and not one of them is ready. */
  get isAllLost(): boolean {
    return this.#nodes.size > 0 && this.#ready === 0;
  }

  names(): IterableIterator<string> {
    return this.#nodes.keys();
  }

  count(zone: string): ZoneCount {
    return this.#counts.get(zone) ?? { ready: 0, notReady: 0 };
  }

  put(node: string, zone: string, isReady: boolean): void {
    const known = this.#nodes.get(node);
    if (known?.zone === zone && known.isReady === isReady) return;
    this.remove(node);
    this.#nodes.set(node, { zone, isReady });
    this.#add(zone, isReady, 1);
  }

  remove(node: string): void {
    const known = this.#nodes.get(node);
    if (!known) return;
    this.#nodes.delete(node);
    this.#add(known.zone, known.isReady, -1);
  }

  #add(zone: string, isReady: boolean, change: number): void {
    const count = this.#counts.get(zone) ?? { ready: 0, notReady: 0 };
    count[isReady ? "ready" : "notReady"] += change;
    if (isReady) this.#ready += change;
    if (count.ready + count.notReady === 0) this.#counts.delete(zone);
    else this.#counts.set(zone, count);
  }
}
