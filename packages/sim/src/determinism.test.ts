import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "testing/busy-day.ts");

/** Runs the program in a process of its own; gives the lines that it prints. */
async function play(seed: string, env: Readonly<Record<string, string>> = {}, options: readonly string[] = []) {
  const child = spawn(process.execPath, [...options, program, seed], { env: { ...process.env, ...env } });
  let [printed, complaints] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
  return printed.trimEnd().split("\n");
}

/** Keeps all cores of the machine busy until the function that it returns is called. */
function makeBusy(): () => void {
  const idle = [1, 2, 3].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  return () => {
    for (const child of idle) child.kill("SIGKILL");
  };
}

const digest = (lines: readonly string[]) => createHash("sha256").update(lines.join("\n")).digest("hex");

describe("the event log of a busy day", () => {
  it("D1 is the same, byte for byte, in another process, under load, and in another part of the world", async () => {
    const first = await play("day");
    const rest = makeBusy();
    try {
      const elsewhere = { TZ: "Asia/Kathmandu", LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8" };
      // Memory is tidied up at other moments, and code is compiled at others.
      const others = await Promise.all([
        play("day", elsewhere, ["--max-semi-space-size=1"]),
        play("day", {}, ["--no-opt", "--max-semi-space-size=64"]),
      ]);
      // Line by line, so that a difference is seen for what it is.
      for (const other of others) expect(other.find((line, index) => line !== first[index])).toBeUndefined();
      expect(others.map(digest)).toEqual([digest(first), digest(first)]);
    } finally {
      rest();
    }
    expect(digest(await play("night"))).not.toBe(digest(first));
  });

  it("D2 has everything in it that happened, in order", async () => {
    const events = (await play("day")).map((line) => JSON.parse(line));
    const versions = events.map(({ version }) => version);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    const resources = new Set(events.map(({ resource }) => resource));
    const expected = [
      "/nodes",
      "/pods",
      "/events",
      "batch/jobs",
      "apps/replicasets",
      "sparkoperator.k8s.io/sparkapplications",
    ];
    expect([...resources]).toEqual(expect.arrayContaining(expected));
    const reasons = new Set(events.map(({ added }) => added?.reason));
    expect([...reasons]).toEqual(
      expect.arrayContaining(["Scheduled", "Preempted", "FailedScheduling", "NodeNotReady", "BackoffLimitExceeded"]),
    );
  });
});
