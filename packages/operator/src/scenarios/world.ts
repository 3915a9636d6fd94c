/** A corner of a cluster for one scenario: a namespace, nodes that nobody else uses, and a testbed on them. */
import { batchV1, coreV1 } from "@berth/kube";
import { BatchJob, type JobPhase, Scheduling, Slot, Testbed } from "@berth/model";
import { label } from "../names.ts";
import type { Target } from "./target.ts";

let corners = 0;

export class World {
  readonly target: Target;
  readonly namespace: string;
  readonly label: string;
  readonly #nodes: string[] = [];

  constructor(target: Target) {
    this.target = target;
    this.namespace = `scenario-${++corners}`;
    this.label = `example.org/${this.namespace}`;
  }

  get client() {
    return this.target.client;
  }

  /** @param nodes - How many. @param spec - Over two slots of 2 CPUs and 4Gi on each of them. */
  static async with(target: Target, nodes: number, spec: Partial<Testbed["spec"]> = {}): Promise<World> {
    const world = new World(target);
    await world.client.create(coreV1.Namespace, { metadata: { name: world.namespace } });
    await world.eventually("an account", () =>
      world.client.find(coreV1.ServiceAccount, { namespace: world.namespace, name: "default" }),
    );
    for (let index = 0; index < nodes; index++) await world.addNode(index);
    await world.client.create(Testbed, {
      metadata: { name: "main", namespace: world.namespace },
      spec: { slotsPerNode: 2, nodeLabel: world.label, resourcesPerSlot: { cpu: "2", memory: "4Gi" }, ...spec },
    });
    if (nodes > 0) await world.states(...Array.from({ length: nodes * (spec.slotsPerNode ?? 2) }, () => "free"));
    return world;
  }

  async addNode(index: number): Promise<string> {
    const name = this.node(index);
    this.#nodes.push(name);
    await this.target.addNode(name, { [this.label]: String(index) });
    return name;
  }

  node(index: number): string {
    return `${this.namespace}-${index}`;
  }

  mark(index: number, value: string | null): Promise<unknown> {
    return this.client.patch(
      coreV1.Node,
      { name: this.node(index) },
      { merge: { metadata: { labels: { [this.label]: value } } } },
    );
  }

  eventually<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
    return this.target.eventually(what, ask);
  }

  /** A job whose executors run for so long, and end with a code. */
  async submit(name: string, seconds: number, spec: Partial<BatchJob["spec"]> = {}, exitCode = 0): Promise<void> {
    const annotations = { "berth.dev/run-time": `${seconds}s`, "berth.dev/exit-code": String(exitCode) };
    await this.client.create(BatchJob, {
      metadata: { name, namespace: this.namespace },
      spec: {
        jobSpec: {
          template: { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } },
        },
        ...spec,
      },
    });
  }

  async schedule(name: string, spec: Partial<Scheduling["spec"]>): Promise<void> {
    await this.client.create(Scheduling, {
      metadata: { name, namespace: this.namespace },
      spec: { testbed: { name: "main" }, ...spec },
    });
  }

  job(name: string): Promise<BatchJob> {
    return this.client.get(BatchJob, { namespace: this.namespace, name });
  }

  scheduling(name: string): Promise<Scheduling> {
    return this.client.get(Scheduling, { namespace: this.namespace, name });
  }

  phase(name: string, phase: JobPhase): Promise<BatchJob> {
    return this.eventually(`${name} is ${phase}`, async () => {
      const job = await this.job(name);
      return job.status?.phase === phase && job;
    });
  }

  /** Waits until the slots are in these states, in the order of their positions. */
  async states(...states: string[]): Promise<void> {
    let seen: unknown[] = [];
    try {
      await this.eventually("states", async () => {
        seen = (await this.slots()).map(({ status }) => status?.state);
        return JSON.stringify(seen) === JSON.stringify(states);
      });
    } catch {
      throw new Error(`the slots are ${JSON.stringify(seen)}, and not ${JSON.stringify(states)}`);
    }
  }

  async slots(): Promise<Slot[]> {
    const { items } = await this.client.list(Slot, { namespace: this.namespace });
    return items.sort((a, b) => a.spec.position - b.spec.position);
  }

  async pods(role: "ghost" | "executor"): Promise<coreV1.Pod[]> {
    const { items } = await this.client.list(coreV1.Pod, {
      namespace: this.namespace,
      labelSelector: `${label.role}=${role}`,
    });
    return items;
  }

  /** Where the executors of a job run: "slot on node". */
  async places(job: string): Promise<string[]> {
    const pods = (await this.pods("executor")).filter(
      ({ metadata }) => metadata.annotations?.["berth.dev/job"] === `${this.namespace}/${job}`,
    );
    const live = pods.filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending");
    return live
      .map(
        ({ metadata, spec }) =>
          `${metadata.annotations?.["berth.dev/slot"] ?? "no slot"} on ${spec?.nodeName ?? "no node"}`,
      )
      .sort();
  }

  async applications(): Promise<string[]> {
    const { items } = await this.client.list(batchV1.Job, { namespace: this.namespace });
    return items.map(({ metadata }) => metadata.name ?? "");
  }

  async tidyUp(): Promise<void> {
    await this.client.delete(coreV1.Namespace, { name: this.namespace });
    for (const name of this.#nodes) await this.target.removeNode(name).catch(() => {});
  }
}
