import { describe, expect, it } from "vitest";
import { KubeError } from "../errors.ts";
import { SeededRandom } from "../time/random.ts";
import { ApiError } from "../transport/api-error.ts";
import type { Verb } from "../transport/transport.ts";
import { pauseBeforeRetry } from "./retry.ts";

const verbs: Verb[] = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
const writes = verbs.slice(2);
const pause = (error: unknown, verb: Verb, attempt = 0) =>
  pauseBeforeRetry(error, verb, attempt, new SeededRandom("retry"));
const refusal = (code: number, retryAfter?: number) => new ApiError({ code }, { retryAfter });
const broken = (code: string, syscall?: string) =>
  new KubeError("KUBE_CONNECTION_FAILED", "no", { cause: Object.assign(new Error("no"), { code, syscall }) });

describe("a request is sent again", () => {
  it.each(verbs)("N4 (%s) after 429, when the server wants it", (verb) => {
    expect(pause(refusal(429, 3), verb)).toBeGreaterThanOrEqual(3000);
    expect(pause(refusal(429, 3), verb)).toBeLessThanOrEqual(3600);
    expect(pause(refusal(429), verb)).toBeGreaterThan(0);
  });

  it.each(verbs)("N4 (%s) after an error for which the server says when", (verb) => {
    expect(pause(refusal(503, 1), verb)).toBeGreaterThanOrEqual(1000);
  });

  it.each(verbs)("N4 (%s) if it never left", (verb) => {
    expect(pause(broken("ECONNREFUSED"), verb)).toBeGreaterThan(0);
    expect(pause(broken("EHOSTUNREACH", "connect"), verb)).toBeGreaterThan(0);
    const both = new AggregateError([broken("ECONNREFUSED").cause, broken("ENETUNREACH", "connect").cause]);
    expect(pause(new KubeError("KUBE_CONNECTION_FAILED", "no", { cause: both }), verb)).toBeGreaterThan(0);
  });

  it("N4 if it only reads, after whatever may pass", () => {
    for (const error of [refusal(500), refusal(503), broken("ECONNRESET")])
      expect(pause(error, "get")).toBeGreaterThan(0);
  });

  it("N4 later each time, up to a limit", () => {
    const pauses = Array.from({ length: 20 }, (_, attempt) => pause(refusal(500), "get", attempt) as number);
    expect(pauses[3]).toBeGreaterThan(pauses[0] as number);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15_000);
  });
});

describe("a request is not sent again", () => {
  it.each(writes)("N5 (%s) if it may have been carried out", (verb) => {
    const half = new AggregateError([broken("ECONNREFUSED").cause, broken("ECONNRESET").cause]);
    for (const error of [
      ...[refusal(500), refusal(500, 1), refusal(503), refusal(504)],
      ...[broken("ECONNRESET"), broken("UND_ERR_HEADERS_TIMEOUT"), broken("EHOSTUNREACH", "read")],
      new KubeError("KUBE_CONNECTION_FAILED", "no", { cause: half }),
    ]) {
      expect(pause(error, verb)).toBeUndefined();
    }
  });

  it.each(verbs)("N5 (%s) if that would change nothing", (verb) => {
    for (const code of [400, 401, 403, 404, 409, 410, 422]) expect(pause(refusal(code), verb)).toBeUndefined();
    expect(pause(new Error("no"), verb)).toBeUndefined();
    const budget = new ApiError({ code: 429, details: { causes: [{ reason: "DisruptionBudget" }] } });
    expect(pause(budget, verb)).toBeUndefined();
  });
});
