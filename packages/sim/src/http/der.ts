/** The few forms of ASN.1 that certificates are written in. Pure. */

/** A value with its tag and length before it. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left >>>= 8) bytes.unshift(left & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
export const octets = (bytes: Uint8Array) => tagged(0x04, bytes);
export const bits = (bytes: Uint8Array, unused = 0) => tagged(0x03, Buffer.from([unused]), bytes);
export const yes = tagged(0x01, Buffer.from([0xff]));
export const text = (value: string) => tagged(0x0c, Buffer.from(value));
/** "20000101000000Z" */
export const time = (value: string) => tagged(0x18, Buffer.from(value));
/** Inside of a structure, by its number. */
export const explicit = (number: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | number, ...parts);
export const implicit = (number: number, bytes: Uint8Array) => tagged(0x80 | number, bytes);

/** A number that is not negative. */
export function integer(bytes: Uint8Array): Buffer {
  // As few bytes as will do: a zero in front only if the number would look negative without it.
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  const positive = (digits[0] as number) & 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits;
  return tagged(0x02, positive);
}

/** "1.2.840.10045.4.3.2" */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift(0x80 | (left & 0x7f));
  return bytes;
}
