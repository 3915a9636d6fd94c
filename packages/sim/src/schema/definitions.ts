/** Schemas as they are generated into a file: definitions that refer to each other by name, linked when they are needed. */
import type { SchemaNode } from "./schema.ts";

/** A place as it is stored; with `ref` it is what that definition says, and what it says itself. */
export interface StoredNode
  extends Omit<SchemaNode, "type" | "fields" | "element" | "alternatives" | "name" | "always"> {
  readonly type?: SchemaNode["type"];
  readonly ref?: string;
  readonly element?: StoredNode;
  readonly fields?: Readonly<Record<string, StoredNode>>;
  readonly alternatives?: { readonly object?: StoredNode; readonly array?: StoredNode };
}

/** By their names in OpenAPI. */
export type StoredDefinitions = Readonly<Record<string, StoredNode>>;

/** What is said of a definition (under "") and of its fields. */
export type StoredDescriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Fields = Readonly<Record<string, SchemaNode>>;

/** Definitions, linked. Of most of them nobody ever asks, so each is linked when it is asked for. */
export class Definitions {
  readonly #stored: StoredDefinitions;
  readonly #descriptions: () => StoredDescriptions;
  readonly #objects = new Map<string, { readonly fields: Fields; readonly always: readonly string[] }>();

  /** @param descriptions - Only called when somebody asks for one. */
  constructor(stored: StoredDefinitions, descriptions: () => StoredDescriptions = () => ({})) {
    this.#stored = stored;
    this.#descriptions = descriptions;
  }

  /** The schema of a definition; `undefined` if there is none. */
  get(name: string): SchemaNode | undefined {
    return Object.hasOwn(this.#stored, name) ? this.link({ ref: name }, name, "") : undefined;
  }

  /** @internal */
  link(stored: StoredNode, owner: string, field: string): SchemaNode {
    return new LinkedNode(this, stored, this.stored(stored.ref), owner, field);
  }

  /** @internal */
  stored(name: string | undefined): StoredNode {
    if (name === undefined) return {};
    const found = this.#stored[name];
    if (!found) throw new Error(`there is no definition "${name}"`);
    return found;
  }

  /** @internal */
  object(name: string) {
    const known = this.#objects.get(name);
    if (known) return known;
    const fields: Record<string, SchemaNode> = Object.create(null);
    const stored = Object.entries(this.stored(name).fields ?? {});
    for (const [field, node] of stored) fields[field] = this.link(node, name, field);
    const always = stored.filter(([, { empty }]) => empty === "zero" || empty === "null").map(([field]) => field);
    const object = { fields, always };
    this.#objects.set(name, object);
    return object;
  }

  /** @internal */
  description(owner: string, field: string): string | undefined {
    return this.#descriptions()[owner]?.[field];
  }
}

/** All of one shape, since every write looks at many of them. */
class LinkedNode implements SchemaNode {
  readonly type: SchemaNode["type"];
  readonly name: string | undefined;
  readonly required: readonly string[] | undefined;
  readonly enum: readonly unknown[] | undefined;
  readonly format: string | undefined;
  readonly default: unknown;
  readonly empty: SchemaNode["empty"];
  readonly listType: SchemaNode["listType"];
  readonly mapKeys: SchemaNode["mapKeys"];
  readonly mapType: SchemaNode["mapType"];
  readonly patchStrategy: SchemaNode["patchStrategy"];
  readonly patchMergeKey: SchemaNode["patchMergeKey"];
  readonly element: SchemaNode | undefined;
  readonly alternatives: SchemaNode["alternatives"];
  readonly #definitions: Definitions;
  readonly #owner: string;
  readonly #field: string;
  #object: { readonly fields: Fields; readonly always: readonly string[] } | undefined;

  constructor(definitions: Definitions, own: StoredNode, target: StoredNode, owner: string, field: string) {
    const {
      type = "any",
      required,
      enum: values,
      format,
      mapType,
      element,
      alternatives,
      listType,
    } = { ...target, ...own };
    const link = (node: StoredNode) => definitions.link(node, owner, field);
    this.type = type;
    this.name = own.ref;
    this.required = required;
    this.enum = values;
    this.format = format;
    this.default = own.default;
    this.empty = own.empty;
    this.listType = listType;
    this.mapKeys = own.mapKeys;
    this.mapType = mapType;
    this.patchStrategy = own.patchStrategy;
    this.patchMergeKey = own.patchMergeKey;
    this.element = element && link(element);
    this.alternatives = alternatives && {
      ...(alternatives.object && { object: link(alternatives.object) }),
      ...(alternatives.array && { array: link(alternatives.array) }),
    };
    this.#definitions = definitions;
    this.#owner = owner;
    this.#field = field;
  }

  get fields(): Fields | undefined {
    return this.#linked?.fields;
  }

  get always(): readonly string[] | undefined {
    return this.#linked?.always;
  }

  /** What is said of the field; if nothing is, what is said of what it is. */
  get description(): string | undefined {
    const here = this.#definitions.description(this.#owner, this.#field);
    return here ?? (this.name === undefined ? undefined : this.#definitions.description(this.name, ""));
  }

  get #linked() {
    if (this.type !== "object" || this.name === undefined) return undefined;
    this.#object ??= this.#definitions.object(this.name);
    return this.#object;
  }
}
