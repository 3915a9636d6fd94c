/** Which fields differ between two states of an object. Parts that both share are not looked at. */
import { equal, isObject, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { differenceBelow, type FieldSet, FieldSetBuilder } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { ANYTHING, fieldNode, formOf, itemElement, type ListShape, type MapShape, shapeOf } from "./shape.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** @param node - The schema of both. */
export function compare(before: unknown, after: unknown, node: SchemaNode): Comparison {
  const walk = new Walk();
  walk.compare(before, after, node);
  return { added: walk.added.set, modified: walk.modified.set, removed: walk.removed.set };
}

/** A comparison that says nothing of some fields and of what is below them. */
export function without({ added, modified, removed }: Comparison, fields: FieldSet): Comparison {
  return {
    added: differenceBelow(added, fields),
    modified: differenceBelow(modified, fields),
    removed: differenceBelow(removed, fields),
  };
}

class Walk {
  readonly added = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly #path: PathElement[] = [];

  /** `undefined` is what is not there; it cannot be both. */
  compare(before: unknown, after: unknown, node: SchemaNode): void {
    if (before === after) return;
    const shape = shapeOf(node);
    const form = formOf(shape, after === undefined ? before : after);
    // What was something else altogether is compared as that first.
    const former = before === undefined || after === undefined ? form : formOf(shape, before);
    if (former !== form) this.#compareAs(former, before, after);
    const isLeaf = this.#compareAs(form, before, after);
    if (isLeaf) return;
    if (before === undefined) this.added.add(this.#path);
    else if (after === undefined) this.removed.add(this.#path);
  }

  /** Whether it was compared as one thing. */
  #compareAs(form: MapShape | ListShape | string, before: unknown, after: unknown): boolean {
    if (typeof form === "string") return this.#compareLeaf(before, after);
    if (form.kind === "map") {
      const [old, fresh] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
      if (form.atomic || (isBare(old) && isBare(fresh))) return this.#compareLeaf(before, after);
      this.#compareFields(form, old, fresh);
    } else {
      const [old, fresh] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
      if (form.type === "atomic" || (old.length === 0 && fresh.length === 0)) return this.#compareLeaf(before, after);
      this.#compareItems(form, old, fresh);
    }
    return false;
  }

  #compareLeaf(before: unknown, after: unknown): true {
    if (before === undefined) this.added.add(this.#path);
    else if (after === undefined) this.removed.add(this.#path);
    else if (!equal(before, after)) this.modified.add(this.#path);
    return true;
  }

  #compareFields(form: MapShape, before: JsonObject, after: JsonObject): void {
    for (const name in before) {
      const now = Object.hasOwn(after, name) ? after[name] : undefined;
      if (before[name] !== now) this.#descend(fieldElement(name), before[name], now, fieldNode(form, name));
    }
    for (const name in after) {
      if (!Object.hasOwn(before, name))
        this.#descend(fieldElement(name), undefined, after[name], fieldNode(form, name));
    }
  }

  #compareItems(form: ListShape, before: readonly unknown[], after: readonly unknown[]): void {
    const [old, fresh] = [byElement(form, before), byElement(form, after)];
    for (const element of new Set([...old.keys(), ...fresh.keys()])) {
      const [was, is] = [old.get(element) ?? [], fresh.get(element) ?? []];
      if (was.length < 2 && is.length < 2) this.#descend(element, was[0], is[0], form.element);
      else this.#compareDuplicates(form, element, was, is);
    }
  }

  /** Items that cannot be told apart are one thing, as long as there are several. */
  #compareDuplicates(form: ListShape, element: PathElement, was: readonly unknown[], is: readonly unknown[]): void {
    const path = [...this.#path, element];
    if (was.length > 1 && is.length > 1) {
      if (!equal(was, is)) this.modified.add(path);
    } else if (was.length > 1) {
      if (is.length > 0) this.#descend(element, undefined, is[0], form.element);
      this.removed.add(path);
    } else {
      if (was.length > 0) this.#descend(element, was[0], undefined, form.element);
      this.added.add(path);
    }
  }

  #descend(element: PathElement, before: unknown, after: unknown, node: SchemaNode | undefined): void {
    this.#path.push(element);
    this.compare(before, after, node ?? ANYTHING);
    this.#path.pop();
  }
}

/** The items of a list by what they are known by; more than one for some if the list has duplicates. */
export function byElement(form: ListShape, list: readonly unknown[]): Map<PathElement, unknown[]> {
  const result = new Map<PathElement, unknown[]>();
  for (const item of list) {
    const element = itemElement(form, item);
    const others = result.get(element);
    if (others) others.push(item);
    else result.set(element, [item]);
  }
  return result;
}

function isBare(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
