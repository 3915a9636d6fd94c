/**
 * Pods that were tried in vain, as long as nothing has changed since: others like them need not be tried. When a thousand
 * equal pods wait for one place, one of them gets it, one finds out that there is none left, and the others are told.
 */
import type { ClusterCache } from "./cluster-cache.ts";
import type { Nominator } from "./nominator.ts";
import type { PodInfo } from "./pod-info.ts";
import { kindOf } from "./pod-kind.ts";

export class Failures<F> {
  readonly #cache: ClusterCache;
  readonly #nominator: Nominator;
  readonly #known = new Map<string, F>();
  #cacheVersion = -1;
  #nominatorVersion = -1;

  constructor(cache: ClusterCache, nominator: Nominator) {
    this.#cache = cache;
    this.#nominator = nominator;
  }

  /** What became of a pod like this one. */
  get(pod: PodInfo): F | undefined {
    if (!this.#isCurrent() || this.#known.size === 0) return undefined;
    const kind = kindOf(pod, this.#cache);
    return kind === undefined ? undefined : this.#known.get(kind);
  }

  set(pod: PodInfo, failure: F): void {
    const kind = kindOf(pod, this.#cache);
    if (kind === undefined) return;
    if (!this.#isCurrent()) {
      this.#known.clear();
      this.#cacheVersion = this.#cache.version;
      this.#nominatorVersion = this.#nominator.version;
    }
    this.#known.set(kind, failure);
  }

  #isCurrent(): boolean {
    return this.#cacheVersion === this.#cache.version && this.#nominatorVersion === this.#nominator.version;
  }
}
