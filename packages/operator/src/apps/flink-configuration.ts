/** Flink's options, as people write them into a FlinkDeployment. Pure. */
import { objectAt } from "./reading.ts";

/** Options by their whole names. */
export type FlinkOptions = Readonly<Record<string, unknown>>;

/** Deeper than this nothing is nested on purpose. */
const DEEPEST = 16;

/**
 * Options by their whole names: `{taskmanager: {numberOfTaskSlots: 2}}` means "taskmanager.numberOfTaskSlots", and Berth's own
 * must not stand beside a nested one of the same name. Simple values become texts, lists stay.
 */
export function flatOptions(value: unknown, path: string): FlinkOptions {
  const options: Record<string, unknown> = {};
  const add = (prefix: string, each: unknown, depth: number): void => {
    if (typeof each === "object" && each !== null && !Array.isArray(each) && depth < DEEPEST) {
      for (const [name, inner] of Object.entries(each))
        add(prefix === "" ? name : `${prefix}.${name}`, inner, depth + 1);
    } else if (each !== null && each !== undefined) options[prefix] = typeof each === "object" ? each : String(each);
  };
  add("", objectAt(value, path), 0);
  return options;
}

/** An option as text; lists are none. */
export function optionOf(options: FlinkOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * One pod template over another, as the operator does it: objects field by field; lists item by item, or by the names of the
 * items if it is told to.
 */
export function overlaid(below: unknown, above: unknown, byName: boolean): unknown {
  if (above === undefined || above === null) return below;
  if (Array.isArray(below) && Array.isArray(above)) return overlaidLists(below, above, byName);
  if (!isObject(below) || !isObject(above)) return above;
  const names = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...names].map((name) => [name, overlaid(below[name], above[name], byName)]));
}

function overlaidLists(below: readonly unknown[], above: readonly unknown[], byName: boolean): unknown[] {
  const nameOf = (item: unknown) => (isObject(item) && typeof item.name === "string" ? item.name : undefined);
  if (!byName || ![...below, ...above].every((item) => nameOf(item) !== undefined)) {
    const length = Math.max(below.length, above.length);
    return Array.from({ length }, (_, index) => overlaid(below[index], above[index], byName));
  }
  const over = (item: unknown) => above.find((each) => nameOf(each) === nameOf(item));
  const added = above.filter((item) => !below.some((each) => nameOf(each) === nameOf(item)));
  return [...below.map((item) => overlaid(item, over(item), byName)), ...added];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
