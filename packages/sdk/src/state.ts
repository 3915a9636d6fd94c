/** What a scheduler knows when it decides: everything the gateway has told, and answers to what algorithms ask. */
import type { QueuedJob, Rejection, RunningJob, RunView, TurnEvent, TurnReply, TurnSlot } from "@berth/model";

export class State {
  readonly #queue = new Map<string, QueuedJob>();
  readonly #running = new Map<string, RunningJob>();
  readonly #slots = new Map<number, TurnSlot>();
  /** Given away in this turn. */
  readonly #given = new Set<number>();
  #turn = 0;
  #time = 0;
  #clock: "wall" | "virtual" = "wall";
  #testbed = "";
  #events: readonly TurnEvent[] = [];
  #rejected: readonly Rejection[] = [];

  /** @internal Takes in what the gateway tells. */
  apply(reply: TurnReply): void {
    this.#turn = reply.turn;
    this.#time = reply.time;
    this.#clock = reply.clock;
    this.#testbed = reply.testbed;
    this.#events = reply.events;
    this.#rejected = reply.rejected;
    this.#given.clear();
    if (reply.view === "full") {
      this.#queue.clear();
      this.#running.clear();
      this.#slots.clear();
      for (const job of reply.queue) this.#queue.set(job.name, job);
      for (const job of reply.running) this.#running.set(job.name, job);
      for (const slot of reply.slots) this.#slots.set(slot.id, slot);
      return;
    }
    for (const name of reply.queue.removed) this.#queue.delete(name);
    for (const job of reply.queue.set) this.#queue.set(job.name, job);
    for (const name of reply.running.removed) this.#running.delete(name);
    for (const job of reply.running.set) this.#running.set(job.name, job);
    for (const id of reply.slots.removed) this.#slots.delete(id);
    for (const slot of reply.slots.set) this.#slots.set(slot.id, slot);
  }

  /** The number of the turn. */
  get turn(): number {
    return this.#turn;
  }

  /** In seconds: since 1970, or since the start of a virtual clock. */
  get time(): number {
    return this.#time;
  }

  get clock(): "wall" | "virtual" {
    return this.#clock;
  }

  get testbed(): string {
    return this.#testbed;
  }

  /** What has happened since the last turn, the oldest first. */
  get events(): readonly TurnEvent[] {
    return this.#events;
  }

  /** Decisions of the last turn that were not carried out. */
  get rejected(): readonly Rejection[] {
    return this.#rejected;
  }

  /** Jobs to decide about, the earliest submitted first. */
  get queue(): readonly QueuedJob[] {
    return [...this.#queue.values()].sort(bySubmission);
  }

  /** Jobs that somebody has decided about, until they have ended. */
  get running(): readonly RunningJob[] {
    return [...this.#running.values()].sort(bySubmission);
  }

  /** By number. */
  get slots(): readonly TurnSlot[] {
    return [...this.#slots.values()].sort((a, b) => a.id - b.id);
  }

  /** Slots that are free, and not given away in this turn, by number. */
  get free(): readonly TurnSlot[] {
    return this.slots.filter(({ id, state }) => state === "free" && !this.#given.has(id));
  }

  /**
   * Numbers of so many free slots, which are not free any more in this turn; `undefined` if there are not so many.
   * @param order - Which to take first. Default: the lowest number.
   */
  take(count: number, order?: (a: TurnSlot, b: TurnSlot) => number): number[] | undefined {
    const { free } = this;
    if (free.length < count) return undefined;
    const taken = (order ? [...free].sort(order) : free).slice(0, count).map(({ id }) => id);
    for (const id of taken) this.#given.add(id);
    return taken;
  }

  /** A job in the queue, or one that runs. */
  job(name: string): QueuedJob | RunningJob | undefined {
    return this.#queue.get(name) ?? this.#running.get(name);
  }

  slot(id: number): TurnSlot | undefined {
    return this.#slots.get(id);
  }

  /** Slots by the name of their node. */
  get nodes(): ReadonlyMap<string, readonly TurnSlot[]> {
    const nodes = new Map<string, TurnSlot[]>();
    for (const slot of this.slots) nodes.set(slot.node, [...(nodes.get(slot.node) ?? []), slot]);
    return nodes;
  }

  /** Jobs that have other slots on the node of a slot. */
  neighbours(id: number): readonly string[] {
    const { node, job } = this.#slots.get(id) ?? {};
    const others = this.slots.filter((slot) => slot.node === node && slot.id !== id && slot.job !== undefined);
    return [...new Set(others.map((slot) => slot.job as string))].filter((name) => name !== job);
  }

  /** How a job's last runs went, the latest first. */
  history(name: string): readonly RunView[] {
    return this.job(name)?.history ?? [];
  }

  /** The mean of how long its completed runs took; `undefined` if there is none. */
  expectedRuntime(name: string): number | undefined {
    const times = this.history(name).flatMap(({ outcome, runtime }) =>
      outcome === "Completed" && runtime !== undefined ? [runtime] : [],
    );
    return times.length === 0 ? undefined : times.reduce((sum, each) => sum + each, 0) / times.length;
  }

  /** How many slots those have whose label says so: `shares("team")` → { a: 3, b: 1 }. Jobs without it count as "". */
  shares(label: string): ReadonlyMap<string, number> {
    const shares = new Map<string, number>();
    for (const { labels, slots } of this.#running.values()) {
      const who = labels[label] ?? "";
      shares.set(who, (shares.get(who) ?? 0) + slots.length);
    }
    return shares;
  }
}

function bySubmission(a: QueuedJob, b: QueuedJob): number {
  return a.submitted - b.submitted || (a.name < b.name ? -1 : 1);
}
