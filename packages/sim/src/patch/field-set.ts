/**
 * Sets of fields of an object, as trees of path elements. They are values: whatever is done with them makes new ones, and
 * the parts that stay are shared.
 */
import { compareElements, type Path, type PathElement } from "./path-element.ts";

export interface FieldSet {
  /** The elements of this level that are in the set. */
  readonly members: ReadonlySet<PathElement>;
  /** What of the set is below an element of this level, which need not be in it itself; never empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

export const EMPTY: FieldSet = { members: new Set(), children: new Map() };

export function isEmpty({ members, children }: FieldSet): boolean {
  return members.size === 0 && children.size === 0;
}

export function has(set: FieldSet, path: Path): boolean {
  let level: FieldSet | undefined = set;
  for (const element of path.slice(0, -1)) level = level?.children.get(element);
  return level?.members.has(path.at(-1) as PathElement) ?? false;
}

/** What is below an element. */
export function below(set: FieldSet, element: PathElement): FieldSet {
  return set.children.get(element) ?? EMPTY;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const members = withAll(a.members, b.members);
  let children = a.children;
  for (const [element, set] of b.children) {
    const before = a.children.get(element);
    const after = before ? union(before, set) : set;
    if (after !== before) children = withEntry(a.children, children, element, after);
  }
  return members === a.members && children === a.children ? a : { members, children };
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(a)) return a;
  if (isEmpty(b)) return b;
  const members = new Set<PathElement>();
  for (const element of a.members) if (b.members.has(element)) members.add(element);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, set] of a.children) {
    const other = b.children.get(element);
    const both = other ? intersection(set, other) : EMPTY;
    if (!isEmpty(both)) children.set(element, both);
  }
  return { members, children };
}

/** What is in the first and not in the second; a field in the second says nothing of the fields below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtracted(a, b, false);
}

/** What is in the first, and neither itself nor anything above it is in the second. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  return subtracted(a, b, true);
}

function subtracted(a: FieldSet, b: FieldSet, andBelow: boolean): FieldSet {
  if (a === b) return EMPTY;
  if (isEmpty(a) || isEmpty(b)) return a;
  let members = a.members;
  for (const element of b.members) {
    if (!a.members.has(element)) continue;
    if (members === a.members) members = new Set(a.members);
    (members as Set<PathElement>).delete(element);
  }
  let children = a.children;
  for (const [element, set] of a.children) {
    const other = b.children.get(element);
    const rest = andBelow && b.members.has(element) ? EMPTY : other ? subtracted(set, other, andBelow) : set;
    if (rest !== set) children = withEntry(a.children, children, element, rest);
  }
  return members === a.members && children === a.children ? a : { members, children };
}

export function same(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.members.size !== b.members.size || a.children.size !== b.children.size) return false;
  for (const element of a.members) if (!b.members.has(element)) return false;
  for (const [element, set] of a.children) {
    const other = b.children.get(element);
    if (!other || !same(set, other)) return false;
  }
  return true;
}

/** All paths in the set: those of one level before those below it, each in order. */
export function* pathsOf(set: FieldSet, above: Path = []): Generator<Path> {
  for (const element of [...set.members].sort(compareElements)) yield [...above, element];
  for (const element of [...set.children.keys()].sort(compareElements)) {
    yield* pathsOf(below(set, element), [...above, element]);
  }
}

export function setOf(...paths: readonly Path[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.set;
}

/** A set in the making. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  /** The object as a whole is no field: nobody owns it. */
  add(path: Path): void {
    let level: FieldSetBuilder = this;
    for (let index = 0; index < path.length - 1; index++) level = level.#below(path[index] as PathElement);
    if (path.length > 0) level.#members.add(path[path.length - 1] as PathElement);
  }

  get set(): FieldSet {
    const members = this.#members.size === 0 ? EMPTY.members : this.#members;
    if (this.#children.size === 0) return members === EMPTY.members ? EMPTY : { members, children: EMPTY.children };
    const children = new Map<PathElement, FieldSet>();
    for (const [element, builder] of this.#children) children.set(element, builder.set);
    return { members, children };
  }

  #below(element: PathElement): FieldSetBuilder {
    let builder = this.#children.get(element);
    if (!builder) {
      builder = new FieldSetBuilder();
      this.#children.set(element, builder);
    }
    return builder;
  }
}

function withAll(a: ReadonlySet<PathElement>, b: ReadonlySet<PathElement>): ReadonlySet<PathElement> {
  let result: Set<PathElement> | undefined;
  for (const element of b) {
    if (a.has(element)) continue;
    result ??= new Set(a);
    result.add(element);
  }
  return result ?? a;
}

/** `current` with another entry, or without one if the set is empty; copied if it is still the original. */
function withEntry(
  original: ReadonlyMap<PathElement, FieldSet>,
  current: ReadonlyMap<PathElement, FieldSet>,
  element: PathElement,
  set: FieldSet,
): ReadonlyMap<PathElement, FieldSet> {
  const result = current === original ? new Map(original) : (current as Map<PathElement, FieldSet>);
  if (isEmpty(set)) result.delete(element);
  else result.set(element, set);
  return result;
}
