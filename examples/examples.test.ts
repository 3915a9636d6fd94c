import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf } from "./testing/code-of.ts";

describe("examples do what they say", () => {
  it("a-job-in-no-time, which is what the README of @berth/sim shows", () => {
    const example = join(import.meta.dirname, "a-job-in-no-time.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, [example], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "20\n", stderr: "" });
    const readme = readFileSync(join(import.meta.dirname, "../packages/sim/README.md"), "utf8");
    expect(readme).toContain(codeOf(example));
  });
});
