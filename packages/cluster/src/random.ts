/** The chance of this package: certificate serial numbers and the choice of ports. Nothing here has to repeat. */
import { randomBytes, randomInt } from "node:crypto";

/** A whole number from `low` up to, and without, `high`. */
export function randomBetween(low: number, high: number): number {
  return randomInt(low, high);
}

/** Random bytes in hexadecimal. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
