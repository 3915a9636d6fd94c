/** What the gateway knows of the cluster: one namespace of it, kept up to date by watches. */
import { Cache, type Client, type Clock, coordinationV1, coreV1, informed, type Logger } from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed, type TestbedView, type TurnSlot } from "@berth/model";
import { GatewayError } from "./errors.ts";
import { following } from "./following.ts";
import { Board } from "./turn/board.ts";
import { intentsOf } from "./turn/intents.ts";
import type { Epoch } from "./views/epoch.ts";

/** On our leases, so that we need not watch those of others. */
export const LEASE_LABELS = { "app.kubernetes.io/managed-by": "berth-gateway" } as const;

export interface WorldOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly epoch: Epoch;
  readonly log: Logger;
}

/** Schedulings by the jobs that they are about to take. */
const BY_JOB = "berth.dev/job";

export class World {
  readonly namespace: string;
  readonly clock: Clock;
  readonly epoch: Epoch;
  readonly cache: Cache;
  readonly #boards = new Map<string, Board>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #slotListeners: ((testbed: string, slots: readonly Slot[]) => void)[] = [];

  constructor({ client, namespace, clock, epoch, log }: WorldOptions) {
    this.namespace = namespace;
    this.clock = clock;
    this.epoch = epoch;
    const ours = informed(coordinationV1.Lease, { labelSelector: { matchLabels: LEASE_LABELS } });
    this.cache = new Cache(client, { namespace, clock, log, kinds: [ours] });
    for (const kind of [BatchJob, Scheduling, Slot, Testbed, coreV1.Node, coordinationV1.Lease]) {
      this.cache.informer(kind as typeof BatchJob);
    }
    this.schedulings.addIndex(BY_JOB, (scheduling) =>
      intentsOf(scheduling, { namespace, testbed: "" }).map(({ job }) => job),
    );
    this.#keepBoards();
  }

  /** Which scheduler has a testbed; whoever serves the turns says so. */
  schedulerOf: (testbed: string) => string | undefined = () => undefined;

  get jobs() {
    return this.cache.informer(BatchJob);
  }

  get schedulings() {
    return this.cache.informer(Scheduling);
  }

  get slots() {
    return this.cache.informer(Slot);
  }

  get testbeds() {
    return this.cache.informer(Testbed);
  }

  get nodes() {
    return this.cache.informer(coreV1.Node);
  }

  get leases() {
    return this.cache.informer(coordinationV1.Lease);
  }

  key(name: string) {
    return { namespace: this.namespace, name };
  }

  /** The Scheduling that has a job, or is about to. */
  holderOf({ metadata, spec }: BatchJob): string | undefined {
    return spec.activeScheduling?.name ?? this.schedulings.byIndex(BY_JOB, metadata.name ?? "")[0]?.metadata.name;
  }

  isHeld(job: BatchJob): boolean {
    return this.holderOf(job) !== undefined;
  }

  /** The board of a testbed, which has to exist. */
  board(testbed: string): Board {
    if (!this.testbeds.get(this.key(testbed))) {
      throw new GatewayError("BERTH_TESTBED_UNKNOWN", `there is no testbed ${testbed}`);
    }
    return this.#boardOf(testbed);
  }

  /** How it stands with a slot, as turns tell it. */
  slotLine(slot: Slot): TurnSlot {
    return this.#boardOf(slot.spec.testbed).lineOf(slot);
  }

  /** How many slots of each kind a testbed has, as turns tell it. */
  slotCounts({ metadata }: Testbed): TestbedView["slots"] {
    return this.#boardOf(metadata.name ?? "").counts();
  }

  /** Calls back whenever it stands otherwise with slots of a testbed, whatever that comes from. */
  onSlots(listener: (testbed: string, slots: readonly Slot[]) => void): void {
    this.#slotListeners.push(listener);
  }

  /** Calls back whenever there is news on a testbed. Returns how to end that. */
  onNews(testbed: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(testbed) ?? new Set();
    this.#listeners.set(testbed, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  #boardOf(testbed: string): Board {
    const known = this.#boards.get(testbed);
    if (known) return known;
    const { namespace, epoch } = this;
    const board = new Board({
      ...{ namespace, testbed, epoch, now: () => this.clock.now() },
      onNews: () => this.#tellNews(testbed),
      onSlots: (slots) => {
        for (const listener of this.#slotListeners) listener(testbed, slots);
      },
    });
    for (const job of this.jobs.list()) board.setJob(job.metadata.name ?? "", job);
    for (const scheduling of this.schedulings.list()) board.setScheduling(scheduling.metadata.name ?? "", scheduling);
    for (const slot of this.slots.list()) if (slot.spec.testbed === testbed) board.setSlot(slot.spec.position, slot);
    board.synced();
    this.#boards.set(testbed, board);
    return board;
  }

  /** Before anybody else listens: whoever is told of a change finds it on the boards. */
  #keepBoards(): void {
    const boards = this.#boards;
    this.jobs.addEventHandler(
      following((job, name) => {
        for (const board of boards.values()) board.setJob(name, job);
      }),
    );
    this.schedulings.addEventHandler(
      following((scheduling, name) => {
        for (const board of boards.values()) board.setScheduling(name, scheduling);
      }),
    );
    this.slots.addEventHandler(
      following((slot, _, { spec }) => boards.get(spec.testbed)?.setSlot(spec.position, slot)),
    );
    this.testbeds.addEventHandler({ onDelete: ({ metadata }) => this.#tellNews(metadata.name ?? "") });
  }

  #tellNews(testbed: string): void {
    for (const listener of [...(this.#listeners.get(testbed) ?? [])]) listener();
  }
}
