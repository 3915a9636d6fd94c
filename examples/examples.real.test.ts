import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const run = (example: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, example)], { encoding: "utf8" });

describe("examples do what they say", () => {
  it("kill-the-scheduler", () => {
    const { status, stdout, stderr } = run("kill-the-scheduler.ts");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/scheduler is dead, and (2[5-9]|[34]\d|50) of 50 pods are pending/);
    expect(stdout).toContain("the scheduler is back, and 50 of 50 pods have succeeded");
  });
});
