/** A feed that says what it is told to. */
import type { Change, Feed, Subscription, Topic } from "../../feed.ts";

/** Has items by name in each topic; whoever has subscribed hears of what is put and removed at once. */
export class FakeFeed implements Feed {
  /** How many subscriptions there are. */
  subscribers = 0;
  readonly #items = new Map<Topic, Map<string, unknown>>();
  readonly #listeners = new Map<Topic, Set<(change: Change) => void>>();

  subscribe(topic: Topic, onChange: (change: Change) => void): Subscription {
    const listener = (change: Change) => onChange(change);
    this.#listenersOf(topic).add(listener);
    this.subscribers++;
    return {
      snapshot: [...this.#itemsOf(topic).values()],
      cancel: () => {
        if (this.#listenersOf(topic).delete(listener)) this.subscribers--;
      },
    };
  }

  /** Adds or changes an item. The change that was told, for whoever wants to know more of it. */
  put(topic: Topic, name: string, more: Readonly<Record<string, unknown>> = {}): Change {
    const items = this.#itemsOf(topic);
    const type = items.has(name) ? "changed" : "added";
    const object = { name, ...more };
    items.set(name, object);
    const change = { topic, type, name, json: JSON.stringify({ type, name, object }) } as const;
    this.tell(change);
    return change;
  }

  /** Tells a change to all who listen. */
  tell(change: Change): void {
    for (const listener of this.#listenersOf(change.topic)) listener(change);
  }

  #itemsOf(topic: Topic): Map<string, unknown> {
    return this.#items.get(topic) ?? set(this.#items, topic, new Map());
  }

  #listenersOf(topic: Topic): Set<(change: Change) => void> {
    return this.#listeners.get(topic) ?? set(this.#listeners, topic, new Set());
  }
}

function set<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}
