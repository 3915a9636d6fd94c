/** Quantities of objects, which come in their canonical form. The same few come with every object, so they are read once. */
import { Quantity } from "@berth/kube";

export type ResourceList = { [name: string]: string | undefined };

const REMEMBERED = 10_000;
const MILLI = 1_000_000n;
const UNIT = 1_000_000_000n;
const known = new Map<string, Quantity>();

/** Nothing counts as zero. */
export function quantityOf(text: string | undefined): Quantity {
  if (text === undefined) return Quantity.zero;
  const before = known.get(text);
  if (before) return before;
  const quantity = Quantity.parse(text);
  // Whoever sends ever new quantities must not fill the memory.
  if (known.size < REMEMBERED) known.set(text, quantity);
  return quantity;
}

/** Puts a list of resources into whole thousandths, in place: nothing finer is counted. */
export function roundResources(list: ResourceList | undefined): void {
  for (const name in list) {
    const text = list[name] as string;
    // Only these two suffixes are finer.
    if (!text.endsWith("n") && !text.endsWith("u") && !text.includes("e")) continue;
    const quantity = quantityOf(text);
    if (quantity.nano % MILLI !== 0n) list[name] = Quantity.ofNano(quantity.milli * MILLI, quantity.format).toString();
  }
}

export function isLess(a: string | undefined, b: string | undefined): boolean {
  return a !== b && quantityOf(a).nano < quantityOf(b).nano;
}

export function isSameAmount(a: string | undefined, b: string | undefined): boolean {
  return a === b || quantityOf(a).nano === quantityOf(b).nano;
}

export function isNegative(text: string | undefined): boolean {
  return text?.startsWith("-") ?? false;
}

export function isPositive(text: string | undefined): boolean {
  return text !== undefined && text !== "0" && !text.startsWith("-");
}

/** Whether an amount is so many whole times a size, which is a text that may be no quantity at all. */
export function isPositiveMultiple(amount: string, size: string): boolean {
  try {
    const unit = quantityOf(size);
    return unit.nano > 0n && unit.nano % UNIT === 0n && quantityOf(amount).units % unit.units === 0n;
  } catch {
    return false;
  }
}

/** Whether there is no fraction in it that anybody would count. */
export function isWholeAmount(text: string): boolean {
  return quantityOf(text).milli % 1000n === 0n;
}
