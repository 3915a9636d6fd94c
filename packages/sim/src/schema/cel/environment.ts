/** The language of rules: CEL, with what Kubernetes adds to it, and the types of one definition's objects. */
import { Environment } from "@marcbachmann/cel-js";
import type { SchemaNode } from "../schema.ts";
import { registerAddresses } from "./addresses.ts";
import { registerCollections } from "./collections.ts";
import { escaped } from "./names.ts";
import { registerQuantities } from "./quantities.ts";
import { type CelTypes, sameValue } from "./values.ts";

let base: Environment | undefined;

/** Making one takes long, and what is in it is the same for all. */
function kubernetes(): Environment {
  if (!base) {
    base = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
    registerCollections(base);
    registerQuantities(base);
    registerAddresses(base);
  }
  return base;
}

/** The types of a place with rules, and of everything in it. */
export class PlaceTypes implements CelTypes {
  readonly #env = kubernetes().clone();
  readonly #type: string | undefined;
  readonly #classes = new Map<SchemaNode, new () => Record<string, unknown>>();
  readonly #names = new Map<SchemaNode, string | undefined>();
  readonly #duration: (context: object) => unknown;

  constructor(place: SchemaNode) {
    this.#type = this.#typeName(place);
    this.#duration = kubernetes().clone().registerVariable("text", "string").parse("duration(text)");
  }

  /** An environment with `self` and `oldSelf` as values of the place; `undefined` if rules cannot see it. */
  environment(optionalOldSelf: boolean): Environment | undefined {
    if (this.#type === undefined) return undefined;
    return this.#env
      .clone()
      .registerVariable("self", this.#type)
      .registerVariable("oldSelf", optionalOldSelf ? `optional<${this.#type}>` : this.#type);
  }

  classOf(node: SchemaNode): (new () => Record<string, unknown>) | undefined {
    return this.#classes.get(node);
  }

  duration(text: string): unknown {
    return this.#duration({ text });
  }

  /** Registers the type of a place, and those of everything in it. */
  #typeName(node: SchemaNode): string | undefined {
    if (!this.#names.has(node)) this.#names.set(node, this.#typeOf(node));
    return this.#names.get(node);
  }

  #typeOf(node: SchemaNode): string | undefined {
    switch (node.type) {
      case "string":
        return TEXT_TYPES[node.format ?? ""] ?? "string";
      case "integer":
        return "int";
      case "number":
        return "double";
      case "boolean":
        return "bool";
      case "intOrString":
        return "dyn";
      case "array": {
        const item = node.element && this.#typeName(node.element);
        return item && `list<${item}>`;
      }
      case "map": {
        const value = node.element && this.#typeName(node.element);
        return value && `map<string, ${value}>`;
      }
      case "object":
        return this.#object(node);
      default:
        return undefined;
    }
  }

  #object(node: SchemaNode): string {
    const fields: Record<string, string> = {};
    for (const key in node.fields) {
      const [name, type] = [escaped(key), this.#typeName(node.fields[key] as SchemaNode)];
      if (name !== undefined && type !== undefined) fields[name] = type;
    }
    const name = `object.T${this.#classes.size}`;
    const Class = class {} as new () => Record<string, unknown>;
    // Otherwise a field that is not there would be found where all objects have it: "toString".
    Object.setPrototypeOf(Class.prototype, null);
    this.#classes.set(node, Class);
    this.#env.registerType(name, { ctor: Class, fields });
    this.#env.registerOperator(`${name} == ${name}`, sameValue);
    return name;
  }
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  date: "google.protobuf.Timestamp",
  "date-time": "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  byte: "bytes",
};
