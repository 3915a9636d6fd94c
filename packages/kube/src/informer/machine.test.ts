import { describe, expect, it } from "vitest";
import { SeededRandom } from "../time/random.ts";
import { after, begin, type Outcome, pauseOf, type State, start } from "./machine.ts";

const at = (resourceVersion: string, failures = 0, heard = false): State => ({
  phase: "watching",
  resourceVersion,
  heard,
  failures,
  streams: "perhaps",
});
const empty = (failures: number, streams: State["streams"] = "perhaps"): State => ({
  phase: "empty",
  failures,
  streams,
});
const streaming = (failures = 0): State => ({ phase: "streaming", failures, streams: "perhaps" });
const listing = (failures = 0): State => ({ phase: "listing", failures, streams: "no" });

describe("the informer's machine", () => {
  it("I7 begins with a stream, and where there is none with pages", () => {
    expect(begin(start("perhaps"))).toEqual(streaming());
    expect(begin(start("no"))).toEqual(listing());
    expect(begin(after(streaming(), { type: "refused" }))).toEqual(listing());
    expect(begin(after(streaming(), { type: "unmarked" }))).toEqual(listing());
  });

  it("I8 goes on where it was after an end, and after a failure", () => {
    expect(begin(at("5", 0, true))).toEqual(at("5"));
    expect(after(at("5"), { type: "failed" })).toEqual(at("5", 1));
    expect(after(at("5", 0, true), { type: "ended" })).toEqual(at("5", 0, true));
  });

  it("I8 begins a silent watch again without a pause, and a silent list with one", () => {
    expect(after(at("5"), { type: "silent" })).toEqual(at("5"));
    expect(after(streaming(), { type: "silent" })).toEqual(empty(1));
  });

  it("I9 begins anew when the server has forgotten, or when its events cannot be", () => {
    expect(after(at("5"), { type: "expired" })).toEqual(empty(1));
    expect(after(at("5"), { type: "disorder" })).toEqual(empty(1));
    expect(after(streaming(), { type: "failed" })).toEqual(empty(1));
    expect(after(listing(2), { type: "failed" })).toEqual(empty(3, "no"));
  });

  it("I10 forgets its failures when it gets on, and only then", () => {
    expect(after(streaming(4), { type: "listing" })).toEqual(streaming(4));
    expect(after(streaming(4), { type: "reached", resourceVersion: "6" })).toMatchObject({ failures: 0 });
    expect(after(listing(4), { type: "listed", resourceVersion: "6" })).toMatchObject({ failures: 0 });
    // A stream that ends without a word is no progress.
    expect(after(at("5", 4), { type: "ended" })).toEqual(at("5", 5));
    expect(after(streaming(4), { type: "ended" })).toEqual(empty(5));
  });

  it("I10 waits longer after each failure, never longer than 45 s, and not at all after none", () => {
    const random = new SeededRandom("pauses");
    expect(pauseOf(at("5"), random)).toBe(0);
    const pauses = Array.from({ length: 12 }, (_, failures) => pauseOf(empty(failures + 1), random));
    expect(pauses[0]).toBeLessThanOrEqual(150);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(45_000);
  });

  it("has an answer to everything in every state", () => {
    const states = [empty(0), streaming(), listing(), at("5")];
    const outcomes: Outcome[] = [
      { type: "listing" },
      { type: "listed", resourceVersion: "6" },
      { type: "reached", resourceVersion: "6" },
      { type: "unmarked" },
      { type: "ended" },
      { type: "silent" },
      { type: "expired" },
      { type: "refused" },
      { type: "disorder" },
      { type: "failed" },
    ];
    for (const state of states) {
      for (const outcome of outcomes) {
        const next = after(state, outcome);
        // What was reached is never forgotten without being fetched again, and never goes back.
        if (next.phase === "watching") expect(["5", "6"]).toContain(next.resourceVersion);
        expect(begin(next).phase).toMatch(/streaming|listing|watching/);
      }
    }
  });
});
