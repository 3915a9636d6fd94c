/** Objects of built-in kinds that were changed at random, mostly a little: for comparing two servers. Pure. */
import { integer, pick, type Random } from "@berth/kube";
import { isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { AMOUNTS, KEYS, NUMBERS, PORTS, TEXTS, TEXTS_OF } from "./random-values.ts";

/** What the server decides, or what cannot be the same in two clusters. */
const LEFT_ALONE = new Set([
  "apiVersion",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "generateName",
  "generation",
  "kind",
  "managedFields",
  "name",
  "namespace",
  "resourceVersion",
  "selfLink",
  "status",
  "uid",
]);
/** Kinds of volumes, and rights, that nobody uses any more; their details are not looked at. */
const OLD = new Set([
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "configSource",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
  "iscsi",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "rbd",
  "scaleIO",
  "storageos",
  "vsphereVolume",
  "windowsOptions",
]);
const DEEPEST = 9;

export class RandomObjects {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** An object with some changes. */
  changed(object: JsonObject, schema: SchemaNode): JsonObject {
    let result = object;
    for (let changes = integer(this.#random, 1, 4); changes > 0; changes--) result = this.#inObject(result, schema, 0);
    return result;
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  /** `undefined` for nothing. */
  #within(value: unknown, node: SchemaNode, field: string, depth: number): unknown {
    if (this.#chance(0.12)) return this.#chance(0.25) ? undefined : this.#any(node, field, depth);
    if (node.type === "object" && isObject(value)) return this.#inObject(value, node, depth);
    if (node.type === "array" && Array.isArray(value)) return this.#inList(value, node, field, depth);
    if (node.type === "map" && isObject(value)) return this.#inMap(value, node, depth);
    return this.#any(node, field, depth);
  }

  #inObject(value: JsonObject, node: SchemaNode, depth: number): JsonObject {
    const fields = fieldsOf(node, depth);
    if (fields.length === 0) return value;
    const present = fields.filter((name) => value[name] !== undefined);
    const name = pick(this.#random, present.length > 0 && this.#chance(0.75) ? present : fields);
    const inner = node.fields?.[name] as SchemaNode;
    const next =
      value[name] === undefined ? this.#any(inner, name, depth + 1) : this.#within(value[name], inner, name, depth + 1);
    const { [name]: _, ...rest } = value;
    return next === undefined ? rest : { ...rest, [name]: next };
  }

  #inList(list: readonly unknown[], { element }: SchemaNode, field: string, depth: number): unknown[] {
    const node = element as SchemaNode;
    if (list.length === 0 || this.#chance(0.15)) return [...list, this.#any(node, field, depth + 1)];
    if (this.#chance(0.08)) return [...list, list[0]];
    if (this.#chance(0.08)) return list.slice(1);
    const place = integer(this.#random, 0, list.length);
    const next = this.#within(list[place], node, field, depth + 1);
    return next === undefined ? list.filter((_, index) => index !== place) : list.with(place, next);
  }

  #inMap(map: JsonObject, { element }: SchemaNode, depth: number): JsonObject {
    const keys = Object.keys(map);
    const value = this.#any(element as SchemaNode, "", depth + 1);
    if (keys.length === 0 || this.#chance(0.5)) return { ...map, [pick(this.#random, KEYS)]: value };
    const key = pick(this.#random, keys);
    const { [key]: _, ...rest } = map;
    return this.#chance(0.3) ? rest : { ...rest, [key]: value };
  }

  #any(node: SchemaNode, field: string, depth: number): unknown {
    switch (node.type) {
      case "string":
        return this.#text(node, field);
      case "integer":
        return pick(this.#random, NUMBERS);
      case "number":
        return pick(this.#random, [0, 1, 1.5]);
      case "boolean":
        return this.#chance(0.5);
      case "intOrString":
        return pick(this.#random, PORTS);
      case "array":
        return this.#several(depth, () => this.#any(node.element as SchemaNode, field, depth + 1));
      case "map":
        return Object.fromEntries(
          this.#several(depth, () => [pick(this.#random, KEYS), this.#any(node.element as SchemaNode, "", depth + 1)]),
        );
      case "object":
        return this.#object(node, depth);
      case "any":
        return {};
    }
  }

  /** At least one: the real server remembers that a list was there though it is empty. */
  #several<T>(depth: number, make: () => T): T[] {
    return Array.from({ length: depth > DEEPEST ? 1 : integer(this.#random, 1, 3) }, make);
  }

  #object(node: SchemaNode, depth: number): JsonObject {
    const result: JsonObject = {};
    if (depth > DEEPEST) return result;
    const fields = fieldsOf(node, depth);
    for (const name of fields) {
      const share = node.required?.includes(name) ? 0.85 : fields.length > 8 ? 0.12 : 0.35;
      if (this.#chance(share)) result[name] = this.#any(node.fields?.[name] as SchemaNode, name, depth + 1);
    }
    return result;
  }

  #text({ format }: SchemaNode, field: string): string {
    switch (format) {
      case "quantity":
        return pick(this.#random, AMOUNTS);
      case "date-time":
        return pick(this.#random, ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"]);
      case "micro-time":
        return "2026-01-01T00:00:00.000000Z";
      case "byte":
        return pick(this.#random, ["ZA==", "e30="]);
      default: {
        const known = TEXTS_OF.get(field);
        return pick(this.#random, known && this.#chance(0.85) ? known : TEXTS);
      }
    }
  }
}

function fieldsOf({ fields = {} }: SchemaNode, depth: number): string[] {
  return Object.keys(fields).filter((name) => !(depth <= 1 && LEFT_ALONE.has(name)) && !OLD.has(name));
}
