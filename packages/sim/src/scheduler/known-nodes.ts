/**
 * Which nodes will do for a kind of pod, and how good they are, remembered from one pod of the kind to the next: only nodes
 * that have changed since are looked at again. In a cluster of thousands of nodes that is one, the one that the last pod
 * went to. The outcome is the same as if all had been looked at.
 *
 * This works for pods that fare alike whatever other pods are around. For others there is the long way.
 */
import { Attempt, type Scene } from "./attempt.ts";
import { firstOfHeap } from "./best-node.ts";
import type { Profile } from "./configuration.ts";
import { pinnedNodes } from "./filters/node-affinity.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { kindOf } from "./pod-kind.ts";
import { nodesToFind } from "./sampling.ts";
import { balanceScorer, hasBalance } from "./scores/balanced-allocation.ts";
import { resourceScorer } from "./scores/resource-strategy.ts";

/** By the place of a node in the list of nodes. */
interface Knowledge {
  /** As of which of the node's generations; -1 if it was never looked at. */
  readonly generations: Int32Array;
  /** Its points, or that it will not do. */
  readonly scores: Int32Array;
}

const WILL_NOT_DO = -1;
/** Of so many kinds it is remembered; the one that was asked for longest ago is forgotten first. */
const REMEMBERED = 32;

export interface Found {
  readonly node: NodeInfo;
  /** How many nodes were looked at before there were enough. */
  readonly looked: number;
}

export class KnownNodes {
  readonly #scene: Scene;
  readonly #kinds = new Map<string, Knowledge>();
  #nodes: readonly NodeInfo[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** The best of the nodes that will do, from a place in their list on; `undefined` if the long way must be gone. */
  find(pod: PodInfo, profile: Profile, start: number): Found | undefined {
    const kind = this.#isPlain(pod, profile) ? kindOf(pod, this.#scene.cache) : undefined;
    if (kind === undefined) return undefined;
    const { nodes } = this.#scene.cache;
    const { generations, scores } = this.#knowledge(kind, nodes);
    const wanted = nodesToFind(nodes.length, profile.percentageOfNodesToScore);
    const found = new Int32Array(wanted);
    const points = new Int32Array(wanted);
    let judge: ((node: NodeInfo) => number) | undefined;
    let [count, looked, place] = [0, 0, start % nodes.length];
    for (; looked < nodes.length && count < wanted; looked++) {
      const node = nodes[place] as NodeInfo;
      if (generations[place] !== node.generation) {
        judge ??= this.#judge(pod, profile);
        scores[place] = judge(node);
        generations[place] = node.generation;
      }
      const score = scores[place] as number;
      if (score !== WILL_NOT_DO) {
        found[count] = place;
        points[count++] = score;
      }
      if (++place === nodes.length) place = 0;
    }
    if (count === 0) return undefined; // why not is found out the long way
    const best = found[count === 1 ? 0 : firstOfHeap(points, count)] as number;
    return { node: nodes[best] as NodeInfo, looked };
  }

  /** Whether a pod and everything around it are so simple that only the nodes themselves count. */
  #isPlain({ pod }: PodInfo, profile: Profile): boolean {
    const { cache, nominator, around } = this.#scene;
    if (nominator.size > 0 || cache.withTerms.size > 0 || cache.withSoftTaints.size > 0) return false;
    if (profile.addedPreferences.length > 0) return false;
    const nodeAffinity = pod.spec?.affinity?.nodeAffinity;
    if (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution || (nodeAffinity && pinnedNodes(pod)))
      return false;
    return profile.spreadDefaults.constraints.length === 0 || around.kindSelector(pod).isEmpty;
  }

  #knowledge(kind: string, nodes: readonly NodeInfo[]): Knowledge {
    if (this.#nodes !== nodes) {
      this.#nodes = nodes;
      this.#kinds.clear();
    }
    let known = this.#kinds.get(kind);
    if (known)
      this.#kinds.delete(kind); // and in again, as the youngest
    else known = { generations: new Int32Array(nodes.length).fill(-1), scores: new Int32Array(nodes.length) };
    this.#kinds.set(kind, known);
    if (this.#kinds.size > REMEMBERED) this.#kinds.delete(this.#kinds.keys().next().value as string);
    return known;
  }

  #judge(pod: PodInfo, profile: Profile): (node: NodeInfo) => number {
    const { checks } = new Attempt(pod, profile, this.#scene);
    const { scores, strategy, balanced } = profile;
    const resources = scores.get("NodeResourcesFit") ?? 0;
    const balance = hasBalance(pod, balanced) ? (scores.get("NodeResourcesBalancedAllocation") ?? 0) : 0;
    const [fit, even] = [resourceScorer(strategy, pod), balanceScorer(pod, balanced)];
    return (node) => {
      if (!checks || checks.check(node)) return WILL_NOT_DO;
      return (resources > 0 ? resources * fit(node) : 0) + (balance > 0 ? balance * even(node) : 0);
    };
  }
}
