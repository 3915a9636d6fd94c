/** Changes as they happen, for those who listen: server-sent events and STOMP. */

/** What can be listened to. */
export const TOPICS = ["jobs", "schedulings", "testbeds", "slots"] as const;
export type Topic = (typeof TOPICS)[number];

/** One change of one object. */
export interface Change {
  readonly topic: Topic;
  readonly type: "added" | "changed" | "removed";
  readonly name: string;
  /**
   * The change as JSON, `{"type":…,"name":…,"object":…}`: made once, however many listen. The object is as REST would show it; one
   * that was removed, as it was.
   */
  readonly json: string;
}

export interface Subscription {
  /** Everything as it is now, as REST would show it. What comes after it is told by changes: none is missing, none comes twice. */
  readonly snapshot: readonly unknown[];
  cancel(): void;
}

/** Where changes come from. */
export interface Feed {
  /** @param onChange - Must not throw, and must not take long. */
  subscribe(topic: Topic, onChange: (change: Change) => void): Subscription;
}
