/**
 * What the scheduler tells people about pods: Events of events.k8s.io/v1, counted as kube-scheduler counts them. The same
 * thing about the same pod is one event; the second time makes it a series, whose count is written again when it has ended.
 */
import { type Clock, eventsV1, type KubernetesObject, microTime, type Timer } from "@berth/kube";
import type { LocalApi } from "../api/local-api.ts";
import type { Pod } from "./pod-info.ts";

/** After so long without another, a series has ended. */
const SERIES_MS = 6 * 60_000;
/** One that goes on and on is written every so often. */
const REFRESH_MS = 30 * 60_000;
/** Bytes; what Kubernetes allows. */
const LONGEST_NOTE = 1024;
/** So many are remembered in case they happen again. */
const REMEMBERED = 10_000;

interface Told {
  readonly namespace: string;
  readonly name: string;
  count: number;
  last: number;
  /** The count that the server has, and since when. */
  written: number;
  writtenAt: number;
}

export interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: "Scheduled" | "FailedScheduling" | "Preempted";
  readonly action: "Binding" | "Scheduling" | "Preempting";
  readonly note: string;
}

export class SchedulerEvents {
  readonly #api: LocalApi;
  readonly #clock: Clock;
  readonly #on: boolean;
  /** In the order in which they were last told. */
  readonly #told = new Map<string, Told>();
  #order = 0;
  #timer: Timer | undefined;

  constructor(api: LocalApi, clock: Clock, on: boolean) {
    this.#api = api;
    this.#clock = clock;
    this.#on = on;
  }

  /** @param controller - The name of the scheduler, which is that of the pod's profile. */
  tell(controller: string, pod: Pod, { type, reason, action, note }: Note): void {
    if (!this.#on) return;
    const { namespace = "default", name = "", uid } = pod.metadata;
    const now = this.#clock.now();
    this.#forget(now);
    // Where it stands is part of what it is about: the same is not told twice of two versions of a pod.
    const key = `${uid}/${pod.metadata.resourceVersion}/${type}/${reason}/${action}/${controller}`;
    const told = this.#told.get(key);
    if (told) {
      this.#again(key, told, now);
      return;
    }
    const event: eventsV1.Event = {
      metadata: { namespace, name: `${name}.${this.#moment(now)}` },
      eventTime: microTime(now),
      reportingController: controller,
      reportingInstance: `${controller}-sim`,
      action,
      reason,
      regarding: referenceTo(pod),
      note: cut(note),
      type,
    };
    const { name: written = "" } = event.metadata;
    // Nobody is bound twice.
    if (reason !== "Scheduled")
      this.#told.set(key, { namespace, name: written, count: 1, last: now, written: 1, writtenAt: now });
    this.#write(() => this.#api.create(eventsV1.Event, event));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #again(key: string, told: Told, now: number): void {
    told.count++;
    told.last = now;
    this.#told.delete(key); // and in again, as the youngest
    this.#told.set(key, told);
    if (told.count === 2) this.#writeSeries(told);
    else this.#timer ??= this.#clock.setTimer(SERIES_MS, () => this.#writeUnwritten());
  }

  #writeUnwritten(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const told of this.#told.values()) {
      if (told.written === told.count) continue;
      const due = Math.min(told.last + SERIES_MS, told.writtenAt + REFRESH_MS);
      if (due <= now) this.#writeSeries(told);
      else next = Math.min(next, due);
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = this.#clock.setTimer(next - now, () => this.#writeUnwritten());
  }

  #writeSeries(told: Told): void {
    const { namespace, name, count, last } = told;
    told.written = count;
    told.writtenAt = this.#clock.now();
    const series = { count, lastObservedTime: microTime(last) };
    this.#write(() => this.#api.patch(eventsV1.Event, { namespace, name }, { series }));
  }

  /** Nobody may fail because nobody listens: the namespace may be going. */
  #write(write: () => void): void {
    try {
      write();
    } catch {
      // Told to nobody.
    }
  }

  #forget(now: number): void {
    for (const [key, { last, written, count }] of this.#told) {
      if (this.#told.size <= REMEMBERED && (now - last <= SERIES_MS || written !== count)) break;
      this.#told.delete(key);
    }
  }

  /** Nanoseconds tell events apart; here so many may happen in the same that the next one is taken. */
  #moment(now: number): string {
    return (BigInt(Math.floor(now)) * 1_000_000n + BigInt(this.#order++ % 1_000_000)).toString(16);
  }
}

function referenceTo({ metadata }: KubernetesObject) {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    kind: "Pod",
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    apiVersion: "v1",
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

function cut(note: string): string {
  return note.length <= LONGEST_NOTE ? note : `${note.slice(0, LONGEST_NOTE - 4)} ...`;
}
