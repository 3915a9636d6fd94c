/** Identifiers as Java and Go programs make them, of a given chance. */
import type { Random } from "@berth/kube";

const HEX = "0123456789abcdef";

export function hexadecimal(random: Random, digits: number): string {
  let text = "";
  // Six digits of each draw: 24 of its 53 bits.
  while (text.length < digits) {
    let bits = Math.floor(random.next() * 2 ** 24);
    for (let digit = 0; digit < 6; digit++) {
      text += HEX[bits & 15];
      bits >>= 4;
    }
  }
  return text.slice(0, digits);
}

/** A random UUID, version 4. */
export function uuid(random: Random): string {
  const digits = hexadecimal(random, 32);
  const variant = HEX[8 + (Number.parseInt(digits[16] ?? "0", 16) & 3)];
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
}
