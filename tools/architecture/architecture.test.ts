import { describe, expect, it } from "vitest";
import { layers, violations } from "./rules.ts";
import { readSource } from "./source.ts";

const check = (path: string, text: string) =>
  violations(readSource(path, text)).map(({ line, message }) => `${line}: ${message}`);

describe("directions", () => {
  it("lets a package import what the table allows, its own files, and other people's packages", () => {
    const text = 'import { a } from "@berth/kube";\nimport "./other.ts";\nimport "node:fs";\nimport "yaml";\n';
    expect(check("packages/sim/src/server.ts", text)).toEqual([]);
  });

  it("rejects an import against the direction, however it is written", () => {
    for (const text of [
      'import { a } from "@berth/sim";',
      'import type { A } from "@berth/sim";',
      'export { a } from "@berth/sim";',
      'export * from "@berth/sim";',
      'const a = await import("@berth/sim");',
      "const a = await import(`@berth/sim`);",
      'type A = import("@berth/sim").A;',
      'import a = require("@berth/sim");',
    ]) {
      expect(check("packages/kube/src/client.ts", text), text).toEqual([
        "1: @berth/kube must not import @berth/sim; it may import no other package of Berth",
      ]);
    }
  });

  it("rejects an import that is put together at run time", () => {
    expect(check("packages/kube/src/client.ts", "await import(name);")).toHaveLength(1);
  });

  it("rejects reaching into another package or out of all packages", () => {
    expect(check("packages/sim/src/a.ts", 'import "@berth/kube/src/b.ts";')).toHaveLength(1);
    expect(check("packages/sim/src/a.ts", 'import "../../kube/src/b.ts";')).toHaveLength(1);
    expect(check("packages/sim/src/a.ts", 'import "../../../tools/test.ts";')).toHaveLength(1);
  });

  it("lets tests, and only tests, start a real cluster", () => {
    const text = 'import { startCluster } from "@berth/cluster";';
    expect(check("packages/kube/src/client.real.test.ts", text)).toEqual([]);
    expect(check("packages/kube/src/client.ts", text)).toHaveLength(1);
  });

  it("lets tests, and only tests, tell the operator's scenarios", () => {
    const text = 'import { scenarios } from "@berth/operator/scenarios";';
    expect(check("packages/cli/src/scenarios/scenarios.test.ts", text)).toEqual([]);
    expect(check("packages/cli/src/main.ts", text)).toHaveLength(1);
  });

  it("rejects a package that the table does not know", () => {
    expect(check("packages/surprise/src/a.ts", "")).toHaveLength(1);
  });

  it("has no cycle", () => {
    const reaches = (from: string): string[] => (layers[from] ?? []).flatMap((to) => [to, ...reaches(to)]);
    for (const name of Object.keys(layers)) expect(reaches(name), name).not.toContain(name);
  });
});

describe("time and chance", () => {
  const forbidden = [
    "Date.now()",
    "new Date()",
    "setTimeout(() => {}, 1)",
    "setInterval(() => {}, 1)",
    "performance.now()",
    "Math.random()",
    "crypto.randomUUID()",
    "AbortSignal.timeout(5)",
    "process.hrtime.bigint()",
    "globalThis.setTimeout(() => {}, 1)",
    "Date()",
    'const { setTimeout: wait } = await import("node:timers/promises");',
    'import { setTimeout as sleep } from "node:timers/promises";',
    'import { randomBytes } from "node:crypto";',
  ];

  it.each(forbidden)("rejects %s outside the clock and random modules", (text) => {
    expect(check("packages/kube/src/queue.ts", text).length).toBeGreaterThan(0);
    expect(check("packages/kube/src/clock.ts", text)).toEqual([]);
    expect(check("packages/kube/src/random.ts", text)).toEqual([]);
  });

  it("leaves alone what only looks like it", () => {
    const text = 'new Date("2026-01-01"); clock.now(); clock.setTimeout(); const random = seeded.random(); random();';
    expect(check("packages/kube/src/queue.ts", text)).toEqual([]);
  });
});
