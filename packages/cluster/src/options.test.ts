import { describe, expect, it } from "vitest";
import { memoryNeed, plan, requireMemory } from "./options.ts";

const invalid = expect.objectContaining({ code: "BERTH_CLUSTER_OPTION_INVALID" });

describe("plan", () => {
  it("takes a number of nodes or shapes", () => {
    expect(plan({})).toMatchObject({ name: "default", kwokNodes: 0, realNodes: { count: 0 } });
    expect(plan({ nodes: 20, realNodes: 2 })).toMatchObject({ kwokNodes: 20, realNodes: { count: 2 } });
    expect(plan({ nodes: [{ count: 2 }, {}] }).kwokNodes).toBe(3);
  });

  it("refuses numbers that are no numbers of nodes", () => {
    expect(() => plan({ nodes: 0.5 })).toThrow(invalid);
    expect(() => plan({ realNodes: -1 })).toThrow(invalid);
    expect(() => plan({ realNodes: Number.POSITIVE_INFINITY })).toThrow(invalid);
  });
});

describe("memory", () => {
  const GiB = 1024 ** 3;

  it("is refused when it would not do, with both figures", () => {
    expect(() => requireMemory(memoryNeed(1000, 2), GiB)).toThrow(
      expect.objectContaining({
        code: "BERTH_CLUSTER_TOO_LITTLE_MEMORY",
        message: expect.stringMatching(/takes about \d+ MiB .* 1024 MiB are available/),
      }),
    );
    expect(() => requireMemory(memoryNeed(1000, 2), 2 * GiB)).not.toThrow();
  });

  it("is needed the more, the more nodes there are", () => {
    expect(memoryNeed(0, 0)).toBeLessThan(memoryNeed(100, 0));
    expect(memoryNeed(100, 0)).toBeLessThan(memoryNeed(100, 1));
  });
});
