import fc from "fast-check";
import { expect, it } from "vitest";
import { Heap, type HeapNode } from "./heap.ts";

it("gives items back in order, whatever was taken out of the middle", () => {
  const step = fc.oneof(fc.nat(50), fc.constant("pop" as const), fc.record({ remove: fc.nat(30) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const heap = new Heap<number>((a, b) => a < b);
      const nodes: HeapNode<number>[] = [];
      let model: number[] = [];
      for (const step of steps) {
        if (typeof step === "number") {
          nodes.push(heap.push(step));
          model = [...model, step].sort((a, b) => a - b);
        } else if (step === "pop") {
          expect(heap.pop()).toBe(model.shift());
        } else {
          const node = nodes[step.remove % Math.max(1, nodes.length)];
          if (node && heap.remove(node)) model.splice(model.indexOf(node.value), 1);
        }
        expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
      }
    }),
  );
});
