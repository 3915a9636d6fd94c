/**
 * Tells people what happens to an object: `kubectl describe` shows it below the object, for an hour.
 *
 * Guarantees (the numbers are those of SPEC.md):
 * - E1 Telling never fails and never waits: what cannot be written is dropped, and logged.
 * - E2 What happens again is one event with a count, written at most every ten seconds.
 * - E3 Many different notes of one reason become one event, after the first ten.
 */
import type { Client } from "../client/client.ts";
import { Event } from "../kinds/events-v1.ts";
import { type Logger, silent } from "../log/logger.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { isNotFound } from "../transport/api-error.ts";
import { Correlator } from "./correlator.ts";

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
  /** Writes of one event come one after the other. */
  written: Promise<Event | undefined>;
  count: number;
  lastSeen: number;
  /** When its count was last written. */
  lastWrite: number;
  timer: Timer | undefined;
}

const WRITE_EVERY_MS = 10_000;
/** After so long, the same thing is a new event. */
const SERIES_MS = 6 * 60_000;
/** Kubernetes allows no longer note. */
const LONGEST_NOTE = 1024;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Logger;
  readonly #correlator = new Correlator();
  readonly #series = new Map<string, Series>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silent;
  }

  /** Tells of something that has happened to an object, which must come from the API server. */
  event(regarding: KubernetesObject, { type = "Normal", reason, action = reason, note, related }: EventOptions): void {
    const now = this.#options.clock.now();
    const told = { regarding: regarding.metadata.uid ?? "", type, reason, action, note: shortened(note) };
    const correlated = this.#correlator.correlate(told, now);
    this.#forgetOld(now);
    const series = this.#series.get(correlated.key);
    if (!series) {
      const event = this.#newEvent(regarding, { ...told, note: shortened(correlated.note) }, related, now);
      const written = this.#attempt(() => this.#options.client.create(Event, event));
      this.#series.set(correlated.key, { written, count: 1, lastSeen: now, lastWrite: now, timer: undefined });
    } else {
      series.count++;
      series.lastSeen = now;
      const wait = Math.max(0, series.lastWrite + WRITE_EVERY_MS - now);
      series.timer ??= this.#options.clock.setTimer(wait, () => this.#writeCount(series));
    }
  }

  /** Writes what has not been written. */
  async stop(): Promise<void> {
    for (const series of this.#series.values()) if (series.timer) this.#writeCount(series);
    await Promise.all(Array.from(this.#series.values(), ({ written }) => written));
  }

  #writeCount(series: Series): void {
    series.timer?.cancel();
    series.timer = undefined;
    series.lastWrite = this.#options.clock.now();
    const { client } = this.#options;
    const counted = { count: series.count, lastObservedTime: microTime(series.lastSeen) };
    series.written = series.written.then((event) =>
      this.#attempt(async () => {
        if (!event) return undefined; // it could not even be created
        const { namespace, name = "" } = event.metadata;
        try {
          return await client.patch(Event, { namespace, name }, { merge: { series: counted } });
        } catch (error) {
          if (!isNotFound(error)) throw error;
          // Events are kept for an hour only.
          const { uid: _uid, resourceVersion: _version, ...metadata } = event.metadata;
          return client.create(Event, { ...event, metadata, series: counted });
        }
      }),
    );
  }

  #newEvent(
    regarding: KubernetesObject,
    { type, reason, action, note }: { type: string; reason: string; action: string; note: string },
    related: KubernetesObject | undefined,
    now: number,
  ): Event {
    const { namespace = "default", name = "" } = regarding.metadata;
    return {
      metadata: { namespace, generateName: eventNames(name) },
      eventTime: microTime(now),
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance.slice(0, 128),
      type,
      reason,
      action,
      note,
      regarding: referenceTo(regarding),
      ...(related && { related: referenceTo(related) }),
    };
  }

  #forgetOld(now: number): void {
    for (const [key, { lastSeen, timer }] of this.#series) {
      if (now - lastSeen <= SERIES_MS) break; // those after it were begun later; most of them are younger
      if (!timer) this.#series.delete(key);
    }
  }

  async #attempt(write: () => Promise<Event | undefined>): Promise<Event | undefined> {
    try {
      return await write();
    } catch (error) {
      this.#log.warn("an event could not be written", { error });
      return undefined;
    }
  }
}

function referenceTo({ apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } }: KubernetesObject) {
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** Some kinds allow names that an event cannot have: "system:node". */
const eventNames = (name: string) => `${name.slice(0, 200).replaceAll(/[^a-z0-9.-]/g, "-")}-`;

const shortened = (note: string) => (note.length > LONGEST_NOTE ? `${note.slice(0, LONGEST_NOTE - 1)}…` : note);

const microTime = (ms: number) => new Date(ms).toISOString().replace("Z", "000Z");
