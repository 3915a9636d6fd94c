/** Random objects of a kind: mostly as its schema wants them, with whatever people and programs get wrong mixed in. */
import { integer, pick, type Random } from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import type { SchemaNode } from "../schema.ts";

export interface Mistakes {
  /** How often a value is of another type than it should be. */
  readonly wrongType: number;
  /** How often an object has a field that its kind does not have. */
  readonly unknown: number;
}

const DEEPEST = 9;

export function randomObject(schema: SchemaNode, random: Random, mistakes: Mistakes): JsonObject {
  return object(schema, random, mistakes, 0);
}

const chance = (random: Random, probability: number) => random.next() < probability;

function object(node: SchemaNode, random: Random, mistakes: Mistakes, depth: number): JsonObject {
  const result: JsonObject = {};
  const wanted = depth < 2 ? 0.4 : depth < DEEPEST ? 0.2 : 0;
  for (const [key, field] of Object.entries(node.fields ?? {})) {
    const isRequired = node.required?.includes(key) && chance(random, 0.9);
    if (isRequired || chance(random, wanted)) result[key] = value(field, random, mistakes, depth + 1);
  }
  if (chance(random, mistakes.unknown)) result[pick(random, ["foo", "Name", "constructor", "a.b"])] = junk(random, 0);
  return result;
}

function value(node: SchemaNode, random: Random, mistakes: Mistakes, depth: number): unknown {
  if (chance(random, mistakes.wrongType)) return junk(random, 0);
  if (chance(random, 0.04)) return null;
  switch (node.type) {
    case "object":
      return object(node, random, mistakes, depth);
    case "map":
      return Object.fromEntries(
        items(node, random, mistakes, depth).map((item) => [pick(random, ["a", "cpu", "x.y/z"]), item]),
      );
    case "array":
      return items(node, random, mistakes, depth);
    case "string":
      return text(node, random);
    case "integer":
      return pick(random, [0, 0, 1, 2, 80, 300, -1, 2 ** 31 - 1]);
    case "number":
      return pick(random, [0, 1, 0.5, -1]);
    case "boolean":
      return chance(random, 0.5);
    case "intOrString":
      return pick<unknown>(random, [0, 80, "http", "50%", ""]);
    default:
      return node.alternatives?.object ? { type: "string" } : { any: [1, "a", null, { b: {} }] };
  }
}

function items(node: SchemaNode, random: Random, mistakes: Mistakes, depth: number): unknown[] {
  const length = depth > DEEPEST ? 0 : pick(random, [0, 1, 1, 2]);
  return Array.from({ length }, () => value(node.element ?? { type: "any" }, random, mistakes, depth + 1));
}

const TIMES = ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678Z", "2020-01-02T03:04:05+02:00", "2020-02-29T23:59:59Z"];
const MICRO_TIMES = ["2020-01-02T03:04:05.000006Z", "2020-01-02T03:04:05.100000-01:30"];
const QUANTITIES = [
  "0",
  "1",
  "0.5",
  "1500m",
  "1024Ki",
  "1.5Gi",
  "1e3",
  "100M",
  " 2 ",
  "-1",
  "+3",
  ".5",
  "1000000",
  "0.1m",
];

function text({ format, enum: values }: SchemaNode, random: Random): unknown {
  switch (format) {
    case "date-time":
      return pick(random, TIMES);
    case "micro-time":
      return pick(random, MICRO_TIMES);
    case "quantity":
      return pick<unknown>(random, [...QUANTITIES, 1, 0.25, 0]);
    case "byte":
      return pick(random, ["", "YWJj", "YWI=", "YW\nJj"]);
    default:
      return values ? pick(random, values) : pick(random, ["", "a", "a", "b-c", "10.0.0.1", "v1", "Always"]);
  }
}

/** Any JSON at all. */
function junk(random: Random, depth: number): unknown {
  switch (integer(random, 0, depth > 3 ? 5 : 7)) {
    case 0:
      return null;
    case 1:
      return pick(random, ["", "x", "5", "true", "2020-01-02T03:04:05Z", "YWJj"]);
    case 2:
      return pick(random, [0, -1, 1.5, 1e10, 2 ** 40]);
    case 3:
      return chance(random, 0.5);
    case 4:
      return pick<unknown>(random, [[], {}]);
    case 5:
      return [junk(random, depth + 1)];
    default:
      return { [pick(random, ["a", "name", "constructor"])]: junk(random, depth + 1) };
  }
}
