/** In which order nodes are looked at: by turns from each zone, so that a search that ends early has seen all zones. */

import { labelOf } from "../placement/selectors.ts";
import type { Node } from "./node-info.ts";

export class NodeOrder {
  /** By region and zone, in the order in which they came. */
  readonly #zones = new Map<string, Set<string>>();
  #names: readonly string[] | undefined;

  /** @param before - The node as it was, if it is not new. */
  put(node: Node, before: Node | undefined): void {
    const [zone, name] = [zoneOf(node), node.metadata.name ?? ""];
    if (before) {
      if (zoneOf(before) === zone) return;
      this.remove(before);
    }
    const nodes = this.#zones.get(zone);
    if (nodes) nodes.add(name);
    else this.#zones.set(zone, new Set([name]));
    this.#names = undefined;
  }

  remove(node: Node): void {
    const zone = zoneOf(node);
    const nodes = this.#zones.get(zone);
    if (!nodes?.delete(node.metadata.name ?? "")) return;
    if (nodes.size === 0) this.#zones.delete(zone);
    this.#names = undefined;
  }

  /** The same list as long as no node comes, goes or moves. */
  names(): readonly string[] {
    this.#names ??= byTurns([...this.#zones.values()].map((nodes) => [...nodes]));
    return this.#names;
  }
}

function byTurns(zones: readonly (readonly string[])[]): readonly string[] {
  if (zones.length === 1) return zones[0] ?? [];
  const names: string[] = [];
  const longest = Math.max(0, ...zones.map((zone) => zone.length));
  for (let turn = 0; turn < longest; turn++) {
    for (const zone of zones) {
      const name = zone[turn];
      if (name !== undefined) names.push(name);
    }
  }
  return names;
}

function zoneOf({ metadata: { labels } }: Node): string {
  const of = (what: string) =>
    labelOf(labels, `failure-domain.beta.kubernetes.io/${what}`) ?? labelOf(labels, `topology.kubernetes.io/${what}`);
  return `${of("region") ?? ""}\0${of("zone") ?? ""}`;
}
