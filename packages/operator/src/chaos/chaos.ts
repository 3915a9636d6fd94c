/** Everything at once, by chance from a seed, and what is left of it in the end. */
import { batchV1, coreV1, integer, isNotFound, pick, type Random, SeededRandom } from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import type { Arena } from "./arena.ts";

export interface ChaosOptions {
  readonly seed: string;
  readonly nodes: number;
  readonly slotsPerNode: number;
  readonly jobs: number;
  /** How many things happen. */
  readonly steps: number;
  /** The longest time between two of them, and the longest run of an executor. */
  readonly pauseMs: number;
  readonly longestRunSeconds: number;
  readonly onStep?: (step: number, what: string) => void;
}

export interface Outcome {
  /** What must never have been, in the words of the API server's record. */
  readonly complaints: readonly string[];
  readonly bound: number;
  /** Entries of Schedulings that neither ended nor can say what they wait for. */
  readonly stuck: readonly string[];
  /** What is left when everything was given back. */
  readonly leaks: readonly string[];
  /** How often each thing happened. */
  readonly happened: Readonly<Record<string, number>>;
}

const NAMESPACE = "default";
const LABEL = "example.org/slots";
const MAIN = { namespace: NAMESPACE, name: "main" };

export async function chaos(arena: Arena, options: ChaosOptions): Promise<Outcome> {
  const run = new Run(arena, options);
  await run.begin();
  for (let step = 0; step < options.steps; step++) await run.step(step);
  await run.peace();
  const stuck = await run.stuck();
  const leaks = await run.leaks();
  const { complaints, bound } = await arena.audit();
  return { complaints, bound, stuck, leaks, happened: run.happened };
}

type Happening = readonly [what: string, weight: number, act: () => Promise<unknown>];

class Run {
  readonly happened: Record<string, number> = {};
  readonly #arena: Arena;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #broken = new Set<number>();
  readonly #gone = new Set<number>();
  #schedulings = 0;

