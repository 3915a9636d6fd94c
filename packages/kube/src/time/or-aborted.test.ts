import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { orAborted, untilAborted } from "./or-aborted.ts";

describe("waiting that can be given up", () => {
  it("C7 ends with the promise, or with the first signal, and leaves nobody listening", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    expect(await orAborted(Promise.resolve(1), first.signal, undefined, second.signal)).toBe(1);
    await expect(orAborted(Promise.reject(new Error("no")), first.signal)).rejects.toThrow("no");
    const never = new Promise(() => {});
    const waiting = expect(orAborted(never, first.signal, second.signal)).rejects.toThrow("enough");
    second.abort(new Error("enough"));
    await waiting;
    await expect(orAborted(never, second.signal)).rejects.toThrow("enough");
    expect(await orAborted(Promise.resolve(2))).toBe(2);
    for (const { signal } of [first, second]) expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("C7 may be all there is to do", async () => {
    const stop = new AbortController();
    const waiting = untilAborted(stop.signal);
    stop.abort();
    await waiting;
    await untilAborted(stop.signal);
  });
});
