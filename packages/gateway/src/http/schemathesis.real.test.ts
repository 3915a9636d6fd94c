/** The gateway, fuzzed with its own description. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logTo, WallClock } from "@berth/kube";
import { turnReply } from "@berth/model";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCatalogue } from "../errors.ts";
import { type Embedded, jobManifest, startEmbedded } from "../testing/embedded.ts";
import { schemathesis } from "./testing/schemathesis.ts";

const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];
/** Names that there are, so that not everything is an error. */
const NAMES = { jobs: "pi", schedulings: "one", testbeds: "main", nodes: "n0" };

let world: Embedded;
const errors: string[] = [];
const folder = mkdtempSync(join(tmpdir(), "berth-schemathesis-"));
const config = join(folder, "schemathesis.toml");
beforeAll(async () => {
  const log = logTo((level, message, fields) => {
    if (level === "error") errors.push(`${message} ${fields.path} ${fields.error}`);
  });
  const limits = { rate: { perSecond: 1e6, burst: 1e6 } };
  world = await startEmbedded({ clock: new WallClock(), gateway: { log, limits } });
  await world.ask("POST", "/v1/jobs", jobManifest("pi", 1e6));
  const spec = { testbed: { name: "main" }, slotBased: [{ name: "pi", slots: [0] }] };
  await world.ask("POST", "/v1/schedulings", { metadata: { name: "one" }, spec });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** How often each status was answered. */
async function fuzz(name: string, ...more: readonly string[]): Promise<Record<string, number>> {
  const report = join(folder, `${name}.ndjson`);
  const { code, output } = await schemathesis(
    [
      ...["--config-file", config, "run", `${world.gateway.url}/openapi.json`, "--url", world.gateway.url],
      ...["--checks", CHECKS.join(","), "--phases", "examples,coverage,fuzzing", "--seed", "1", "--max-examples", "20"],
      ...["--no-shrink", "--request-timeout", "10", "--suppress-health-check", "all", "--warnings", "off"],
      ...["--report", "ndjson", "--report-ndjson-path", report],
      // The stream has no end, and a turn has none until something happens: both have tests of their own.
      ...["--exclude-path", "/v1/events", "--exclude-path", "/v1/schedulers/{name}/turn", ...more],
    ],
    folder,
  );
  expect(code, output.slice(-6000)).toBe(0);
  const counts: Record<string, number> = {};
  for (const [, status = ""] of readFileSync(report, "utf8").matchAll(/"status_code": ?(\d+)/g)) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe("fuzzing", () => {
  it("H16 finds no answer that is not described, and no failure, with the names of what there is", async () => {
    const rules = Object.entries(NAMES).map(([kind, name]) =>
      ["[[operations]]", `include-path-regex = "^/v1/${kind}/"`, `parameters = { "path.name" = "${name}" }`].join("\n"),
    );
    writeFileSync(config, rules.join("\n"));
    const counts = await fuzz("named", "--exclude-method", "DELETE");
    expect(counts).toMatchObject({ 200: expect.any(Number), 400: expect.any(Number), 412: expect.any(Number) });
    expect(counts["200"]).toBeGreaterThan(100);
    expect(errors).toEqual([]);
  });

  it("H16 finds none with names of all kinds, and when it deletes what it likes", async () => {
    writeFileSync(config, "");
    const counts = await fuzz("unnamed");
    expect(counts).toMatchObject({ 400: expect.any(Number), 404: expect.any(Number), 405: expect.any(Number) });
    expect(errors).toEqual([]);
    expect((await world.ask("GET", "/v1/testbeds/main")).status).toBe(200); // it goes on
  });

  it("H16 finds none in turns either: with `callAt` in the past each of them is answered", async () => {
    const number = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(Number.MAX_SAFE_INTEGER), fc.integer());
    const decision = fc.record(
      {
        job: fc.oneof(fc.constantFrom("pi", "none", "fuzz"), fc.string()),
        slots: fc.array(number, { maxLength: 5 }),
        executors: number,
        release: fc.constant(true),
        reason: fc.string(),
      },
      { requiredKeys: ["job"] },
    );
    const request = fc.record(
      {
        testbed: fc.oneof({ weight: 9, arbitrary: fc.constant("main") }, { weight: 1, arbitrary: fc.string() }),
        after: fc.oneof({ weight: 3, arbitrary: fc.constant("last") }, { weight: 1, arbitrary: number }),
        decisions: fc.array(decision, { maxLength: 4 }),
        jobs: fc.oneof(fc.constantFrom("", "a=b", "!a"), fc.string()),
        view: fc.constantFrom("full", "delta", "other"),
      },
      { requiredKeys: ["testbed"] },
    );
    await world.ask("POST", "/v1/jobs", jobManifest("fuzz", 0.1));
    let last = 0;
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const after = asked.after === "last" ? { after: last } : {};
        const { status, body } = await world.ask("POST", "/v1/schedulers/fuzz/turn", { ...asked, ...after, callAt: 0 });
        seen.add(status);
        if (status !== 200) {
          expect(status).toBeLessThan(500);
          expect(errorCatalogue).toHaveProperty(body.code);
          return;
        }
        expect(turnReply.safeParse(body).error).toBeUndefined();
        last = body.turn;
      }),
      { numRuns: 150, seed: 1 },
    );
    expect([...seen].sort()).toEqual(expect.arrayContaining([200, 400, 409]));
    expect(errors).toEqual([]);
  });
});
