import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf } from "./testing/code-of.ts";

const run = (example: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, example)], { encoding: "utf8" });

const code = (example: string) => codeOf(join(import.meta.dirname, example));

describe("examples do what they say", () => {
  it("kill-the-scheduler", () => {
    const { status, stdout, stderr } = run("kill-the-scheduler.ts");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/scheduler is dead, and (2[5-9]|[34]\d|50) of 50 pods are pending/);
    expect(stdout).toContain("the scheduler is back, and 50 of 50 pods have succeeded");
  });

  it("website-operator is what the README of @berth/kube shows", () => {
    const readme = readFileSync(join(import.meta.dirname, "../packages/kube/README.md"), "utf8");
    expect(readme).toContain(code("website-operator.ts"));
    expect(code("website-operator.ts").split("\n").filter(Boolean).length).toBeLessThanOrEqual(30);
  });
});
