/** IP addresses and ranges of them, worded as the API server words it. Pure. */
import { isIPv4, isIPv6 } from "node:net";
import type { FieldErrors } from "../../api/field-errors.ts";

const LEADING_ZEROS = /(^|\.)0+(?=\d)/g;
const MAPPED = /^::ffff:/i;

/** An address as lenient servers take it, or `undefined`. Zeros in front of a number are dropped. */
function readAddress(text: string): string | undefined {
  if (isIPv4(text) || (isIPv6(text) && !text.includes("%"))) return text;
  const plain = text.replace(LEADING_ZEROS, "$1");
  return isIPv4(plain) ? plain : undefined;
}

export function isAddress(text: string): boolean {
  return readAddress(text) !== undefined;
}

/** @param accepted - Addresses that were there before, and stay allowed whatever they look like. */
export function checkAddress(
  text: string,
  field: string,
  errors: FieldErrors,
  accepted: readonly (string | undefined)[] = [],
): void {
  if (accepted.includes(text)) return;
  const address = readAddress(text);
  if (address === undefined) {
    errors.invalid(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  } else if (address !== text) errors.invalid(field, text, "must not have leading 0s");
  else if (isMapped(text)) errors.invalid(field, text, "must not be an IPv4-mapped IPv6 address");
}

function isMapped(text: string): boolean {
  return MAPPED.test(text) && !/^::ffff:[0-9a-f]{1,4}$/i.test(text);
}

export function checkRange(
  text: string,
  field: string,
  errors: FieldErrors,
  accepted: readonly (string | undefined)[] = [],
): void {
  if (accepted.includes(text)) return;
  const [given = "", bits = "", ...more] = text.split("/");
  const address = readAddress(given);
  const six = address?.includes(":");
  if (address === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (six ? 128 : 32)) {
    errors.invalid(field, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  } else if (address !== given || (bits.length > 1 && bits.startsWith("0"))) {
    errors.invalid(field, text, "must not have leading 0s in IP or prefix length");
  } else if (six && isMapped(given)) errors.invalid(field, text, "must not have an IPv4-mapped IPv6 address");
  else if (hasHostBits(address, Number(bits))) {
    errors.invalid(field, text, "must not have bits set beyond the prefix length");
  }
}

/** Whether the addresses are of both families, and no more than one of each. */
export function isDualStack(addresses: readonly string[]): boolean {
  return (
    addresses.length === 2 &&
    addresses.some((each) => each.includes(":")) &&
    addresses.some((each) => !each.includes(":"))
  );
}

/** What may not be the address of an endpoint: what means this machine, or none. */
export function checkEndpointAddress(text: string, field: string, errors: FieldErrors): void {
  const address = readAddress(text);
  if (address === undefined) {
    errors.invalid(field, text, "must be a valid IP address");
    return;
  }
  const words = addressWords(address);
  const first = words[0] as number;
  const four = !address.includes(":");
  if (words.every((word) => word === 0)) errors.invalid(field, text, `may not be unspecified (${text})`);
  if (four ? first >> 8 === 127 : words.every((word, index) => word === (index === 7 ? 1 : 0))) {
    errors.invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (four ? first === 0xa9fe : (first & 0xffc0) === 0xfe80) {
    errors.invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (four ? first === 0xe000 && (words[1] as number) >> 8 === 0 : (first & 0xff0f) === 0xff02) {
    errors.invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

function hasHostBits(address: string, bits: number): boolean {
  return addressWords(address).some((word, index) => {
    const kept = Math.max(0, Math.min(16, bits - index * 16));
    return (word & (0xffff >> kept)) !== 0;
  });
}

/** The 16-bit numbers that an address consists of: two or eight. */
function addressWords(address: string): number[] {
  if (!address.includes(":")) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  }
  const dot = address.lastIndexOf(":") + 1;
  const tail = address.slice(dot).includes(".") ? addressWords(address.slice(dot)) : undefined;
  const text = tail ? address.slice(0, dot) + tail.map((word) => word.toString(16)).join(":") : address;
  const [head = "", end] = text.split("::");
  const words = (part: string) => (part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16)));
  if (end === undefined) return words(head);
  const missing = 8 - words(head).length - words(end).length;
  return [...words(head), ...new Array<number>(Math.max(0, missing)).fill(0), ...words(end)];
}
