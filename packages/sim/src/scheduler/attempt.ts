/** One attempt to find a node for a pod, step by step: what can be said before any node is looked at, then the nodes. */
import { type Checks, checkWithNominated, type Preparation, prepare, type Surrounded } from "./checks.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { Profile } from "./configuration.ts";
import { Diagnosis } from "./diagnosis.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Nominator } from "./nominator.ts";
import type { PodInfo } from "./pod-info.ts";
import { nodesToFind } from "./sampling.ts";

/** What a scheduler has, whichever pod it tries. */
export interface Scene {
  readonly cache: ClusterCache;
  readonly nominator: Nominator;
  readonly around: Surrounded;
}

export class Attempt {
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly diagnosis = new Diagnosis();
  readonly #scene: Scene;
  readonly #preparation: Preparation | undefined;

  constructor(pod: PodInfo, profile: Profile, scene: Scene) {
    this.pod = pod;
    this.profile = profile;
    this.#scene = scene;
    const prepared = prepare(pod, profile, scene.cache, scene.around);
    if ("reasons" in prepared) this.diagnosis.rejectAll(prepared);
    else this.#preparation = prepared;
    if (this.#preparation?.pinned) {
      this.diagnosis.plugins.add("NodeAffinity");
      this.diagnosis.absent = { reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"], resolvable: false };
    }
  }

  /** `undefined` if no node needs to be looked at. */
  get checks(): Checks | undefined {
    return this.#preparation?.checks;
  }

  /** The node that the pod waits for, if it will do by now. */
  nominated(): NodeInfo | undefined {
    const name = this.pod.pod.status?.nominatedNodeName;
    const node = name ? this.#scene.cache.node(name) : undefined;
    return node && this.#fits(node) ? node : undefined;
  }

  /**
   * Nodes that will do, not all of them in a large cluster.
   *
   * @param start - Where to begin: each search begins where the one before it ended, so that all nodes get their turn.
   */
  find(start: number): readonly NodeInfo[] {
    const { cache } = this.#scene;
    const pinned = this.#preparation?.pinned;
    if (pinned) {
      const found: NodeInfo[] = [];
      for (const name of pinned) {
        const node = cache.node(name);
        if (node && this.#fits(node)) found.push(node);
      }
      return found;
    }
    const { nodes } = cache;
    const wanted = nodesToFind(nodes.length, this.profile.percentageOfNodesToScore);
    const found: NodeInfo[] = [];
    for (let step = 0; step < nodes.length && found.length < wanted; step++) {
      const node = nodes[(start + step) % nodes.length] as NodeInfo;
      if (this.#fits(node)) found.push(node);
    }
    return found;
  }

  #fits(node: NodeInfo): boolean {
    const checks = this.checks;
    if (!checks) return false;
    const rejection = checkWithNominated(checks, node, this.#scene.nominator);
    if (rejection) this.diagnosis.reject(node.name, rejection);
    return rejection === undefined;
  }
}
