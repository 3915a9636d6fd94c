import { describe, expect, it } from "vitest";
import { KubeError } from "../errors.ts";
import { VirtualClock } from "../time/clock.ts";
import { jsonLogger, type LogFields, type LogLevel, logTo } from "./logger.ts";

function setUp(level?: LogLevel) {
  const lines: string[] = [];
  const clock = new VirtualClock();
  const log = jsonLogger({ clock, write: (line) => void lines.push(line), ...(level && { level }) });
  return { log, logged: () => lines.splice(0).map((line) => JSON.parse(line)) };
}

const throwing = (): never => {
  throw new Error("no");
};

const unreadable = <T extends object>(object: T, property: string): T & LogFields =>
  Object.defineProperty(object, property, { enumerable: true, get: throwing }) as T & LogFields;

describe("a logger", () => {
  it("G1 writes a line of JSON with everything it was given", () => {
    const { log, logged } = setUp();
    log.with({ controller: "c" }).info("working", { workers: 64n, message: "another", level: "another" });
    expect(logged()).toEqual([
      { time: "2020-01-01T00:00:00Z", level: "info", message: "working", controller: "c", workers: "64" },
    ]);
  });

  it("G1 leaves out what is less important than it was told", () => {
    const { log, logged } = setUp("warn");
    for (const level of ["debug", "info", "warn", "error"] as const) log[level](level);
    expect(logged().map(({ message }) => message)).toEqual(["warn", "error"]);
  });

  it("G2 writes errors with their causes, and where they come from if no code of ours explains them", () => {
    const { log, logged } = setUp();
    const cause = new Error("refused");
    log.error("x", { error: new KubeError("KUBE_CONNECTION_FAILED", "no answer", { cause }) });
    expect(logged()[0].error).toEqual({
      message: "no answer",
      code: "KUBE_CONNECTION_FAILED",
      cause: { message: "refused", stack: expect.stringContaining("logger.test.ts") },
    });
  });

  const circle: Record<string, unknown> = { big: 1n };
  circle.self = circle;
  const first = new Error("first");
  const second = new Error("second", { cause: first });
  first.cause = second;
  const gone = Proxy.revocable({}, {});
  gone.revoke();

  it.each([
    ["an error that is its own cause's cause", first, /first.*second/s],
    ["an error with a circular cause", new Error("outer", { cause: circle }), /outer.*Circular/s],
    ["a getter that throws", unreadable({}, "property"), /property/],
    ["a toJSON that throws", { value: 5, toJSON: throwing }, /5/],
    ["an error whose message throws", unreadable(new Error("x"), "message"), /./],
    ["what throws whatever one does", { ...circle, [Symbol.for("nodejs.util.inspect.custom")]: throwing }, /cannot/],
    ["a proxy that is gone", gone.proxy, /Proxy/],
  ])("G3 writes as text what is not JSON: %s", (_, value, text) => {
    const { log, logged } = setUp();
    log.error("it failed", { value, other: { kept: true } });
    expect(logged()).toMatchObject([
      { level: "error", message: "it failed", value: expect.stringMatching(text), other: { kept: true } },
    ]);
  });

  it("G3 survives fields that cannot be read, and a place to write to that fails", () => {
    const { log, logged } = setUp();
    const fields = unreadable({}, "value");
    log.with(fields).info("one");
    log.info("two", fields);
    expect(logged().map(({ message }) => message)).toEqual(["one", "two"]);
    expect(() => logTo(throwing).error("three")).not.toThrow();
  });
});
