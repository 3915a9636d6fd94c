/** What a watch shows of pods on their way to a node, by one clock: nobody's own account of what he has done. */
import { stopwatch } from "@berth/cluster";
import { type Client, coreV1, Informer } from "@berth/kube";

/** One pod that waited behind a gate. Times are in milliseconds since the watch was opened. */
export interface SeenPod {
  readonly name: string;
  /** When it was first seen, and first seen without a gate, and with a node. */
  readonly came: number;
  lifted?: number;
  bound?: number;
  node?: string;
  /** The slot that is written on it. */
  slot?: number;
  /** A scheduler has tried in vain to find a place for it. */
  failed?: boolean;
}

export interface Selected {
  readonly namespace: string;
  /** Those that count. */
  readonly labelSelector: string;
  /** Told of each when it is first seen. */
  readonly onSeen?: (pod: SeenPod) => void;
}

export class PodWatch implements AsyncDisposable {
  readonly #elapsed = stopwatch();
  readonly #informer: Informer<coreV1.Pod>;
  readonly #pods = new Map<string, SeenPod>();
  readonly #present = new Set<string>();
  readonly #onSeen: (pod: SeenPod) => void;
  #begun: number | undefined;
  #bound = 0;

  private constructor(client: Client, { namespace, labelSelector, onSeen = () => {} }: Selected) {
    this.#informer = new Informer(client, coreV1.Pod, { namespace, labelSelector, freeze: false });
    this.#onSeen = onSeen;
    this.#informer.addEventHandler({
      onAdd: (pod) => this.#see(pod),
      onUpdate: (_, pod) => this.#see(pod),
      onDelete: ({ metadata }) => this.#present.delete(metadata.name ?? ""),
    });
  }

  static async open(client: Client, selected: Selected): Promise<PodWatch> {
    const watch = new PodWatch(client, selected);
    await watch.#informer.start().waitForSync();
    return watch;
  }

  /** How many there are now. */
  get present(): number {
    return this.#present.size;
  }

  /** How many have got a node. */
  get bound(): number {
    return this.#bound;
  }

  /** All that there have ever been. */
  get pods(): SeenPod[] {
    return [...this.#pods.values()];
  }

  /** Milliseconds from the first one's coming to the last one's node. */
  get milliseconds(): number {
    return Math.max(...this.pods.map(({ bound = Number.NaN }) => bound)) - (this.#begun ?? Number.NaN);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer.stop();
  }

  #see({ metadata, spec, status }: coreV1.Pod): void {
    const { name = "", annotations } = metadata;
    let seen = this.#pods.get(name);
    if (!seen) {
      seen = { name, came: this.#elapsed() };
      this.#begun ??= seen.came;
      this.#pods.set(name, seen);
      this.#present.add(name);
      this.#onSeen(seen);
    }
    if (seen.lifted === undefined && (spec?.schedulingGates ?? []).length === 0) {
      seen.lifted = this.#elapsed();
    }
    if (seen.bound === undefined && spec?.nodeName) {
      seen.bound = this.#elapsed();
      seen.node = spec.nodeName;
      const slot = annotations?.["berth.dev/slot"];
      if (slot !== undefined) seen.slot = Number(slot);
      this.#bound++;
    }
    const placed = status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (placed?.status === "False" && placed.reason === "Unschedulable") seen.failed = true;
  }
}
