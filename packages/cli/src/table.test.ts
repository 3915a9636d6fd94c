import { describe, expect, it } from "vitest";
import { formatted, table } from "./table.ts";

const columns = [
  { title: "NAME", of: ({ name }: { name: string; slots?: number }) => name },
  { title: "SLOTS", of: ({ slots }: { slots?: number }) => slots },
  { title: "WHY", of: () => "because", wide: true },
];
const items = [{ name: "pi", slots: 12 }, { name: "terasort" }];

describe("tables", () => {
  it("have columns as wide as they need, and no spaces at the end", () => {
    expect(table(items, columns)).toEqual(["NAME       SLOTS", "pi         12", "terasort   <none>"]);
    expect(table(items, columns, { wide: true, headers: false })[0]).toBe("pi         12       because");
  });

  it("are one of several forms", async () => {
    expect(await formatted(items, "job", columns, { format: "name" })).toBe("job/pi\njob/terasort");
    expect(JSON.parse(await formatted(items, "job", columns, { format: "json" }))).toEqual({ items });
    const one = await formatted(items.slice(0, 1), "job", columns, { format: "yaml", single: true });
    expect(one).toBe("name: pi\nslots: 12");
  });
});
