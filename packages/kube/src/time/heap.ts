/** A binary heap whose items can be taken out of the middle: what timers and queues with priorities are kept in. */

/** An item's place in a heap; only the heap changes it. */
export interface HeapNode<T> {
  readonly value: T;
  /** -1 when it is in no heap. */
  readonly index: number;
}

type Mutable<T> = { value: T; index: number };

export class Heap<T> {
  readonly #nodes: Mutable<T>[] = []; // every node comes before its children, at 2i+1 and 2i+2
  readonly #isBefore: (a: T, b: T) => boolean;

  /** @param isBefore - A strict order. Items of which neither is before the other come out in any order. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** The first item, which stays in. */
  peek(): T | undefined {
    return this.#nodes[0]?.value;
  }

  push(value: T): HeapNode<T> {
    const node = { value, index: this.#nodes.length };
    this.#nodes.push(node);
    this.#rise(node);
    return node;
  }

  /** Takes the first item out. */
  pop(): T | undefined {
    const first = this.#nodes[0];
    if (first) this.remove(first);
    return first?.value;
  }

  /** Takes an item out, wherever it is; `false` if it is not in this heap any more. */
  remove(node: HeapNode<T>): boolean {
    const found = this.#nodes[node.index];
    if (found !== node) return false;
    const last = this.#nodes.pop() as Mutable<T>;
    if (last !== found) {
      this.#place(last, found.index);
      this.#rise(last);
      this.#sink(last);
    }
    found.index = -1;
    return true;
  }

  #rise(node: Mutable<T>): void {
    while (node.index > 0) {
      const parent = this.#nodes[(node.index - 1) >> 1] as Mutable<T>;
      if (!this.#isBefore(node.value, parent.value)) return;
      this.#swap(node, parent);
    }
  }

  #sink(node: Mutable<T>): void {
    for (;;) {
      const [left, right] = [this.#nodes[2 * node.index + 1], this.#nodes[2 * node.index + 2]];
      const child = right && left && this.#isBefore(right.value, left.value) ? right : left;
      if (!child || !this.#isBefore(child.value, node.value)) return;
      this.#swap(node, child);
    }
  }

  #swap(a: Mutable<T>, b: Mutable<T>): void {
    const [left, right] = [a.index, b.index];
    this.#place(a, right);
    this.#place(b, left);
  }

  #place(node: Mutable<T>, index: number): void {
    this.#nodes[index] = node;
    node.index = index;
  }
}
