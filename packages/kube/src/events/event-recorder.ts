/**
 * Tells people what happens to an object: `kubectl describe` shows it below the object, for an hour.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - E1 Telling never fails and never waits: what cannot be written is dropped, and logged.
 * - E2 What happens again is one event with a count, written at most every ten seconds.
 * - E3 Many different notes of one reason become one event, after the first ten.
 * - E5 What could not be written is written, with its count, when it happens again.
 * - E6 What does not happen again is forgotten after six minutes, or when there are too many.
 */
import type { Client } from "../client/client.ts";
import { Event } from "../kinds/events-v1.ts";
import { type Logger, silent } from "../log/logger.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { microTime } from "../objects/times.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { orAborted } from "../time/or-aborted.ts";
import { isNotFound } from "../transport/api-error.ts";
import { Correlator, type EventNote } from "./correlator.ts";
import { cut, eventNames, identityOf, referenceTo } from "./event-fields.ts";

/** What has happened. */
export interface EventOptions {
  /** One word in CamelCase, for programs: "PodCreated". */
  readonly reason: string;
  /** A sentence for people. */
  readonly note: string;
  /** Default: "Normal". */
  readonly type?: "Normal" | "Warning";
  /** What was done, or tried. Default: the reason. */
  readonly action?: string;
  /** Another object that has to do with it. */
  readonly related?: KubernetesObject;
}

/** Who tells, and by which client. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Who tells: "example.org/website-operator". */
  readonly controller: string;
  /** Which replica of it. */
  readonly instance: string;
  readonly log?: Logger;
}

/** An event that may happen again. */
interface Series {
  /** As it happened first: written if the server has none, or none any more. */
  readonly event: Event;
  /** What the server calls it, once it is there. */
  name: string | undefined;
  count: number;
  lastSeen: number;
  /** When it was last written, or tried to be. */
  lastWrite: number;
  /** The next write, which waits for its time. */
  timer: Timer | undefined;
  /** The write under way; there is one at most, however slow the server is. */
  writing: Promise<void> | undefined;
}

const WRITE_EVERY_MS = 10_000;
/** After so long, the same thing is a new event. */
const SERIES_MS = 6 * 60_000;
/** Events that are remembered in case they happen again; the oldest is forgotten first. */
const REMEMBERED = 10_000;
/** What Kubernetes allows, in bytes. */
const LONGEST = { note: 1024, reason: 128, action: 128, instance: 128 } as const;

/** Tells people what happens to objects. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Logger;
  readonly #correlator = new Correlator();
  /** In the order in which they were last seen. */
  readonly #series = new Map<string, Series>();
  /** Those with a write under way or to come, whether they are still remembered or not. */
  readonly #unwritten = new Set<Series>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silent;
  }

  /** Tells of something that has happened to an object, which must come from the API server. */
  event(regarding: KubernetesObject, { type = "Normal", reason, action = reason, note, related }: EventOptions): void {
    const now = this.#options.clock.now();
    const told: EventNote = {
      regarding: identityOf(regarding),
      type,
      reason: cut(reason, LONGEST.reason),
      action: cut(action, LONGEST.action),
      note: cut(note, LONGEST.note, "…"),
    };
    const correlated = this.#correlator.correlate(told, now);
    this.#forgetOld(now);
    const known = this.#series.get(correlated.key);
    const series = known ?? this.#newSeries(this.#newEvent(regarding, { ...told, ...correlated }, related, now), now);
    this.#series.delete(correlated.key); // and in again, as the youngest
    this.#series.set(correlated.key, series);
    series.count++;
    series.lastSeen = now;
    if (known) this.#writeSoon(series);
    else void this.#write(series);
  }

  /** Writes what has not been written. Whatever takes longer than the signal allows is left to itself. */
  async stop({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const written = Array.from(this.#unwritten, async (series) => {
      await series.writing;
      if (series.timer) await this.#write(series); // it has happened again in the meantime
    });
    await orAborted(Promise.all(written), signal).catch(() => {}); // no write rejects: this is the signal's reason
  }

  #newSeries(event: Event, now: number): Series {
    const unwritten = { name: undefined, timer: undefined, writing: undefined };
    return { event, count: 0, lastSeen: now, lastWrite: now, ...unwritten };
  }

  #newEvent(
    regarding: KubernetesObject,
    { type, reason, action, note }: EventNote,
    related: KubernetesObject | undefined,
    now: number,
  ): Event {
    const { namespace = "default", name = "" } = regarding.metadata;
    return {
      metadata: { namespace, generateName: eventNames(name) },
      eventTime: microTime(now),
      reportingController: this.#options.controller,
      reportingInstance: cut(this.#options.instance, LONGEST.instance),
      type,
      reason,
      action,
      note: cut(note, LONGEST.note, "…"), // once more: it may have got a few words in front
      regarding: referenceTo(regarding),
      ...(related && { related: referenceTo(related) }),
    };
  }

  #forgetOld(now: number): void {
    for (const [key, { lastSeen }] of this.#series) {
      if (now - lastSeen <= SERIES_MS && this.#series.size <= REMEMBERED) break; // all others are younger
      this.#series.delete(key);
    }
  }

  #writeSoon(series: Series): void {
    if (series.timer || series.writing) return;
    const { clock } = this.#options;
    const wait = series.lastWrite + WRITE_EVERY_MS - clock.now();
    this.#unwritten.add(series);
    // Never longer than that, even if somebody has set the clock back by a day.
    series.timer = clock.setTimer(Math.min(wait, WRITE_EVERY_MS), () => void this.#write(series));
  }

  #write(series: Series): Promise<void> {
    series.timer?.cancel();
    series.timer = undefined;
    series.lastWrite = this.#options.clock.now();
    this.#unwritten.add(series);
    const { count } = series;
    series.writing = this.#attempt(series).then(() => {
      series.writing = undefined;
      if (series.count > count) this.#writeSoon(series);
      else this.#unwritten.delete(series);
    });
    return series.writing;
  }

  /** Never rejects: whoever tells of something has no use for that. */
  async #attempt(series: Series): Promise<void> {
    try {
      series.name = await this.#put(series);
    } catch (error) {
      this.#log.warn("an event could not be written", { error });
    }
  }

  /** Counts up the event on the server, or writes it if there is none. Resolves to its name. */
  async #put({ event, name, count, lastSeen }: Series): Promise<string | undefined> {
    const { client } = this.#options;
    const { namespace } = event.metadata;
    const counted = { series: { count, lastObservedTime: microTime(lastSeen) } };
    if (name !== undefined) {
      try {
        await client.patch(Event, { namespace, name }, { merge: counted });
        return name;
      } catch (error) {
        if (!isNotFound(error)) throw error; // events are kept for an hour only
      }
    }
    const created = await client.create(Event, count > 1 ? { ...event, ...counted } : event);
    return created.metadata.name;
  }
}
