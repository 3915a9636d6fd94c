import type { coreV1 } from "@berth/kube";
import type { BatchJob } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotation, label } from "../names.ts";
import { Ledger } from "./ledger.ts";

const job = (name: string, slots?: readonly number[], claimTime = "1"): BatchJob => ({
  metadata: { namespace: "n", name },
  spec: {
    jobSpec: {},
    ...(slots && {
      activeScheduling: { name: "s" },
      creationRequest: { testbed: { name: "t" }, slots: [...slots], claimTime },
    }),
  },
});
const executor = (of: string, slot: number, phase: "Running" | "Succeeded" = "Running"): coreV1.Pod => ({
  metadata: {
    labels: { [label.role]: "executor" },
    annotations: { [annotation.testbed]: "n/t", [annotation.job]: `n/${of}`, [annotation.slot]: String(slot) },
  },
  status: { phase },
});
const T = "n/t";

describe("a ledger", () => {
  it("L1 knows who has which slot, and what is free", () => {
    const ledger = new Ledger();
    ledger.setJob("n/a", job("a", [1, 3]));
    expect([0, 1, 2, 3].map((slot) => ledger.holderOf(T, slot))).toEqual([undefined, "n/a", undefined, "n/a"]);
    expect([ledger.isFree(T, 0), ledger.isFree(T, 1), ledger.isFree(T, 1, "n/a")]).toEqual([true, false, true]);
    expect(ledger.isFree("n/other", 1)).toBe(true);
    ledger.setJob("n/a", job("a"));
    expect(ledger.isFree(T, 1)).toBe(true);
  });

  it("L3 keeps a slot until the last executor has left it", () => {
    const ledger = new Ledger();
    ledger.setJob("n/a", job("a", [1]));
    ledger.setPod("u", executor("a", 1));
    ledger.setJob("n/a", undefined);
    expect([ledger.holderOf(T, 1), ledger.isFree(T, 1), ledger.isTaken(T, 1)]).toEqual([undefined, false, true]);
    ledger.setPod("u", executor("a", 1, "Succeeded"));
    expect(ledger.isFree(T, 1)).toBe(true);
    ledger.setPod("u", undefined);
    expect(ledger.isFree(T, 1)).toBe(true);
  });

  it("L4 lets the earlier of two claims win, with all of its slots, and the other one have none", () => {
    const ledger = new Ledger();
    ledger.setJob("n/late", job("late", [1, 2], "2"));
    ledger.setJob("n/early", job("early", [2, 3], "1"));
    expect([...ledger.losers()]).toEqual(["n/late"]);
    expect([ledger.claimOf("n/late"), ledger.claimOf("n/early")?.slots]).toEqual([undefined, [2, 3]]);
    expect([1, 2, 3].map((slot) => ledger.holderOf(T, slot))).toEqual([undefined, "n/early", "n/early"]);
    ledger.setJob("n/early", job("early"));
    expect([...ledger.losers(), ledger.claimOf("n/late")?.slots]).toEqual([[1, 2]]);
  });

  it("L5 counts what must not be: claims on one slot, a slot given away with somebody in it, claims that are void", () => {
    const ledger = new Ledger();
    ledger.setJob("n/a", job("a", [1, 2], "1"));
    ledger.setPod("u", executor("a", 1));
    expect(ledger.figures()).toEqual({ claimed: 2, occupied: 1 });
    expect(ledger.violations()).toEqual({ L1: 0, L3: 0, L4: 0 });
    ledger.setJob("n/b", job("b", [1, 2], "2"));
    expect(ledger.violations()).toEqual({ L1: 2, L3: 1, L4: 1 });
    ledger.setJob("n/a", undefined);
    expect(ledger.violations()).toEqual({ L1: 0, L3: 1, L4: 0 });
    ledger.setPod("u", undefined);
    expect(ledger.violations()).toEqual({ L1: 0, L3: 0, L4: 0 });
  });

  it("L4 does not let a claim lose to one that has lost itself", () => {
    const ledger = new Ledger();
    for (const [name, slots, time] of [
      ["a", [1], "1"],
      ["b", [1, 2], "2"],
      ["c", [2], "3"],
    ] as const) {
      ledger.setJob(`n/${name}`, job(name, slots, time));
    }
    expect([...ledger.losers()]).toEqual(["n/b"]);
    expect(ledger.claimsOn(T).map((claim) => claim.job)).toEqual(["n/a", "n/c"]);
  });

  it("is the same however it came about: what is stored decides", () => {
    const names = ["a", "b", "c"] as const;
    const event = fc.oneof(
      fc.record({
        what: fc.constant("job" as const),
        name: fc.constantFrom(...names),
        slots: fc.option(fc.uniqueArray(fc.nat(4), { minLength: 1 }), { nil: undefined }),
        time: fc.constantFrom("1", "2", "3"),
      }),
      fc.record({
        what: fc.constant("pod" as const),
        uid: fc.constantFrom("u", "v", "w"),
        of: fc.constantFrom(...names),
        slot: fc.nat(4),
        phase: fc.constantFrom("Running" as const, "Succeeded" as const),
        gone: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const ledger = new Ledger();
        const [jobs, pods] = [new Map<string, BatchJob>(), new Map<string, coreV1.Pod | undefined>()];
        for (const each of events) {
          if (each.what === "job") {
            jobs.set(each.name, job(each.name, each.slots, each.time));
            ledger.setJob(`n/${each.name}`, jobs.get(each.name));
          } else {
            pods.set(each.uid, each.gone ? undefined : executor(each.of, each.slot, each.phase));
            ledger.setPod(each.uid, pods.get(each.uid));
          }
        }
        const rebuilt = new Ledger();
        for (const [uid, pod] of [...pods].reverse()) rebuilt.setPod(uid, pod);
        for (const [name, each] of [...jobs].reverse()) rebuilt.setJob(`n/${name}`, each);
        const state = (of: Ledger) =>
          [0, 1, 2, 3, 4].map((slot) => [of.holderOf(T, slot), of.isFree(T, slot), of.isFree(T, slot, "n/a")]);
        expect(state(ledger)).toEqual(state(rebuilt));
        expect(new Set(ledger.losers())).toEqual(new Set(rebuilt.losers()));
        // L1 and L2: among those that count, nobody shares a slot.
        const granted = ledger.claimsOn(T).flatMap(({ slots }) => slots);
        expect(new Set(granted).size).toBe(granted.length);
      }),
    );
  });
});
