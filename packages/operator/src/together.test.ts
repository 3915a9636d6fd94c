import { expect, it } from "vitest";
import { together } from "./together.ts";

it("does something with each, with some at a time, and in their order", async () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const begun: number[] = [];
  let [underWay, most] = [0, 0];
  await together(items, async (item) => {
    begun.push(item);
    underWay++;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay--;
  });
  expect(begun).toEqual(items);
  expect(most).toBe(32);
});

it("begins nothing more after a failure, and ends when the others have", async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const all = together(
    Array.from({ length: 100 }, (_, index) => index),
    async (item) => {
      begun.push(item);
      if (item === 5) throw new Error("five");
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      ended.push(item);
    },
  );
  await expect(all).rejects.toThrow("five");
  expect(begun).toHaveLength(32);
  expect(ended).toHaveLength(31);
});
