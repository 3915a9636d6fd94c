/**
 * What the real API server answered, kept in files. Both targets have to answer the same. With BERTH_RECORD in the
 * environment the answers of the real target are written anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import type { Target } from "../target.ts";

const files = new Map<string, Recorded>();

export class Recorded {
  readonly #file: URL;
  readonly #answers: Record<string, unknown>;

  /** @param name - Of a file in this folder. */
  static of(name: string): Recorded {
    const known = files.get(name) ?? new Recorded(name);
    files.set(name, known);
    return known;
  }

  private constructor(name: string) {
    this.#file = new URL(`./${name}.json`, import.meta.url);
    this.#answers = process.env.BERTH_RECORD ? {} : JSON.parse(readFileSync(this.#file, "utf8"));
  }

  check(title: string, answer: unknown, { name }: Target): void {
    if (process.env.BERTH_RECORD && name === "real") {
      this.#answers[title] = answer;
      writeFileSync(this.#file, `${JSON.stringify(this.#answers, null, 2)}\n`);
    }
    expect(answer).toEqual(this.#answers[title]);
  }
}
