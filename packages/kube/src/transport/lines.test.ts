import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lines } from "./lines.ts";

describe("lines", () => {
  it("N2 come out whole, wherever the stream was cut", async () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
    const pieces = fc.infiniteStream(fc.integer({ min: 1, max: 7 }));
    await fc.assert(
      fc.asyncProperty(fc.array(line), pieces, async (expected, sizes) => {
        const bytes = Buffer.from(expected.map((text) => `${text}\n`).join(""));
        const lines = new Lines();
        const received: string[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value;
          await lines.push(bytes.subarray(at, at + size), (text) => void received.push(text));
          at += size;
        }
        expect(received).toEqual(expected);
        expect(lines.rest()).toBe("");
      }),
    );
  });

  it("N2 know of a line without its end", async () => {
    const lines = new Lines();
    await lines.push(Buffer.from("whole\nha"), () => {});
    await lines.push(Buffer.from("lf"), () => {});
    expect(lines.rest()).toBe("half");
  });

  it("N3 wait for whoever takes them", async () => {
    const order: string[] = [];
    await new Lines().push(Buffer.from("a\nb\n"), async (line) => {
      order.push(`${line} begins`);
      await Promise.resolve();
      order.push(`${line} ends`);
    });
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });
});
