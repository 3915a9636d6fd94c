/** Creates Widgets and sees the Pods that come of them, by one clock. */

import { stopwatch } from "@berth/cluster";
import {
  Client,
  coreV1,
  HttpTransport,
  Informer,
  type KubernetesObject,
  kindOf,
  loadConnection,
  orAborted,
} from "@berth/kube";
import { type Workplace, widget } from "./widget.ts";

/** How many Widgets are on their way at once when many are created. */
const CONCURRENCY = 64;

export class Stage {
  readonly #client: Client;
  readonly #pods: Informer<coreV1.Pod>;
  /** "namespace/name" of Pods that somebody waits for. */
  readonly #awaited = new Map<string, () => void>();

  private constructor(client: Client) {
    this.#client = client;
    // Of Pods that others may create by the hundred thousand, only the names are kept.
    const project = ({ metadata: { namespace = "", name = "", uid = "", resourceVersion = "" } }: coreV1.Pod) => ({
      metadata: { namespace, name, uid, resourceVersion },
    });
    this.#pods = new Informer(client, coreV1.Pod, { project, freeze: false });
    this.#pods.addEventHandler({
      onAdd: ({ metadata }) => {
        const key = `${metadata.namespace}/${metadata.name}`;
        this.#awaited.get(key)?.();
        this.#awaited.delete(key);
      },
    });
  }

  static async open(kubeconfig: string): Promise<Stage> {
    const transport = new HttpTransport(loadConnection({ kubeconfig }), { connections: CONCURRENCY });
    const stage = new Stage(new Client(transport));
    await stage.#pods.start().waitForSync();
    return stage;
  }

  /** Milliseconds from the creation of a Widget to its Pod being seen. */
  async one(place: Workplace, name: string): Promise<number> {
    const elapsed = stopwatch();
    const seen = this.#seen(place, name);
    await this.#create(place, name);
    await seen;
    return elapsed();
  }

  /** Milliseconds from the creation of the first of many Widgets to the last Pod being seen. */
  async many(place: Workplace, names: readonly string[], signal: AbortSignal): Promise<number> {
    const elapsed = stopwatch();
    const seen = Promise.all(names.map((name) => this.#seen(place, name)));
    const left = names.values();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const name of left) {
          signal.throwIfAborted();
          await this.#create(place, name);
        }
      }),
    );
    await orAborted(seen, signal);
    return elapsed();
  }

  /** Removes all Widgets and Pods of a workplace, and returns when they are gone. */
  async clear(place: Workplace, signal: AbortSignal): Promise<void> {
    const { namespace } = place;
    // Widgets first, or operators would replace the Pods.
    await this.#client.deleteAllOf(widgetKind(place), { namespace, signal });
    await this.#client.deleteAllOf(coreV1.Pod, { namespace, gracePeriodSeconds: 0, signal });
    while ((await this.#client.list(coreV1.Pod, { namespace, pageSize: 1, signal })).items.length > 0) {
      await this.#client.deleteAllOf(coreV1.Pod, { namespace, gracePeriodSeconds: 0, signal });
    }
  }

  async close(): Promise<void> {
    await this.#pods.stop();
    await this.#client.transport.close();
  }

  async #create(place: Workplace, name: string): Promise<void> {
    await this.#client.create(widgetKind(place), widget(place, name) as KubernetesObject);
    if (place.name === "floor") {
      // Nobody answers: what an operator would do is done here, and at once.
      const spec = { schedulerName: "none", containers: [{ name: "main", image: "example.org/widget:1" }] };
      await this.#client.create(coreV1.Pod, { metadata: { name, namespace: place.namespace }, spec });
    }
  }

  #seen({ namespace }: Workplace, name: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(`${namespace}/${name}`, resolve));
  }
}

const widgetKind = ({ group }: Workplace) => kindOf(`${group}/v1`, "Widget", "widgets");
