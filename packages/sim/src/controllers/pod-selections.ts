/** Objects that select pods by their labels, as Services and disruption budgets do, and which pods they select. */
import { coreV1, type Kind, type KubernetesObject, type LabelSelector } from "@berth/kube";
import { type Event, LocalApi } from "../api/local-api.ts";
import type { Surroundings } from "./component.ts";
import { textOf } from "./parents.ts";

export interface PodSelectionsOptions<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  /** `undefined` selects nothing. */
  readonly selectorOf: (object: T) => LabelSelector | undefined;
  /** Told, by its key, of an object that has changed, or whose pods have. */
  readonly changed: (key: string) => void;
  /** Whether a change of a pod matters. */
  readonly matters: (pod: coreV1.Pod, before: coreV1.Pod) => boolean;
}

interface Selection {
  readonly selector: LabelSelector;
  readonly namespace: string;
  readonly pods: Map<string, coreV1.Pod>;
}

export class PodSelections<T extends KubernetesObject> {
  readonly #options: PodSelectionsOptions<T>;
  readonly #api: LocalApi;
  readonly #selections = new Map<string, Selection>();
  /** Keys of selections by namespace. */
  readonly #byNamespace = new Map<string, Set<string>>();
  readonly #stops: (() => void)[];

  constructor({ server }: Surroundings, options: PodSelectionsOptions<T>) {
    this.#options = options;
    this.#api = new LocalApi(server, "system:index");
    this.#stops = [
      this.#api.onChange(options.kind, (event) => this.#onSelecting(event)),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const object of this.#api.list(options.kind)) this.#onSelecting({ type: "ADDED", object, before: undefined });
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** By uid, in the order in which they were selected. */
  podsOf(key: string): ReadonlyMap<string, coreV1.Pod> {
    return this.#selections.get(key)?.pods ?? new Map();
  }

  #onSelecting({ type, object }: Event<T>): void {
    const key = textOf(object);
    const { namespace = "" } = object.metadata;
    const selector = type === "DELETED" ? undefined : this.#options.selectorOf(object);
    const known = this.#selections.get(key);
    if (!selector) {
      this.#selections.delete(key);
      this.#byNamespace.get(namespace)?.delete(key);
    } else if (known?.selector !== selector) {
      const pods = this.#api.list(coreV1.Pod, namespace).filter(({ metadata }) => selector.matches(metadata.labels));
      const byUid = new Map(pods.map((pod) => [pod.metadata.uid ?? "", pod]));
      this.#selections.set(key, { selector, namespace, pods: byUid });
      this.#byNamespace.set(namespace, (this.#byNamespace.get(namespace) ?? new Set()).add(key));
    }
    this.#options.changed(key);
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const { namespace = "", uid = "", labels } = object.metadata;
    for (const key of this.#byNamespace.get(namespace) ?? []) {
      const selection = this.#selections.get(key);
      if (!selection) continue;
      const was = selection.pods.has(uid);
      // Labels seldom change; whoever had them before has not to be asked again.
      const isSame = before !== undefined && before.metadata.labels === labels;
      const is = type !== "DELETED" && (isSame ? was : selection.selector.matches(labels));
      if (is) selection.pods.set(uid, object);
      else selection.pods.delete(uid);
      if (was !== is || (is && before && this.#options.matters(object, before))) this.#options.changed(key);
    }
  }
}
