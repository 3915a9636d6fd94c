/** Reads what people wrote into a job: nobody has checked it, so that every mistake is told with its place. Pure. */
import { KubeError, Quantity } from "@berth/kube";
import { refuse } from "./refusal.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** An object; what is missing is an empty one. @param path - Where it stands, for people: "sparkSpec.executor". */
export function objectAt(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) return wrong(path, "an object", value);
  return value as Fields;
}

/** An object without some of its fields. */
export function without<T extends object, K extends string>(object: T, ...names: readonly K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name as K))) as Omit<T, K>;
}

/** A list of objects; what is missing is an empty one. */
export function objectsAt(value: unknown, path: string): readonly Fields[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return wrong(path, "a list", value);
  return value.map((each, index) => objectAt(each, `${path}[${index}]`));
}

/** A text; numbers and truth values are taken for what they look like, as YAML makes them of texts without quotes. */
export function textAt(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return wrong(path, "a text", value);
}

/** Texts by name. */
export function textsAt(value: unknown, path: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, each] of Object.entries(objectAt(value, path))) {
    const text = textAt(each, `${path}["${name}"]`);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** A whole number from 1 on. */
export function countAt(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const count = Number(textAt(value, path));
  return Number.isSafeInteger(count) && count >= 1 ? count : wrong(path, "a whole number from 1 on", value);
}

/** An amount, as Kubernetes writes them. */
export function quantityAt(value: unknown, path: string): Quantity {
  try {
    return Quantity.parse(textAt(value, path) ?? "");
  } catch (error) {
    if (error instanceof KubeError) return wrong(path, 'a quantity like "700m" or "896Mi"', value);
    throw error;
  }
}

function wrong(path: string, expected: string, value: unknown): never {
  return refuse("BERTH_APPLICATION_INVALID", `${path} must be ${expected}, not ${JSON.stringify(value)}`);
}
