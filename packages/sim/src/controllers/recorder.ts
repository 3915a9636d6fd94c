/**
 * Tells people what the parts of a cluster do: Events, as `kubectl describe` shows them below an object. Like the real
 * parts it counts what happens again, puts together what differs in words only, and falls silent about an object of which
 * there is too much to say.
 */
import { coreV1, type KubernetesObject, kubernetesTime } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Surroundings } from "./component.ts";

/** So many notes about one object at once, and then one every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** From so many different notes of one reason within so much time on, they become one. */
const SIMILAR = 10;
const SIMILAR_MS = 600_000;
/** About so many objects it is remembered what was said. */
const REMEMBERED = 4096;
/** Bytes; what Kubernetes allows. */
const LONGEST_MESSAGE = 1024;

/** What was said about one object, of one type. */
interface Said {
  tokens: number;
  refilled: number;
  /** By reason, place and message: the event that has it. */
  readonly series: Map<string, Series>;
  /** By reason and place: which messages there were. */
  readonly similar: Map<string, { readonly messages: Set<string>; last: number }>;
}

interface Series {
  readonly name: string;
  count: number;
}

/** What is told. */
export interface Note {
  /** Default: "Normal". */
  readonly type?: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Which part of the object it is about: "spec.containers{main}". */
  readonly fieldPath?: string;
}

export class Recorder {
  readonly #api: LocalApi;
  readonly #clock: Surroundings["clock"];
  readonly #on: boolean;
  readonly #component: string;
  /** In the order in which they were last spoken of. */
  readonly #said = new Map<string, Said>();
  #order = 0;

  /** @param component - Who tells: "job-controller". */
  constructor({ server, clock, events = true }: Surroundings, component: string) {
    this.#api = new LocalApi(server, `system:${component}`);
    this.#clock = clock;
    this.#on = events;
    this.#component = component;
  }

  /** Tells something about an object. Never fails. @param host - On which node, if it is a kubelet that tells. */
  tell(about: KubernetesObject, note: Note, host?: string): void {
    if (!this.#on) return;
    const { type = "Normal", reason, fieldPath = "" } = note;
    const said = this.#saidAbout(`${about.metadata.uid}${about.metadata.name}${type}${host ?? ""}`);
    if (!this.#mayTell(said)) return;
    let key = `${reason}|${fieldPath}`;
    let message = cut(note.message);
    if (this.#isOneOfMany(said, key, message)) message = cut(`(combined from similar events): ${message}`);
    else key = `${key}|${message}`;
    try {
      this.#write(about, { ...note, message }, said, key, host);
    } catch {
      // Nobody may fail because nobody listens: the namespace is going, the message is too long …
    }
  }

  #write(about: KubernetesObject, note: Note, said: Said, key: string, host: string | undefined): void {
    const { apiVersion, kind, metadata } = about;
    const { namespace, name = "", uid, resourceVersion } = metadata;
    const place = namespace ?? "default";
    const time = kubernetesTime(this.#clock.now());
    const series = said.series.get(key);
    if (series) {
      const known = this.#api.get(coreV1.Event, { namespace: place, name: series.name });
      if (known) {
        series.count++;
        this.#api.update(coreV1.Event, {
          ...known,
          count: series.count,
          lastTimestamp: time,
          message: note.message,
        });
        return;
      }
    }
    // Nanoseconds tell events apart; here so many may happen in the same that the next one is taken.
    const moment = BigInt(Math.floor(this.#clock.now())) * 1_000_000n + BigInt(this.#order++ % 1_000_000);
    const event = this.#api.create(coreV1.Event, {
      metadata: { namespace: place, name: `${name}.${moment.toString(16)}` },
      involvedObject: {
        ...(kind !== undefined && { kind }),
        ...(namespace !== undefined && { namespace }),
        name,
        ...(uid !== undefined && { uid }),
        ...(apiVersion !== undefined && { apiVersion }),
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(note.fieldPath !== undefined && { fieldPath: note.fieldPath }),
      },
      reason: note.reason,
      message: note.message,
      source: { component: this.#component, ...(host !== undefined && { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: note.type ?? "Normal",
      reportingComponent: this.#component,
      reportingInstance: host ?? "",
    });
    said.series.set(key, { name: event.metadata.name ?? "", count: 1 });
  }

  #saidAbout(key: string): Said {
    const known = this.#said.get(key);
    const said = known ?? { tokens: BURST, refilled: this.#clock.now(), series: new Map(), similar: new Map() };
    if (known) this.#said.delete(key); // and in again, as the youngest
    this.#said.set(key, said);
    if (this.#said.size > REMEMBERED) this.#said.delete(this.#said.keys().next().value as string);
    return said;
  }

  #mayTell(said: Said): boolean {
    const refill = Math.floor((this.#clock.now() - said.refilled) / REFILL_MS);
    if (refill > 0) {
      said.tokens = Math.min(BURST, said.tokens + refill);
      said.refilled += refill * REFILL_MS;
    }
    if (said.tokens === 0) return false;
    said.tokens--;
    return true;
  }

  #isOneOfMany({ similar }: Said, key: string, message: string): boolean {
    const now = this.#clock.now();
    let group = similar.get(key);
    if (!group || now - group.last > SIMILAR_MS) {
      group = { messages: new Set(), last: now };
      similar.set(key, group);
    }
    group.last = now;
    if (group.messages.size < SIMILAR) group.messages.add(message);
    return group.messages.size >= SIMILAR;
  }
}

function cut(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 3)}...`;
}
