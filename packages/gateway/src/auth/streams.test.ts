/** How many streams somebody may have open. */
import { describe, expect, it } from "vitest";
import { Streams } from "./streams.ts";

describe("streams", () => {
  it("H18 are counted for each user, and those that have ended are not", () => {
    const streams = new Streams(2);
    const [first] = [streams.open("ann"), streams.open("ann")];
    expect(() => streams.open("ann")).toThrow("ann has 2 streams open");
    streams.open("bob");
    first();
    first(); // a second time is one time
    const third = streams.open("ann");
    expect(() => streams.open("ann")).toThrow(expect.objectContaining({ code: "BERTH_TOO_MANY_STREAMS", status: 429 }));
    third();
    streams.open("ann");
  });
});
