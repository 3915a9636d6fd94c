/**
 * The feed of what happens in the cluster: each change is made into a view and into JSON once, however many listen.
 *
 * Some of what is shown of an object comes from others: whether a job waits from Schedulings, whose a testbed is from leases. When
 * that changes it is told as a change of the object.
 */
import type { Informer, KubernetesObject } from "@berth/kube";
import type { BatchJob, Scheduling, Testbed } from "@berth/model";
import type { Change, Feed, Subscription, Topic } from "./feed.ts";
import { jobViewOf } from "./views/job.ts";
import { schedulingViewOf, slotViewOf, testbedViewOf } from "./views/others.ts";
import type { World } from "./world.ts";

type Listener = (change: Change) => void;
type View = { readonly version: string };

/** What the gateway knows, told as it changes. */
export class Changes implements Feed {
  readonly #sources: Readonly<Record<Topic, Pick<Source<KubernetesObject>, "subscribe">>>;

  constructor(world: World) {
    const { epoch } = world;
    const jobs = new Source<BatchJob>("jobs", world.jobs, (job) => jobViewOf(job, epoch, world.isHeld(job)));
    const testbeds = new Source<Testbed>("testbeds", world.testbeds, (each) =>
      testbedViewOf(each, world.schedulerOf(each.metadata.name ?? "")),
    );
    const schedulings = new Source("schedulings", world.schedulings, (each) => schedulingViewOf(each, epoch));
    const slots = new Source("slots", world.slots, (slot) => slotViewOf(slot, epoch));
    this.#sources = { jobs, schedulings, testbeds, slots };
    const lookAtJobs = (...named: readonly Scheduling[]) => {
      for (const name of new Set(named.flatMap(jobsOf))) jobs.look(world.jobs.get(world.key(name)));
    };
    world.schedulings.addEventHandler({
      onAdd: (scheduling) => lookAtJobs(scheduling),
      onUpdate: (old, scheduling) => lookAtJobs(old, scheduling),
      onDelete: (scheduling) => lookAtJobs(scheduling),
    });
    const lookAtTestbeds = () => {
      for (const testbed of world.testbeds.list()) testbeds.look(testbed);
    };
    world.leases.addEventHandler({ onAdd: lookAtTestbeds, onUpdate: lookAtTestbeds, onDelete: lookAtTestbeds });
  }

  subscribe(topic: Topic, onChange: Listener): Subscription {
    return this.#sources[topic].subscribe(onChange);
  }
}

/** One topic. */
class Source<T extends KubernetesObject> {
  readonly #topic: Topic;
  readonly #informer: Informer<T>;
  readonly #viewOf: (object: T) => View;
  readonly #listeners = new Set<Listener>();
  /** What was told last of each object, while somebody listens. */
  readonly #told = new Map<string, string>();

  constructor(topic: Topic, informer: Informer<T>, viewOf: (object: T) => View) {
    this.#topic = topic;
    this.#informer = informer;
    this.#viewOf = viewOf;
    informer.addEventHandler({
      onAdd: (object) => this.#tell("added", object),
      onUpdate: (_, object) => this.#tell("changed", object),
      onDelete: (object) => this.#tell("removed", object),
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

  /** Something else has changed, from which perhaps the view of this object has. */
  look(object: T | undefined): void {
    if (!object || this.#listeners.size === 0) return;
    const isTold = this.#told.get(object.metadata.name ?? "") === JSON.stringify(this.#viewOf(object));
    if (!isTold) this.#tell("changed", object);
  }

  #cancel(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#told.clear();
  }

  #tell(type: Change["type"], object: T): void {
    if (this.#listeners.size === 0) return;
    const view = this.#viewOf(object);
    const name = object.metadata.name ?? "";
    const text = JSON.stringify(view);
    if (type === "removed") this.#told.delete(name);
    else this.#told.set(name, text);
    const json = `{"type":"${type}","name":${JSON.stringify(name)},"object":${text}}`;
    const change = { topic: this.#topic, type, name, object: view, json };
    for (const listener of this.#listeners) listener(change);
  }
}

function jobsOf({ spec }: Scheduling): string[] {
  return [...(spec.slotBased ?? []), ...(spec.queueBased ?? [])].map(({ name }) => name);
}
