/** Protobuf as it travels: numbers and bytes, each with the number of its field. Pure. */

/** The bytes are not what they should be. */
export class Malformed extends Error {}

/** A number, or the bytes of a text, a message, or whatever the field is. */
export type WireValue = bigint | Uint8Array;

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

/** All fields of a message, in the order in which they come. */
export function* wireFields(bytes: Uint8Array): Generator<[number: number, value: WireValue]> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Malformed("unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Malformed("integer overflow");
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Malformed("unexpected EOF");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (number === 0) throw new Malformed("illegal tag 0");
    if (type === VARINT) yield [number, varint()];
    else if (type === BYTES) yield [number, take(Number(varint()))];
    else if (type === FIXED64) yield [number, take(8)];
    else if (type === FIXED32) yield [number, take(4)];
    else throw new Malformed(`illegal wireType ${type}`);
  }
}
