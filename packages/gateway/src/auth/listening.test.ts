/** Who may listen, and for how long. */
import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../errors.ts";
import { mustSee, whileAllowed } from "./listening.ts";

const gone = new GatewayError("BERTH_FORBIDDEN", "not any more");

/** Answers one after the other, and what came of it. */
function asked(...answers: readonly (() => Promise<void>)[]) {
  const clock = new VirtualClock();
  const left = [...answers];
  const ends: string[] = [];
  const ask = () => (left.shift() ?? (() => Promise.resolve()))();
  const asking = whileAllowed(clock, ask, ({ code }) => ends.push(code));
  return { clock, asking, ends, left };
}

describe("whoever listens", () => {
  it("A7 is asked every 15 s, until he may not any more", async () => {
    const { clock, ends, left } = asked(
      async () => {},
      () => Promise.reject(gone),
      async () => {},
    );
    await clock.advance(29_999);
    expect([ends, left.length]).toEqual([[], 2]);
    await clock.advance(1);
    expect(ends).toEqual(["BERTH_FORBIDDEN"]);
    await clock.advance(60_000);
    expect([ends.length, left.length, clock.pending]).toEqual([1, 1, 0]);
  });

  it("A7 may go on if it cannot be found out", async () => {
    const busy = new GatewayError("BERTH_TOO_MANY_REQUESTS", "ask again in 1 s");
    const { clock, ends } = asked(
      () => Promise.reject(new Error("no answer")),
      () => Promise.reject(busy),
      () => Promise.reject(new GatewayError("BERTH_UNAUTHENTICATED", "who?")),
    );
    await clock.advance(30_000);
    expect(ends).toEqual([]);
    await clock.advance(15_000);
    expect(ends).toEqual(["BERTH_UNAUTHENTICATED"]);
  });

  it("A7 is not asked again before he has been answered, and not at all when he has gone", async () => {
    const slow = Promise.withResolvers<void>();
    const { clock, asking, ends, left } = asked(
      () => slow.promise,
      () => Promise.reject(gone),
    );
    await clock.advance(60_000);
    expect(left).toHaveLength(1);
    asking.cancel();
    slow.reject(gone);
    await clock.advance(60_000);
    expect([ends, left.length, clock.pending]).toEqual([[], 1, 0]);
  });

  it("A2 is told which right is missing", async () => {
    const user = { name: "bob", groups: [] };
    const may = async ({ resource }: { resource: string }) => resource !== "slots";
    await mustSee(user, ["jobs", "testbeds"], may);
    await expect(mustSee(user, ["jobs", "slots"], may)).rejects.toMatchObject({
      ...{ code: "BERTH_FORBIDDEN", message: "bob may not watch slots.berth.dev" },
    });
  });
});
