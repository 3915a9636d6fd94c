import { describe, expect, it } from "vitest";
import { addressesOf, overlaps } from "./network.ts";

describe("addressesOf", () => {
  it("gives each node an address and a pod network that no other has", () => {
    const all = Array.from({ length: 250 }, (_, index) => addressesOf("10.201", index + 1));
    expect(new Set(all.map(({ node }) => node)).size).toBe(250);
    expect(new Set(all.map(({ podSubnet }) => podSubnet)).size).toBe(250);
    // The nodes' own addresses are in 10.201.0.0/24, which is nobody's pod network.
    expect(all.every(({ node, podSubnet }) => node.startsWith("10.201.0.") && podSubnet !== "10.201.0.0/24")).toBe(
      true,
    );
    expect(all.some(({ node, host }) => node === host)).toBe(false);
  });

  it("refuses more nodes than addresses", () => {
    expect(() => addressesOf("10.201", 251)).toThrow(expect.objectContaining({ code: "BERTH_CLUSTER_OPTION_INVALID" }));
  });
});

describe("overlaps", () => {
  it.each([
    ["10.201.0.0/16", true],
    ["10.201.7.0/24", true],
    ["10.201.0.5", true],
    ["10.0.0.0/8", true],
    ["10.192.0.0/10", true],
    ["10.200.0.0/16", false],
    ["10.96.0.0/12", false],
    ["192.168.0.0/16", false],
    ["default", false],
    ["0.0.0.0/0", false],
  ])("a route to %s and our 10.201.0.0/16: %s", (route, expected) => {
    expect(overlaps(route, "10.201")).toBe(expected);
  });
});
