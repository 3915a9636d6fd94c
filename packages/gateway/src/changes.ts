/** The feed of what happens in the cluster: each change is made into a view and into JSON once, however many listen. */
import type { Informer, KubernetesObject } from "@berth/kube";
import type { Change, Feed, Subscription, Topic } from "./feed.ts";
import { jobViewOf } from "./views/job.ts";
import { schedulingViewOf, slotViewOf, testbedViewOf } from "./views/others.ts";
import type { World } from "./world.ts";

type Listener = (change: Change) => void;

interface Source {
  readonly listeners: Set<Listener>;
  readonly snapshot: () => unknown[];
}

export class Changes implements Feed {
  readonly #sources: Readonly<Record<Topic, Source>>;

  constructor(world: World) {
    const { epoch } = world;
    this.#sources = {
      jobs: source("jobs", world.jobs, (job) => jobViewOf(job, epoch, world.isHeld(job))),
      schedulings: source("schedulings", world.schedulings, (each) => schedulingViewOf(each, epoch)),
      testbeds: source("testbeds", world.testbeds, (each) =>
        testbedViewOf(each, world.schedulerOf(each.metadata.name ?? "")),
      ),
      slots: source("slots", world.slots, (slot) => slotViewOf(slot, epoch)),
    };
  }

  subscribe(topic: Topic, onChange: Listener): Subscription {
    const { listeners, snapshot } = this.#sources[topic];
    // Another function each time, so that somebody may listen twice.
    const listener: Listener = (change) => onChange(change);
    listeners.add(listener);
    return { snapshot: snapshot(), cancel: () => void listeners.delete(listener) };
  }
}

function source<T extends KubernetesObject>(
  topic: Topic,
  informer: Informer<T>,
  viewOf: (object: T) => { readonly version: string },
): Source {
  const listeners = new Set<Listener>();
  const tell = (type: Change["type"], object: T) => {
    if (listeners.size === 0) return;
    const view = viewOf(object);
    const name = object.metadata.name ?? "";
    const change = { topic, type, name, object: view, json: JSON.stringify({ type, name, object: view }) };
    for (const listener of listeners) listener(change);
  };
  informer.addEventHandler({
    onAdd: (object) => tell("added", object),
    onUpdate: (_, object) => tell("changed", object),
    onDelete: (object) => tell("removed", object),
  });
  return { listeners, snapshot: () => informer.list().map(viewOf) };
}
