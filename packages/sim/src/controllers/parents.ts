/**
 * Controllers and the objects that they look after: who belongs to whom, who is taken in because its labels fit, and who is
 * let go because they do not any more.
 */
import {
  controllerOf,
  type Kind,
  type KubernetesObject,
  keyOf,
  keyText,
  LabelSelector,
  type LabelSelectorSpec,
  type ObjectKey,
  type OwnerReference,
} from "@berth/kube";
import type { LocalApi } from "../api/local-api.ts";
import { Refusal } from "../api/refusal.ts";
import { IndexBy } from "./index-by.ts";

export interface ParentsOptions<P extends KubernetesObject, C extends KubernetesObject> {
  readonly api: LocalApi;
  readonly kind: Kind<P>;
  readonly childKind: Kind<C>;
  readonly selectorOf: (parent: P) => LabelSelectorSpec | null | undefined;
  /** Children in a namespace that nobody looks after. */
  readonly orphansIn: (namespace: string) => Iterable<C>;
  /** Whether children can have been there before their parent. Default: yes. */
  readonly mayFindOrphans?: (parent: P) => boolean;
  /** Put onto a child that is taken in. */
  readonly finalizer?: string;
}

export class Parents<P extends KubernetesObject, C extends KubernetesObject> {
  readonly #options: ParentsOptions<P, C>;
  /** Parents that have looked for orphans, by uid. */
  readonly #settled = new Set<string>();
  /** Orphans that a parent may want, by its uid. */
  readonly #found = new Map<string, Map<string, ObjectKey>>();

  /** Parents by one of the labels that they ask for, so that an orphan need not be shown to all of them. */
  readonly #byLabel: IndexBy<P>;

  constructor(options: ParentsOptions<P, C>) {
    const { api, kind, selectorOf } = options;
    this.#options = options;
    this.#byLabel = new IndexBy(api.server, kind, (parent) => {
      const label = tellingLabel(selectorOf(parent));
      return `${parent.metadata.namespace}/${label ?? ANY}`;
    });
  }

  /** The parent that looks after a child, if it is one of ours and there. */
  of(child: C): P | undefined {
    const { api, kind } = this.#options;
    const reference = controllerOf(child);
    if (reference?.kind !== kind.kind || reference.apiVersion !== kind.apiVersion) return undefined;
    const parent = api.get(kind, { namespace: child.metadata.namespace, name: reference.name });
    return parent?.metadata.uid === reference.uid ? parent : undefined;
  }

  /** Parents that may want to take in an orphan that is new, or has other labels or another parent than before. */
  wanting(child: C, before: C | undefined): P[] {
    const { labels, namespace, deletionTimestamp, uid = "" } = child.metadata;
    if (!labels || deletionTimestamp !== undefined) return [];
    const isNews =
      !before ||
      before.metadata.labels !== labels ||
      before.metadata.ownerReferences !== child.metadata.ownerReferences;
    if (!isNews || this.#byLabel.isEmpty) return [];
    const wanting: P[] = [];
    for (const label of [ANY, ...Object.entries(labels).map((pair) => pair.join("="))]) {
      for (const parent of this.#byLabel.get(`${namespace}/${label}`).values()) {
        if (this.#fits(parent, child)) wanting.push(parent);
      }
    }
    for (const { metadata } of wanting) {
      const found = this.#found.get(metadata.uid ?? "") ?? new Map<string, ObjectKey>();
      this.#found.set(metadata.uid ?? "", found.set(uid, keyOf(child)));
    }
    return wanting;
  }

  /** Takes in orphans that fit, and lets children go that do not fit any more. Gives the children that there are then. */
  claim(parent: P, children: Iterable<C>): C[] {
    const { uid = "", deletionTimestamp } = parent.metadata;
    const kept: C[] = [];
    for (const child of children) {
      if (this.#fits(parent, child)) kept.push(child);
      else if (deletionTimestamp === undefined) this.#letGo(parent, child);
    }
    if (deletionTimestamp !== undefined) return kept;
    const found = this.#found.get(uid);
    this.#found.delete(uid);
    for (const key of found?.values() ?? [])
      this.#takeIn(parent, this.#options.api.get(this.#options.childKind, key), kept);
    if (this.#settled.has(uid)) return kept;
    this.#settled.add(uid);
    if (this.#options.mayFindOrphans?.(parent) === false) return kept;
    for (const child of [...this.#options.orphansIn(parent.metadata.namespace ?? "")])
      this.#takeIn(parent, child, kept);
    return kept;
  }

  /** A parent is gone. */
  forget({ metadata: { uid = "" } }: P): void {
    this.#settled.delete(uid);
    this.#found.delete(uid);
  }

  #fits(parent: P, child: C): boolean {
    return selectorFrom(this.#options.selectorOf(parent))?.matches(child.metadata.labels) ?? false;
  }

  #takeIn(parent: P, child: C | undefined, kept: C[]): void {
    if (!child || controllerOf(child) || child.metadata.deletionTimestamp !== undefined || !this.#fits(parent, child))
      return;
    const { api, childKind, finalizer } = this.#options;
    const { ownerReferences = [], finalizers = [] } = child.metadata;
    const metadata = {
      ...child.metadata,
      ownerReferences: [...ownerReferences, referenceTo(parent, this.#options.kind)],
      ...(finalizer !== undefined && !finalizers.includes(finalizer) && { finalizers: [...finalizers, finalizer] }),
    };
    kept.push(api.update(childKind, { ...child, metadata }));
  }

  #letGo(parent: P, child: C): void {
    const { api, childKind, finalizer } = this.#options;
    if (child.metadata.deletionTimestamp !== undefined) return;
    const { ownerReferences = [], finalizers } = child.metadata;
    const metadata = {
      ...child.metadata,
      ownerReferences: ownerReferences.filter(({ uid }) => uid !== parent.metadata.uid),
      ...(finalizers && { finalizers: finalizers.filter((each) => each !== finalizer) }),
    };
    api.update(childKind, { ...child, metadata });
  }
}

const ANY = "*";

/** The label with the longest value: a hash or a uid tells more than the name of an application. */
function tellingLabel(selector: LabelSelectorSpec | null | undefined): string | undefined {
  const labels = Object.entries(selector?.matchLabels ?? {});
  const [first] = labels.toSorted(([, a], [, b]) => b.length - a.length);
  return first?.join("=");
}

/** The reference by which a child names the parent that looks after it. */
export function referenceTo({ metadata: { name = "", uid = "" } }: KubernetesObject, kind: Kind): OwnerReference {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

const selectors = new WeakMap<object, LabelSelector | null>();

/** A selector out of a spec, made once; `undefined` if there is none, or none that can be understood. */
export function selectorFrom(spec: LabelSelectorSpec | null | undefined): LabelSelector | undefined {
  if (!spec) return undefined;
  const known = selectors.get(spec);
  if (known !== undefined) return known ?? undefined;
  let selector: LabelSelector | undefined;
  try {
    selector = LabelSelector.fromSpec(spec);
  } catch {
    // nothing fits
  }
  selectors.set(spec, selector ?? null);
  return selector;
}

/** "namespace/name" as a key again. */
export function keyFrom(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash === -1 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function textOf(object: KubernetesObject): string {
  return keyText(keyOf(object));
}

/** What somebody is told of an error; of a refusal, what the API server said. */
export function messageOf(error: unknown): string {
  if (error instanceof Refusal) return error.body.message ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
