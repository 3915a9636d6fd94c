/** What becomes of the thousandth time that the same thing is told. Pure but for its memory. */

/** What is told, apart from when. */
export interface EventNote {
  /** The uid of the object that it is about. */
  readonly regarding: string;
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** What was done, or tried. */
  readonly action: string;
  /** A sentence for people. */
  readonly note: string;
}

export interface Correlated {
  /** Events with the same key are one event that has happened several times. */
  readonly key: string;
  readonly note: string;
}

/** After so long without its like, an event is new again. */
const FORGET_MS = 10 * 60_000;
/** So many different notes of one reason are written out; further ones are told together. */
const DISTINCT = 10;
/** Objects and reasons that are remembered; the oldest is forgotten first. */
const REMEMBERED = 4096;

interface Similar {
  readonly notes: Set<string>;
  lastSeen: number;
}

/** Finds events that are the same, or so similar that telling each of them would help nobody. */
export class Correlator {
  readonly #similar = new Map<string, Similar>();

  correlate({ regarding, type, reason, action, note }: EventNote, now: number): Correlated {
    const group = JSON.stringify([regarding, type, reason, action]);
    let similar = this.#similar.get(group);
    if (!similar || now - similar.lastSeen > FORGET_MS) similar = { notes: new Set(), lastSeen: now };
    similar.lastSeen = now;
    this.#similar.delete(group); // and in again, as the youngest
    this.#similar.set(group, similar);
    if (this.#similar.size > REMEMBERED) this.#similar.delete(this.#similar.keys().next().value as string);
    if (!similar.notes.has(note) && similar.notes.size >= DISTINCT) {
      return { key: group, note: `(combined from similar events): ${note}` };
    }
    similar.notes.add(note);
    return { key: `${group} ${note}`, note };
  }
}
