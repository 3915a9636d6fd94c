/**
 * Kubernetes' quantities ("700m", "896Mi", "1e3"), with exact arithmetic.
 *
 * A quantity is a whole number of billionths, kept as a bigint: nothing is rounded that Kubernetes does not round, and
 * it rounds only what is finer than a billionth, away from zero. A quantity remembers the kind of its suffix and writes
 * itself in Kubernetes' canonical form: without a fraction, and with the largest suffix that allows that.
 */
import { KubeError } from "../errors.ts";

/** How a quantity is written: powers of 1024, of 1000, or an exponent. */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const NANO = 1_000_000_000n;
/** Kubernetes caps what it reads at 2^63-1 whole units. */
const LARGEST = (2n ** 63n - 1n) * NANO;

const DECIMAL = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const BINARY = new Map([
  ["Ki", 10],
  ["Mi", 20],
  ["Gi", 30],
  ["Ti", 40],
  ["Pi", 50],
  ["Ei", 60],
]);

const PATTERN = /^([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d+|[a-zA-Z]*)$/;

/** An amount of something, exact: `700m`, `896Mi`, `1e3`. */
export class Quantity {
  /** Billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;

  private constructor(nano: bigint, format: QuantityFormat) {
    this.nano = nano;
    this.format = format;
  }

  static readonly zero = new Quantity(0n, "DecimalSI");

  /** Reads a quantity as the API server does. A number is read as its decimal text. */
  static parse(text: string | number): Quantity {
    const match = String(text).match(PATTERN);
    if (!match) throw new KubeError("KUBE_QUANTITY_INVALID", `"${text}" is not a quantity`);
    const [, sign, number = "", suffix = ""] = match;
    const { format, base, exponent } = readSuffix(suffix, String(text));
    const [whole = "", fraction = ""] = number.split(".");
    const digits = BigInt(`${whole}${fraction}`);

    // digits · 10^-fraction · base^exponent, in billionths
    let top = digits * NANO;
    let bottom = 10n ** BigInt(fraction.length);
    if (exponent >= 0) top *= base ** BigInt(exponent);
    else bottom *= base ** BigInt(-exponent);
    const nano = smaller(divideUp(top, bottom), LARGEST);
    return new Quantity(sign === "-" ? -nano : nano, format);
  }

  /** A quantity of so many billionths. */
  static ofNano(nano: bigint, format: QuantityFormat = "DecimalSI"): Quantity {
    return new Quantity(nano, format);
  }

  /** The sum, in this quantity's format (in the other's if this is zero, as Kubernetes does it). */
  plus(other: Quantity | string): Quantity {
    const that = asQuantity(other);
    return new Quantity(this.nano + that.nano, this.nano === 0n ? that.format : this.format);
  }

  minus(other: Quantity | string): Quantity {
    const that = asQuantity(other);
    return new Quantity(this.nano - that.nano, this.nano === 0n ? that.format : this.format);
  }

  /** So many times this quantity; a whole number, so that the result is exact. */
  times(factor: number | bigint): Quantity {
    return new Quantity(this.nano * BigInt(factor), this.format);
  }

  /** How often `other` fits into this quantity: how many slots of that size a node has room for. */
  dividedBy(other: Quantity | string): number {
    const that = asQuantity(other);
    if (that.nano === 0n) throw new RangeError("division by a quantity of zero");
    return Number(this.nano / that.nano);
  }

  /** Negative, zero or positive, as for `sort`. */
  compare(other: Quantity | string): number {
    const that = asQuantity(other);
    return this.nano < that.nano ? -1 : this.nano > that.nano ? 1 : 0;
  }

  equals(other: Quantity | string): boolean {
    return this.compare(other) === 0;
  }

  get isZero(): boolean {
    return this.nano === 0n;
  }

  /** Whole thousandths, rounded away from zero: what schedulers count CPUs in. */
  get milli(): bigint {
    return divideAway(this.nano, 1_000_000n);
  }

  /** Whole units, rounded away from zero: what schedulers count bytes in. */
  get units(): bigint {
    return divideAway(this.nano, NANO);
  }

  /** The nearest number; for showing and for charts, not for arithmetic. */
  toNumber(): number {
    return Number(this.nano / NANO) + Number(this.nano % NANO) / Number(NANO);
  }

  /** The canonical form, as the API server would write it. */
  toString(): string {
    if (this.nano === 0n) return "0";
    if (this.format === "BinarySI" && this.nano % NANO === 0n && absolute(this.nano) >= 1024n * NANO) {
      return this.#binary();
    }
    // What is small or has a fraction is written with a decimal suffix, also if it came with a binary one.
    let [mantissa, exponent] = [this.nano, -9];
    while (exponent < 18 && mantissa % 1000n === 0n) [mantissa, exponent] = [mantissa / 1000n, exponent + 3];
    if (this.format === "DecimalExponent") return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
    const suffix = [...DECIMAL].find(([, power]) => power === exponent)?.[0];
    return `${mantissa}${suffix}`;
  }

  toJSON(): string {
    return this.toString();
  }

  #binary(): string {
    let [mantissa, step] = [this.nano / NANO, 0];
    const suffixes = ["", ...BINARY.keys()];
    while (step < suffixes.length - 1 && mantissa % 1024n === 0n) [mantissa, step] = [mantissa / 1024n, step + 1];
    return `${mantissa}${suffixes[step]}`;
  }
}

function readSuffix(suffix: string, text: string): { format: QuantityFormat; base: bigint; exponent: number } {
  const binary = BINARY.get(suffix);
  if (binary !== undefined) return { format: "BinarySI", base: 2n, exponent: binary };
  const decimal = DECIMAL.get(suffix);
  if (decimal !== undefined) return { format: "DecimalSI", base: 10n, exponent: decimal };
  if (/^[eE][+-]?\d+$/.test(suffix)) {
    const exponent = Number(suffix.slice(1));
    // Beyond this every number is capped, or a billionth; computing it would only take time and memory.
    return { format: "DecimalExponent", base: 10n, exponent: Math.max(-1000, Math.min(1000, exponent)) };
  }
  throw new KubeError("KUBE_QUANTITY_INVALID", `"${text}" is not a quantity: there is no suffix "${suffix}"`);
}

function asQuantity(value: Quantity | string): Quantity {
  return typeof value === "string" ? Quantity.parse(value) : value;
}

function divideUp(top: bigint, bottom: bigint): bigint {
  return (top + bottom - 1n) / bottom;
}

function divideAway(value: bigint, divisor: bigint): bigint {
  return value < 0n ? -divideUp(-value, divisor) : divideUp(value, divisor);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
