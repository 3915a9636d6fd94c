/** What a program tells its operators: a sentence, and fields to search by. */
import { inspect } from "node:util";
import { KubeError } from "../errors.ts";
import { kubernetesTime } from "../objects/times.ts";
import type { Clock } from "../time/clock.ts";

/** From the least important to the most. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a message is searched by. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where messages go. `jsonLogger` is one, and `logTo` makes one of any other. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** One that adds the fields to all it logs. */
  with(fields: LogFields): Logger;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * Sends what is logged to a function; the loggers below are made of it. Logging never throws, whatever is logged: whoever
 * reports one failure must not run into another.
 */
export function logTo(
  write: (level: LogLevel, message: string, fields: LogFields) => void,
  given: LogFields = {},
): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    try {
      write(level, message, joined(given, fields));
    } catch {} // there is nowhere left to report it
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logTo(write, joined(given, fields)),
  };
}

function joined(given: LogFields, fields: LogFields | undefined): LogFields {
  try {
    return { ...given, ...fields };
  } catch {
    return { ...given, fields: textOf(fields) }; // one of them is a getter that throws
  }
}

/** Logs nothing. */
export const silent: Logger = logTo(() => {});

/** How `jsonLogger` writes. */
export interface JsonLoggerOptions {
  readonly clock: Clock;
  /** What is less important is left out. Default: "info". */
  readonly level?: LogLevel;
  /** Default: standard error. */
  readonly write?: (line: string) => void;
}

/** One line of JSON for each message. */
export function jsonLogger({ clock, level: least = "info", write = writeToStderr }: JsonLoggerOptions): Logger {
  return logTo((level, message, fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const first = { time: kubernetesTime(clock.now()), level, message };
    write(lineOf({ ...first, ...fields, ...first })); // no field takes their place
  });
}

const writeToStderr = (line: string) => void process.stderr.write(`${line}\n`);

function lineOf(fields: LogFields): string {
  try {
    return JSON.stringify(fields, readable);
  } catch {
    return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, writable(value)])));
  }
}

/** What is not JSON, because it is circular or throws when it is read, becomes text. */
function writable(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, readable) ?? "null");
  } catch {
    return textOf(value);
  }
}

function textOf(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    return "(cannot be shown)";
  }
}

/** Errors would be written as `{}`. */
function readable(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === "bigint" ? String(value) : value;
  const { code, stack, message, cause } = value as NodeJS.ErrnoException & { cause?: unknown };
  // What has a code of ours is explained by it; where it was thrown says nothing more.
  const where = value instanceof KubeError ? undefined : stack;
  return { message, code, stack: where, cause };
}
