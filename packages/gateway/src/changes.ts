/**
 * The feed of what happens in the cluster: each change is made into a view and into JSON once, however many listen.
 *
 * Some of what is shown of an object comes from others: whether a job waits from Schedulings, how it stands with slots from the
 * claims of jobs, whose a testbed is from whoever serves the turns. When that changes it is told as a change of the object.
 */
import type { Informer, KubernetesObject } from "@berth/kube";
import type { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import type { Change, Feed, Subscription, Topic } from "./feed.ts";
import type { Tenures } from "./turn/tenure.ts";
import { jobViewOf } from "./views/job.ts";
import { schedulingViewOf, slotViewOf, testbedViewOf } from "./views/others.ts";
import type { World } from "./world.ts";

type Listener = (change: Change) => void;

/** What the gateway knows, told as it changes. */
export class Changes implements Feed {
  readonly #sources: Readonly<Record<Topic, Pick<Source<KubernetesObject>, "subscribe">>>;

  constructor(world: World, tenures: Pick<Tenures, "onChange">) {
    const { epoch } = world;
    const jobs = new Source<BatchJob>("jobs", world.jobs, (job) => jobViewOf(job, epoch, world.isHeld(job)));
    const testbeds = new Source<Testbed>("testbeds", world.testbeds, (each) =>
      testbedViewOf(each, world.slotCounts(each), world.schedulerOf(each.metadata.name ?? "")),
    );
    const schedulings = new Source("schedulings", world.schedulings, (each) => schedulingViewOf(each, epoch));
    const slots = new Source<Slot>("slots", world.slots, (slot) => slotViewOf(slot, world.slotLine(slot), epoch));
    this.#sources = { jobs, schedulings, testbeds, slots };
    const lookAtJobs = (...named: readonly Scheduling[]) => {
      for (const name of new Set(named.flatMap(jobsOf))) jobs.look(world.jobs.get(world.key(name)));
    };
    world.schedulings.addEventHandler({
      onAdd: (scheduling) => lookAtJobs(scheduling),
      onUpdate: (old, scheduling) => lookAtJobs(old, scheduling),
      onDelete: (scheduling) => lookAtJobs(scheduling),
    });
    world.onSlots((testbed, changed) => {
      for (const slot of changed) slots.look(slot);
      testbeds.look(world.testbeds.get(world.key(testbed)));
    });
    tenures.onChange(() => {
      for (const testbed of world.testbeds.list()) testbeds.look(testbed);
    });
  }

  subscribe(topic: Topic, onChange: Listener): Subscription {
    return this.#sources[topic].subscribe(onChange);
  }
}

/** One topic. */
class Source<T extends KubernetesObject> {
  readonly #topic: Topic;
  readonly #informer: Informer<T>;
  readonly #viewOf: (object: T) => unknown;
  readonly #listeners = new Set<Listener>();
  /** What was told last of each object, while somebody listens. */
  readonly #told = new Map<string, string>();

  constructor(topic: Topic, informer: Informer<T>, viewOf: (object: T) => unknown) {
    this.#topic = topic;
    this.#informer = informer;
    this.#viewOf = viewOf;
    informer.addEventHandler({
      onAdd: (object) => this.look(object),
      onUpdate: (_, object) => this.look(object),
      onDelete: ({ metadata }) => this.#remove(metadata.name ?? ""),
    });
  }

  subscribe(onChange: Listener): Subscription {
    // Another function each time, so that somebody may listen twice.
    const listener: Listener = (change) => onChange(change);
    const isFirst = this.#listeners.size === 0;
    this.#listeners.add(listener);
    const snapshot = this.#informer.list().map((object) => {
      const view = this.#viewOf(object);
      if (isFirst) this.#told.set(object.metadata.name ?? "", JSON.stringify(view));
      return view;
    });
    return { snapshot, cancel: () => this.#cancel(listener) };
  }

  /** It has changed, or something else has, from which perhaps its view has. */
  look(object: T | undefined): void {
    if (!object || this.#listeners.size === 0) return;
    const { name = "" } = object.metadata;
    const before = this.#told.get(name);
    const now = JSON.stringify(this.#viewOf(object));
    if (now === before) return;
    this.#told.set(name, now);
    this.#tell(before === undefined ? "added" : "changed", name, now);
  }

  #remove(name: string): void {
    const before = this.#told.get(name);
    if (before === undefined) return; // nobody has heard of it
    this.#told.delete(name);
    this.#tell("removed", name, before);
  }

  #cancel(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#told.clear();
  }

  #tell(type: Change["type"], name: string, object: string): void {
    const json = `{"type":"${type}","name":${JSON.stringify(name)},"object":${object}}`;
    const change = { topic: this.#topic, type, name, json };
    for (const listener of this.#listeners) listener(change);
  }
}

function jobsOf({ spec }: Scheduling): string[] {
  return [...(spec.slotBased ?? []), ...(spec.queueBased ?? [])].map(({ name }) => name);
}
