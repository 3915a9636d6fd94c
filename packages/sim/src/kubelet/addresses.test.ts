import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeAddress, PodAddresses, podRange } from "./addresses.ts";

describe("addresses", () => {
  it("of nodes and their pods do not meet", () => {
    const addresses = Array.from({ length: 5000 }, (_, index) => nodeAddress(index));
    expect(new Set(addresses).size).toBe(5000);
    expect([addresses[0], addresses[255], podRange(0), podRange(1)]).toEqual([
      "172.16.0.1",
      "172.16.1.0",
      "10.128.0.0/22",
      "10.128.4.0/22",
    ]);
    expect(new Set(Array.from({ length: 5000 }, (_, index) => podRange(index))).size).toBe(5000);
  });

  it("are given to one pod at a time", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 400 }), (steps) => {
        const addresses = new PodAddresses("10.1.0.0/24", 0);
        const taken: string[] = [];
        for (const isTaking of steps) {
          if (isTaking && taken.length < 250) {
            const address = addresses.take();
            expect(taken).not.toContain(address);
            taken.push(address);
          } else {
            const given = taken.shift();
            if (given !== undefined) addresses.giveBack(given);
          }
        }
      }),
    );
  });

  it.each([undefined, "", "nonsense", "fd00::/64", "10.0.0.0/31"])("stand in for a range that is %s", (range) => {
    expect(new PodAddresses(range, 3).take()).toBe("10.128.12.2");
  });
});
