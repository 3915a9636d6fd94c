import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { agreed, Heart } from "./heart-beat.ts";

function heart() {
  const clock = new VirtualClock();
  const start = clock.now();
  const beats: number[] = [];
  const lost: number[] = [];
  const it = new Heart({
    clock,
    beat: () => beats.push(clock.now() - start),
    lost: () => lost.push(clock.now() - start),
  });
  return { clock, beats, lost, heart: it };
}

describe("a heart", () => {
  it("S11 beats as slowly as either side wants, and not at all if one of them does not", () => {
    const ours = { sendEvery: 10, expectEvery: 20 };
    expect(agreed(ours, { can: 5, wants: 30 })).toEqual({ sendEvery: 30, expectEvery: 20 });
    expect(agreed(ours, { can: 50, wants: 3 })).toEqual({ sendEvery: 10, expectEvery: 50 });
    expect(agreed(ours, { can: 0, wants: 0 })).toEqual({ sendEvery: 0, expectEvery: 0 });
    expect(agreed({ sendEvery: 0, expectEvery: 0 }, { can: 5, wants: 5 })).toEqual({ sendEvery: 0, expectEvery: 0 });
  });

  it("S11 never lets an interval pass in silence, and keeps quiet while others speak", async () => {
    const { clock, beats, heart: beating } = heart();
    beating.start({ sendEvery: 100, expectEvery: 0 });
    await clock.advance(100);
    expect(beats).toEqual([50, 100]);
    for (let at = 110; at <= 300; at += 10) {
      beating.sent();
      await clock.advance(10);
    }
    expect(beats).toEqual([50, 100]);
    await clock.advance(100);
    expect(beats).toEqual([50, 100, 350, 400]);
    beating.stop();
    await clock.advance(1000);
    expect(beats).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it("S11 gives up who is silent for two intervals, and nobody who says anything", async () => {
    const { clock, lost, heart: beating } = heart();
    beating.start({ sendEvery: 0, expectEvery: 100 });
    for (let step = 0; step < 5; step++) {
      await clock.advance(190);
      beating.received();
    }
    expect(lost).toEqual([]);
    await clock.advance(1000);
    expect(lost).toEqual([5 * 190 + 200]);
    expect(clock.pending).toBe(0);
  });

  it("S11 gives up nobody whom it cannot hear", async () => {
    const { clock, lost, heart: beating } = heart();
    beating.start({ sendEvery: 0, expectEvery: 100 });
    beating.deaf = true;
    await clock.advance(1000);
    expect(lost).toEqual([]);
    beating.deaf = false;
    await clock.advance(1000);
    expect(lost).toHaveLength(1);
  });
});
