/** A corner of a cluster for one scenario: a namespace, nodes that nobody else uses, and a testbed on them. */
import { batchV1, coreV1, eventsV1, type KubernetesObject } from "@berth/kube";
import { BatchJob, type JobPhase, Scheduling, Slot, Testbed } from "@berth/model";
import { label } from "../names.ts";
import type { Target } from "./target.ts";

let corners = 0;

export class World {
  readonly target: Target;
  readonly namespace: string;
  readonly label: string;
  readonly #nodes: string[] = [];
  readonly #namespaces: string[] = [];

  constructor(target: Target) {
    this.target = target;
    this.namespace = `scenario-${++corners}`;
    this.label = `example.org/${this.namespace}`;
  }

  get client() {
    return this.target.client;
  }

  /** @param nodes - How many. @param spec - Over two slots on each of them, for which there is exactly enough room. */
  static async with(target: Target, nodes: number, spec: Partial<Testbed["spec"]> = {}): Promise<World> {
    const world = new World(target);
    await world.#create(world.namespace);
    for (let index = 0; index < nodes; index++) await world.addNode(index);
    await world.client.create(Testbed, {
      metadata: { name: "main", namespace: world.namespace },
      spec: { slotsPerNode: 2, nodeLabel: world.label, resourcesPerSlot: { cpu: "4", memory: "16Gi" }, ...spec },
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
  async submit(
    name: string,
    seconds: number,
    spec: Partial<BatchJob["spec"]> = {},
    exitCode = 0,
    namespace = this.namespace,
  ): Promise<void> {
    const annotations = { "berth.dev/run-time": `${seconds}s`, "berth.dev/exit-code": String(exitCode) };
    await this.client.create(BatchJob, {
      metadata: { name, namespace },
      spec: {
        jobSpec: {
          template: { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } },
        },
        ...spec,
      },
    });
  }

  /** Of another namespace, for a story that needs two; it goes with the first. */
  async anotherNamespace(): Promise<string> {
    const name = `${this.namespace}-b`;
    await this.#create(name);
    return name;
  }

  async #create(name: string): Promise<void> {
    this.#namespaces.push(name);
    await this.client.create(coreV1.Namespace, { metadata: { name } });
    await this.eventually("an account", () =>
      this.client.find(coreV1.ServiceAccount, { namespace: name, name: "default" }),
    );
  }

  /** What pins a pod to a node. */
  on(index: number): Pick<coreV1.PodSpec, "affinity"> {
    const matchFields = [{ key: "metadata.name", operator: "In" as const, values: [this.node(index)] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
  }

  async change(spec: Partial<Testbed["spec"]>): Promise<void> {
    await this.client.patch(Testbed, { namespace: this.namespace, name: "main" }, { merge: { spec } });
  }

  async edit(name: string, spec: Partial<Scheduling["spec"]>): Promise<void> {
    await this.client.patch(Scheduling, { namespace: this.namespace, name }, { merge: { spec } });
  }

  /** Until a job of a Scheduling waits for a reason. */
  async waits(scheduling: string, job: string, reason: RegExp): Promise<void> {
    await this.eventually(`${job} waits: ${reason}`, async () => {
      const { status } = await this.scheduling(scheduling);
      const entry = status?.jobs?.find(({ name }) => name === job);
      return entry?.phase === "Waiting" && reason.test(entry.message ?? "");
    });
  }

  /** Until there is an Event about an object. */
  async told({ metadata }: KubernetesObject, reason: string, note: RegExp): Promise<void> {
    await this.eventually(`${metadata.name} is told: ${reason} ${note}`, async () => {
      const { items } = await this.client.list(eventsV1.Event, { namespace: metadata.namespace });
      return items.some(
        (event) => event.regarding?.uid === metadata.uid && event.reason === reason && note.test(event.note ?? ""),
      );
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

  async removeApplications(): Promise<void> {
    for (const name of await this.applications()) {
      await this.client.delete(batchV1.Job, { namespace: this.namespace, name }, { propagationPolicy: "Background" });
    }
  }

  async tidyUp(): Promise<void> {
    for (const name of this.#namespaces) await this.client.delete(coreV1.Namespace, { name });
    for (const name of this.#nodes) await this.target.removeNode(name).catch(() => {});
  }
}
