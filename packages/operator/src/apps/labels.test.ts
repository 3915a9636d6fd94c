import type { BatchJob } from "@berth/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderFor } from "../testing/orders.ts";
import { executorAnnotations, executorLabels } from "./labels.ts";

const VALID = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LETTER = fc.constantFrom(..."abcxyz0189");
/** Long ones above all. */
const name = (most: number) =>
  fc
    .array(fc.oneof(LETTER, fc.constant("-")), { maxLength: most - 2, size: "max" })
    .chain((middle) => fc.tuple(LETTER, LETTER).map(([first, last]) => `${first}${middle.join("")}${last}`));

function orderOf(namespace: string, job: string, testbed: string) {
  const { job: given } = orderFor("jobSpec");
  const named = { ...given, metadata: { namespace, name: job } } as BatchJob;
  return orderFor("jobSpec", {}, { job: named, testbed: { namespace, name: testbed } });
}

describe("the labels of executors", () => {
  it("are ones that Kubernetes takes, however long the names are", () => {
    fc.assert(
      fc.property(name(63), name(38), name(40), (...names) =>
        Object.values(executorLabels(orderOf(...names))).every((value) => VALID.test(value)),
      ),
    );
  });

  it("differ where annotations differ", () => {
    const long = "n".repeat(63);
    const [one, other] = [orderOf(long, "a", "t"), orderOf(long, "b", "t")];
    expect(executorAnnotations(one)["berth.dev/job"]).toBe(`${long}/a`);
    expect(executorLabels(one)["berth.dev/job"]).not.toBe(executorLabels(other)["berth.dev/job"]);
    expect(executorLabels(one)["berth.dev/testbed"]).toBe(executorLabels(other)["berth.dev/testbed"]);
  });
});
