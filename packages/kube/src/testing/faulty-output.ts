/** Answers and watches on their way out, and what a fault does to them there. */
import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import type { Clock, Timer } from "../time/clock.ts";
import { integer, type Random } from "../time/random.ts";
import type { Answer } from "./answers.ts";
import type { Fault } from "./faults.ts";
import type { WatchEvent } from "./selection.ts";
import { ApiFailure } from "./status.ts";
import { INITIAL_EVENTS_END, type WatchOutput } from "./watch-stream.ts";

const GARBAGE = '{"kind": <html>this is not JSON</html>\n';

/** The answer to a request that is not carried out. */
export function refusal({ code, retryAfter, bare = false }: Extract<Fault, { type: "status" }>): Answer {
  const details = retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } };
  const { status, message } = new ApiFailure(code, code === 401 ? "Unauthorized" : `refused with ${code}`, details);
  const headers = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
  return { code, body: bare ? `${message}\n` : status, headers };
}

export function sendAnswer(response: ServerResponse, answer: Answer, fault: Fault | undefined, random: Random): void {
  const { code, body, headers } = answer;
  const isText = typeof body === "string";
  const text = isText ? body : `${JSON.stringify(body)}\n`;
  const head = { "content-type": isText ? "text/plain; charset=utf-8" : "application/json", ...headers };
  const length = { "content-length": Buffer.byteLength(text) };
  switch (fault?.type) {
    case "garbage":
      response.writeHead(code, head).end(GARBAGE);
      break;
    case "cut":
      response.writeHead(code, { ...head, ...length });
      cutInside(response, text);
      break;
    case "slow":
      dribbling(response.writeHead(code, head), random).end(text);
      break;
    default:
      response.writeHead(code, { ...head, ...length }).end(text);
  }
}

/** Starts the answer to a watch. */
export function watchOutput(
  response: ServerResponse,
  fault: Fault | undefined,
  {
    clock,
    random,
    patience,
  }: { clock: Clock; random: Random /** How long a swapped event waits. */; patience: number },
): WatchOutput {
  response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  switch (fault?.type) {
    case "slow":
      return linesTo(dribbling(response, random));
    case "double":
      return linesTo(response, 2);
    case "swap":
      return swapping(response, clock, patience);
    case "cut":
    case "garbage":
    case "silence":
    case "end":
    case "error":
      return striking(response, fault);
    default:
      return linesTo(response);
  }
}

function linesTo(body: Writable, times = 1): WatchOutput {
  return { send: (event) => body.write(lineOf(event).repeat(times)), end: () => body.end() };
}

type LateFault = Extract<Fault, { type: "cut" | "garbage" | "silence" | "end" | "error" }>;

/** Honest until so many events have been delivered. */
function striking(response: ServerResponse, fault: LateFault): WatchOutput {
  const { after = 0 } = fault;
  let delivered = 0;
  let over = false;
  const strike = () => {
    over = fault.type === "silence" || fault.type === "end" || fault.type === "error";
    if (fault.type === "garbage") response.write(GARBAGE);
    if (fault.type === "end") response.end();
    if (fault.type === "error") response.end(lineOf(errorEvent(fault.code)));
  };
  if (after === 0) strike();
  return {
    send: (event) => {
      if (over) return;
      over = fault.type === "cut" && delivered >= after;
      if (over) return cutInside(response, lineOf(event));
      response.write(lineOf(event));
      if (!isRoutine(event) && ++delivered === after) strike();
    },
    end: () => void (over || response.end()),
  };
}

/** Holds every other event back until the next one overtakes it, or there is none for a while. */
function swapping(response: ServerResponse, clock: Clock, patience: number): WatchOutput {
  let held: { readonly line: string; readonly timer: Timer } | undefined;
  const release = () => {
    const line = held?.line ?? "";
    held?.timer.cancel();
    held = undefined;
    return line;
  };
  response.once("close", release);
  return {
    send: (event) => {
      // A bookmark says that everything up to it has been told, so nothing may come after it that happened before.
      if (event.type === "BOOKMARK" || event.type === "ERROR") response.write(release() + lineOf(event));
      else if (held) response.write(lineOf(event) + release());
      else held = { line: lineOf(event), timer: clock.setTimer(patience, () => response.write(release())) };
    },
    end: () => response.end(release()),
  };
}

/** Passes bytes on a few at a time, each lot as a chunk of its own. */
function dribbling(response: ServerResponse, random: Random): Writable {
  const flushed = (bytes: Buffer) => new Promise((resolve) => response.write(bytes, resolve));
  return new Writable({
    async write(bytes: Buffer, _encoding, done) {
      for (let start = 0, end = 0; start < bytes.length && !response.destroyed; start = end) {
        end = start + integer(random, 1, 17);
        await flushed(bytes.subarray(start, end));
      }
      done();
    },
    final: (done) => void response.end(done),
  });
}

/** Sends the first half, and ends the connection once it has left. */
function cutInside(response: ServerResponse, text: string): void {
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

function errorEvent(code: number): WatchEvent {
  const message = code === 410 ? "too old resource version: 1 (2)" : "an error on the server";
  return { type: "ERROR", object: new ApiFailure(code, message).status };
}

/** Whether it is one of the bookmarks that come by the clock, which nobody can count on. */
function isRoutine({ type, object }: WatchEvent): boolean {
  return type === "BOOKMARK" && object.metadata.annotations?.[INITIAL_EVENTS_END] === undefined;
}

function lineOf(event: WatchEvent): string {
  return `${JSON.stringify(event)}\n`;
}
