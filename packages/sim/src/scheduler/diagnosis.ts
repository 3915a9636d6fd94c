/** Why a pod went nowhere: what each node lacks, and the sentence that people read. Pure. */
import type { Plugin, Rejection } from "./rejection.ts";

export class Diagnosis {
  /** What was found out node by node: one list beside the other, since thousands are as a rule never looked at. */
  readonly #names: string[] = [];
  readonly #found: Rejection[] = [];
  #rejections: Map<string, Rejection> | undefined;
  /** Rules that rejected something: what happens to what they look at may help. */
  readonly plugins = new Set<Plugin>();
  /** What holds for all nodes that nothing was said about. */
  absent: Rejection = { reasons: [], resolvable: false };
  /** What was said before any node was looked at: then nothing was said about nodes. */
  beforeNodes = "";
  /** What became of preemption. */
  afterwards = "";

  /** How often something was said about a node. */
  get size(): number {
    return this.#names.length;
  }

  /** A word about a node, or about a name that is no node's. The last one counts. */
  note(node: string, rejection: Rejection): void {
    this.#names.push(node);
    this.#found.push(rejection);
    this.#rejections = undefined;
  }

  /** A rule's word about a node. */
  reject(node: string, rejection: Rejection): void {
    this.note(node, rejection);
    if (rejection.plugin) this.plugins.add(rejection.plugin);
  }

  /** A word about all nodes, before any was looked at. */
  rejectAll(rejection: Rejection): void {
    this.absent = rejection;
    this.beforeNodes = rejection.reasons.join(", ");
    if (rejection.plugin) this.plugins.add(rejection.plugin);
  }

  of(node: string): Rejection {
    return this.#byName().get(node) ?? this.absent;
  }

  /** The nodes that something was said about. */
  names(): Iterable<string> {
    return this.#byName().keys();
  }

  /** "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. preemption: …" */
  message(nodes: number): string {
    let text = `0/${nodes} nodes are available:`;
    if (this.beforeNodes) text += ` ${this.beforeNodes}.`;
    else {
      const reasons = this.#histogram(nodes);
      if (reasons.length > 0) text += ` ${reasons.join(", ")}.`;
    }
    return this.afterwards ? `${text} ${this.afterwards}` : text;
  }

  #byName(): Map<string, Rejection> {
    if (!this.#rejections) {
      this.#rejections = new Map();
      for (const [index, name] of this.#names.entries()) this.#rejections.set(name, this.#found[index] as Rejection);
    }
    return this.#rejections;
  }

  #histogram(nodes: number): string[] {
    const counts = new Map<string, number>();
    const count = (rejection: Rejection, by: number) => {
      for (const reason of rejection.reasons) counts.set(reason, (counts.get(reason) ?? 0) + by);
    };
    const rejections = this.#byName();
    for (const rejection of rejections.values()) count(rejection, 1);
    const absent = nodes - rejections.size;
    if (absent > 0) count(this.absent, absent);
    // As texts, not as numbers: "10 …" comes before "2 …".
    return Array.from(counts, ([reason, number]) => `${number} ${reason}`).sort(byCharacters);
  }
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
