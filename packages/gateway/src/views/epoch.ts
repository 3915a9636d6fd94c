/** Times as the gateway tells them: in seconds, since 1970 or since the start of a virtual clock. */
export class Epoch {
  /** Where seconds are counted from, in milliseconds since 1970. */
  readonly #origin: number;

  constructor(origin = 0) {
    this.#origin = origin;
  }

  /** To the microsecond: more digits would only be the noise of binary fractions. */
  seconds(milliseconds: number): number {
    return Math.round((milliseconds - this.#origin) * 1000) / 1e6;
  }

  milliseconds(seconds: number): number {
    return seconds * 1000 + this.#origin;
  }

  /** A time as Kubernetes writes it, also with microseconds, which `Date` would cut off. */
  of(text: string): number {
    const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
    const whole = Date.parse(text.replace(/\.\d+/, ""));
    return this.seconds(whole + Number(`0.${fraction || "0"}`) * 1000);
  }
}
