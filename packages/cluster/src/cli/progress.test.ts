import { describe, expect, it } from "vitest";
import type { BuildProgress } from "../binaries/build.ts";
import { buildLine, showProgress } from "./progress.ts";
import { statusText } from "./status.ts";

const build = (change: Partial<BuildProgress>): BuildProgress => ({
  state: "building",
  program: "kube-apiserver",
  index: 2,
  of: 7,
  elapsedMs: 0,
  ...change,
});

function output(isTTY: boolean) {
  let text = "";
  return { isTTY, write: (more: string) => (text += more), text: () => text };
}

describe("the progress of a build", () => {
  it("says which of how many, and how long so far", () => {
    expect(buildLine(build({ elapsedMs: 59_999 }))).toMatch(/^\[2\/7\] kube-apiserver: building with Go, 59 s so far/);
    expect(buildLine(build({ elapsedMs: 252_000 }))).toContain("4 min 12 s so far");
    expect(buildLine(build({ state: "waiting" }))).toContain("another process");
  });

  it("overwrites one line on a terminal", () => {
    const terminal = output(true);
    const show = showProgress(terminal);
    for (const elapsedMs of [0, 1000, 2000]) show({ phase: "binaries", build: build({ elapsedMs }) });
    show({ phase: "binaries", build: build({ state: "built", elapsedMs: 3000 }) });
    expect(terminal.text().split("\n")).toHaveLength(2);
    expect(terminal.text().split("\r")).toHaveLength(5);
  });

  it("writes a line now and then to a log", () => {
    const log = output(false);
    const show = showProgress(log);
    for (let second = 0; second < 70; second++) {
      show({ phase: "binaries", build: build({ elapsedMs: second * 1000 }) });
    }
    show({ phase: "binaries", build: build({ state: "built", elapsedMs: 70_000 }) });
    expect(log.text().trim().split("\n")).toHaveLength(4); // at 0, 30 and 60 seconds, and when it is built
    expect(log.text()).not.toContain("\r");
  });
});

describe("status", () => {
  it("shows what runs, what is dead and how much memory it takes", () => {
    const component = { pid: 12, residentBytes: 50 * 1024 * 1024, log: "" };
    const text = statusText({
      name: "lab",
      server: "https://127.0.0.1:20001",
      kubeconfig: "/k",
      ageMs: 90_000,
      detached: true,
      components: [
        { name: "etcd", alive: true, ...component },
        { name: "kube-scheduler", alive: false, ...component, residentBytes: 0 },
      ],
      nodes: { ready: 19, total: 20 },
    });
    expect(text).toBe(
      [
        "lab: https://127.0.0.1:20001, up 1 min, stays until taken down",
        "  nodes        19 of 20 ready",
        "  memory       50 MiB",
        "  kubeconfig   /k",
        "  etcd            running  pid 12           50 MiB",
        "  kube-scheduler  dead     pid 12",
      ].join("\n"),
    );
  });
});