  constructor(arena: Arena, options: ChaosOptions) {
    this.#arena = arena;
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  /** Three Schedulings at once have all of the jobs. */
  async begin(): Promise<void> {
    const { nodes, jobs, slotsPerNode } = this.#options;
    const { client } = this.#arena;
    for (let index = 0; index < nodes; index++) await this.#addNode(index);
    await client.create(Testbed, {
      metadata: { ...MAIN },
      spec: { slotsPerNode, nodeLabel: LABEL, resourcesPerSlot: { cpu: "2", memory: "4Gi" } },
    });
    for (let index = 0; index < jobs; index++) await this.#submit(index);
    await this.#arena.pass(3000);
    const all = Array.from({ length: jobs }, (_, index) => `job-${index}`);
    for (let third = 0; third < 3; third++) {
      const names = all.filter((_, index) => index % 3 === third);
      await this.#decide({ queueBased: names.flatMap((name) => this.#times(1, 4, () => ({ name }))) });
    }
  }

  async step(step: number): Promise<void> {
    const [what, act] = this.#choice();
    this.happened[what] = (this.happened[what] ?? 0) + 1;
    this.#options.onStep?.(step, what);
    await act();
    await this.#arena.pass(integer(this.#random, 0, this.#options.pauseMs));
  }

  #choice(): [what: string, act: Happening[2]] {
    const all = this.#happenings();
    let left = this.#random.next() * all.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [what, weight, act] of all) {
      left -= weight;
      if (left < 0) return [what, act];
    }
    return ["nothing", async () => {}];
  }

  #happenings(): Happening[] {
    const { client } = this.#arena;
    const random = this.#random;
    const { nodes, jobs, slotsPerNode } = this.#options;
    const node = () => integer(random, 0, nodes);
    return [
      [
        "a queue is decided",
        2,
        () => this.#decide({ queueBased: this.#times(1, 8, () => ({ name: `job-${integer(random, 0, jobs)}` })) }),
      ],
      ["slots are decided", 3, () => this.#decide({ slotBased: this.#bySlot() }, random.next() < 0.05)],
      ["a node is labelled", 1, () => this.#mark(node(), String(integer(random, 0, 99)))],
      ["a node is labelled away", 1, () => this.#mark(node(), null)],
      ["a node falls silent, or speaks again", 1.5, () => this.#toggle(node())],
      ["a node is lost, or comes back", 1.5, () => this.#loseOrAdd(node())],
      [
        "slots are made more or fewer",
        0.5,
        () => client.patch(Testbed, MAIN, { merge: { spec: { slotsPerNode: integer(random, 1, slotsPerNode + 1) } } }),
      ],
      [
        "a Scheduling is deleted",
        1,
        () =>
          client
            .delete(Scheduling, { namespace: NAMESPACE, name: `s-${integer(random, 0, this.#schedulings)}` })
            .catch(unlessGone),
      ],
      ["an ordinary pod comes", 2, () => this.#ordinary()],
      ["a ghost or an executor is deleted", 2, () => this.#deletePod()],
      ["the operator is killed", 2, () => this.#arena.killOperator()],
      ["kube-scheduler is killed", 1, () => this.#arena.killScheduler()],
    ];
  }

  /** Everything that can be is given back, and whatever was wanted is carried out or given up. */
  async peace(): Promise<void> {
    const { nodes, slotsPerNode } = this.#options;
    for (const index of this.#broken) await this.#arena.mendNode(nameOf(index));
    for (const index of this.#gone) await this.#addNode(index);
    for (let index = 0; index < nodes; index++) await this.#mark(index, String(index));
    await this.#arena.client.patch(Testbed, MAIN, { merge: { spec: { slotsPerNode } } });
    await this.#until(async () => (await this.stuck()).length === 0);
  }

  async stuck(): Promise<string[]> {
    const { items } = await this.#arena.client.list(Scheduling, { namespace: NAMESPACE });
    return items.flatMap(({ metadata, status }) => {
      if (!status) return [`${metadata.name}: nobody has looked at it`];
      return (status.jobs ?? []).flatMap(({ name, phase, message = "" }) =>
        ["Completed", "Failed", "Released"].includes(phase) || /could be used$/.test(message)
          ? []
          : [`${metadata.name}: ${name} is ${phase}: ${message}`],
      );
    });
  }

  /** Takes everything away in order, and sees what stays. */
  async leaks(): Promise<string[]> {
    const { client } = this.#arena;
    const { items: schedulings } = await client.list(Scheduling, { namespace: NAMESPACE });
    for (const { metadata } of schedulings)
      await client.delete(Scheduling, { namespace: NAMESPACE, name: metadata.name ?? "" }).catch(unlessGone);
    const left: string[] = [];
    const note = async (find: () => Promise<string[]>) => {
      let found: string[] = [];
      await this.#until(async () => {
        found = await find();
        return found.length === 0;
      });
      left.push(...found);
    };
    await note(() => this.#claims());
    await note(() => this.#slotsNotFree());
    const { items: jobs } = await client.list(BatchJob, { namespace: NAMESPACE });
    for (const { metadata } of jobs) await client.delete(BatchJob, { namespace: NAMESPACE, name: metadata.name ?? "" });
    await note(async () =>
      (await client.list(batchV1.Job, { namespace: NAMESPACE })).items.map(
        ({ metadata }) => `application ${metadata.name}`,
      ),
    );
    await client.delete(Testbed, MAIN);
    await note(async () => [
      ...(await client.list(Testbed)).items.map(({ metadata }) => `testbed ${metadata.name}: ${metadata.finalizers}`),
      ...(await client.list(Slot)).items.map(({ metadata }) => `slot ${metadata.name}`),
      ...(await client.list(coreV1.Pod, { labelSelector: "berth.dev/role" })).items.map(
        ({ metadata }) => `pod ${metadata.name}`,
      ),
    ]);
    return left;
  }

  async #claims(): Promise<string[]> {
    const { items } = await this.#arena.client.list(BatchJob, { namespace: NAMESPACE });
    return items
      .filter(({ spec }) => spec.activeScheduling || spec.creationRequest)
      .map(({ metadata }) => `claim of ${metadata.name}`);
  }

  async #slotsNotFree(): Promise<string[]> {
    const { client } = this.#arena;
    const { nodes, slotsPerNode } = this.#options;
    const { items: slots } = await client.list(Slot, { namespace: NAMESPACE });
    const { items: ghosts } = await client.list(coreV1.Pod, {
      namespace: NAMESPACE,
      labelSelector: "berth.dev/role=ghost",
    });
    const count = (what: string, is: number) =>
      is === nodes * slotsPerNode ? [] : [`${is} ${what} of ${nodes * slotsPerNode}`];
    return [
      ...slots.flatMap(({ metadata, status }) =>
        status?.state === "free" ? [] : [`slot ${metadata.name} is ${status?.state}: ${status?.reason}`],
      ),
      ...count("slots", slots.length),
      ...count("ghosts", ghosts.length),
    ];
  }

  async #until(isTrue: () => Promise<boolean>): Promise<void> {
    const { patienceMs } = this.#arena;
    for (let waited = 0; waited < patienceMs; waited += 2000) {
      if (await isTrue()) return;
      await this.#arena.pass(2000);
    }
  }

  #times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: integer(this.#random, least, most) }, make);
  }

  #bySlot(): { name: string; slots: number[] }[] {
    const { jobs, nodes, slotsPerNode } = this.#options;
    const names = new Set(this.#times(1, 6, () => `job-${integer(this.#random, 0, jobs)}`));
    return [...names].map((name) => ({
      name,
      slots: [...new Set(this.#times(1, 4, () => integer(this.#random, 0, nodes * slotsPerNode)))],
    }));
  }

  async #decide(spec: Partial<Scheduling["spec"]>, exclusive = false): Promise<void> {
    await this.#arena.client.create(Scheduling, {
      metadata: { name: `s-${this.#schedulings++}`, namespace: NAMESPACE },
      spec: { testbed: { name: MAIN.name }, ...spec, exclusive },
    });
  }

  async #submit(index: number): Promise<void> {
    const random = this.#random;
    const annotations = {
      "berth.dev/run-time": `${integer(random, 1, this.#options.longestRunSeconds + 1)}s`,
      "berth.dev/exit-code": random.next() < 0.1 ? "1" : "0",
    };
    const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "any" }] } };
    await this.#arena.client.create(BatchJob, {
      metadata: { name: `job-${index}`, namespace: NAMESPACE },
      spec: { jobSpec: { template }, retry: { limit: integer(random, 0, 3), backoffSeconds: 2 } },
    });
  }

  async #addNode(index: number): Promise<void> {
    this.#gone.delete(index);
    await this.#arena.addNode(nameOf(index), { [LABEL]: String(index) });
  }

  async #mark(index: number, value: string | null): Promise<void> {
    const merge = { metadata: { labels: { [LABEL]: value } } };
    await this.#arena.client.patch(coreV1.Node, { name: nameOf(index) }, { merge }).catch(unlessGone);
  }

  async #toggle(index: number): Promise<void> {
    if (this.#gone.has(index)) return;
    if (this.#broken.delete(index)) await this.#arena.mendNode(nameOf(index));
    else {
      this.#broken.add(index);
      await this.#arena.breakNode(nameOf(index));
    }
  }

  async #loseOrAdd(index: number): Promise<void> {
    if (this.#gone.has(index)) return this.#addNode(index);
    this.#gone.add(index);
    this.#broken.delete(index);
    await this.#arena.removeNode(nameOf(index));
  }

  async #ordinary(): Promise<void> {
    const requests = { cpu: pick(this.#random, ["500m", "2"]) };
    const annotations = { "berth.dev/run-time": `${this.#options.longestRunSeconds}s` };
    await this.#arena.client.create(coreV1.Pod, {
      metadata: { generateName: "ordinary-", namespace: NAMESPACE, annotations },
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "any", resources: { requests } }] },
    });
  }

  async #deletePod(): Promise<void> {
    const { client } = this.#arena;
    const { items } = await client.list(coreV1.Pod, { namespace: NAMESPACE, labelSelector: "berth.dev/role" });
    if (items.length === 0) return;
    const { name = "" } = pick(this.#random, items).metadata;
    await client.delete(coreV1.Pod, { namespace: NAMESPACE, name }).catch(unlessGone);
  }
}

function nameOf(index: number): string {
  return `node-${index}`;
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
