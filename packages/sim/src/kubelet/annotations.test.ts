import { describe, expect, it } from "vitest";
import { behaviourOf } from "./annotations.ts";

const read = (annotations: Record<string, string>) => behaviourOf({ metadata: { annotations } });

describe("behaviourOf", () => {
  it("reads durations as Go writes them", () => {
    const times = ["300ms", "2s", "1m30s", "1h", "1.5s", "2h0m1s"].map(
      (text) => read({ "berth.dev/run-time": text }).runMs,
    );
    expect(times).toEqual([300, 2000, 90_000, 3_600_000, 1500, 7_201_000]);
  });

  it("leaves out what nobody asks for", () => {
    expect(behaviourOf({ metadata: {} })).toEqual({});
    expect(read({ "berth.dev/exit-code": "3", "berth.dev/start-delay": "" })).toEqual({ exitCode: 3 });
  });

  it.each([
    ["run-time", "5"],
    ["start-delay", "soon"],
    ["termination-delay", "-1s"],
    ["exit-code", "1000"],
    ["exit-code", "x"],
  ])("says what is wrong with %s: %s", (name, value) => {
    expect(read({ [`berth.dev/${name}`]: value }).problem).toContain(`berth.dev/${name}: "${value}" is not a`);
  });
});
