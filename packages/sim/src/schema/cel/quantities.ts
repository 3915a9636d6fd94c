/** `quantity("1.5Gi")` and what can be done with it. */

import { Quantity } from "@berth/kube";
import type { Environment } from "@marcbachmann/cel-js";

function parsed(text: string): Quantity | undefined {
  try {
    return Quantity.parse(text);
  } catch {
    return undefined;
  }
}

function quantity(text: string): Quantity {
  const found = parsed(text);
  if (!found)
    throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  return found;
}

const NANO = 1_000_000_000n;
const isInteger = ({ nano }: Quantity) => nano % NANO === 0n;
const ofUnits = (units: bigint) => Quantity.ofNano(units * NANO);

export function registerQuantities(env: Environment): void {
  env
    .registerType("kubernetes.Quantity", { ctor: Quantity, fields: {} })
    .registerFunction("quantity(string): kubernetes.Quantity", quantity)
    .registerFunction("isQuantity(string): bool", (text: string) => parsed(text) !== undefined)
    .registerFunction("kubernetes.Quantity.isInteger(): bool", isInteger)
    .registerFunction("kubernetes.Quantity.asInteger(): int", (self: Quantity) => {
      if (!isInteger(self)) throw new Error("cannot convert value to integer");
      return self.nano / NANO;
    })
    .registerFunction("kubernetes.Quantity.asApproximateFloat(): double", (self: Quantity) => self.toNumber())
    .registerFunction("kubernetes.Quantity.sign(): int", ({ nano }: Quantity) =>
      nano > 0n ? 1n : nano < 0n ? -1n : 0n,
    )
    .registerFunction("kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity", (a: Quantity, b: Quantity) =>
      a.plus(b),
    )
    .registerFunction("kubernetes.Quantity.add(int): kubernetes.Quantity", (a: Quantity, b: bigint) =>
      a.plus(ofUnits(b)),
    )
    .registerFunction("kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity", (a: Quantity, b: Quantity) =>
      a.minus(b),
    )
    .registerFunction("kubernetes.Quantity.sub(int): kubernetes.Quantity", (a: Quantity, b: bigint) =>
      a.minus(ofUnits(b)),
    )
    .registerFunction(
      "kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool",
      (a: Quantity, b: Quantity) => a.compare(b) < 0,
    )
    .registerFunction(
      "kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool",
      (a: Quantity, b: Quantity) => a.compare(b) > 0,
    )
    .registerFunction("kubernetes.Quantity.compareTo(kubernetes.Quantity): int", (a: Quantity, b: Quantity) =>
      BigInt(a.compare(b)),
    )
    .registerOperator("kubernetes.Quantity == kubernetes.Quantity", (a: Quantity, b: Quantity) => a.equals(b));
}
