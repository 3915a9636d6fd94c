/** Lets events go an hour after they were last written, as the real API server does. */
import { coreV1, type Timer } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "./component.ts";
import { keyFrom, textOf } from "./parents.ts";

export interface EventExpiryOptions {
  /** Default: an hour. */
  readonly keptMs?: number;
}

export class EventExpiry implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #keptMs: number;
  /** When events were last written; a map keeps the order of that, so that the first is always the next to go. */
  readonly #written = new Map<string, number>();
  #timer: Timer | undefined;
  #stop: () => void = () => {};

  constructor(surroundings: Surroundings, { keptMs = 3_600_000 }: EventExpiryOptions = {}) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:apiserver");
    this.#keptMs = keptMs;
  }

  start(): void {
    this.#stop = this.#api.onChange(coreV1.Event, ({ type, object }) => {
      const key = textOf(object);
      this.#written.delete(key);
      if (type !== "DELETED") this.#note(key);
    });
    for (const event of this.#api.list(coreV1.Event)) this.#note(textOf(event));
  }

  stop(): void {
    this.#stop();
    this.#timer?.cancel();
  }

  #note(key: string): void {
    this.#written.set(key, this.#surroundings.clock.now());
    this.#timer ??= this.#surroundings.clock.setTimer(this.#keptMs, () => this.#expire());
  }

  #expire(): void {
    const { clock, onFailure } = this.#surroundings;
    this.#timer = undefined;
    const now = clock.now();
    for (const [key, time] of this.#written) {
      if (time + this.#keptMs > now) {
        this.#timer = clock.setTimer(time + this.#keptMs - now, () => this.#expire());
        return;
      }
      this.#written.delete(key);
      try {
        this.#api.delete(coreV1.Event, keyFrom(key));
      } catch (error) {
        onFailure(error);
      }
    }
  }
}
