/** How patches are refused, worded as the real API server words it. */
import { Refusal } from "../api/refusal.ts";

/** The patch is understood, and does not fit the object. The real server keeps the reason to itself. */
export function doesNotApply(_why: string): Refusal {
  const message = "the server rejected our request due to an error in our request";
  return new Refusal(422, "Invalid", message, { details: {} });
}

/** What the real server did not expect to go wrong: a failure of its own, it says. */
export function unexpected(message: string): Refusal {
  return new Refusal(500, "", message);
}

export function tooManyOperations(limit: number, count: number): Refusal {
  const why = `The allowed maximum operations in a JSON patch is ${limit}, got ${count}`;
  return new Refusal(413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
}
