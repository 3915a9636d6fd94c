import { ApiError, VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Workbench } from "./component.ts";

function bench(work: (key: string) => void = () => {}) {
  const clock = new VirtualClock({ start: 0 });
  const [done, failures]: [string[], unknown[]] = [[], []];
  const workbench = new Workbench({ clock, onFailure: (error) => void failures.push(error) }, (key) => {
    done.push(`${key}@${clock.now()}`);
    work(key);
  });
  return { clock, done, failures, workbench };
}

describe("Workbench", () => {
  it("P1 does each thing once, a moment later, in order", async () => {
    const { clock, done, workbench } = bench();
    for (const key of ["b", "a", "b"]) workbench.add(key);
    expect(done).toEqual([]);
    await clock.settle();
    expect(done).toEqual(["b@0", "a@0"]);
  });

  it("does what is added meanwhile in the next round", async () => {
    const { clock, done, workbench } = bench((key) => {
      if (key === "a") workbench.add("c");
    });
    workbench.add("a");
    workbench.add("b");
    await clock.settle();
    expect(done).toEqual(["a@0", "b@0", "c@0"]);
  });

  it("P1 lets time pass when there is no end to the work", async () => {
    const { clock, done, workbench } = bench((key) => workbench.add(key));
    workbench.add("a");
    await clock.advance(3);
    expect(clock.now()).toBe(3);
    expect(done.length).toBeGreaterThan(3000);
    expect(done.length).toBeLessThan(5000);
  });

  it("waits: for the last word, or for the earliest", async () => {
    const { clock, done, workbench } = bench();
    workbench.addAfter("last", 10);
    workbench.addAfter("last", 50);
    workbench.addWithin("first", 50);
    workbench.addWithin("first", 10);
    workbench.addWithin("first", 70);
    workbench.addWithin("now", 0);
    workbench.addAfter("never", 5);
    workbench.forget("never");
    await clock.advance(100);
    expect(done).toEqual(["now@0", "first@10", "last@50"]);
    expect(clock.pending).toBe(0);
  });

  it("P2 tries again what failed, later each time, and tells of errors that are its own", async () => {
    const own = new Error("ours");
    let left = 3;
    const { clock, done, failures, workbench } = bench(() => {
      if (left-- > 0) throw own;
    });
    workbench.add("a");
    await clock.advance(60_000);
    expect(done).toEqual(["a@0", "a@1000", "a@3000", "a@7000"]);
    expect(failures).toEqual([own, own, own]);
  });

  it("does not take a refusal for an error of its own", async () => {
    const { clock, done, failures, workbench } = bench(() => {
      throw new ApiError({ code: 403, message: "no" });
    });
    workbench.add("a");
    await clock.advance(1000);
    expect(done).toHaveLength(2);
    expect(failures).toEqual([]);
    workbench.stop();
    expect(clock.pending).toBe(0);
  });

  it("does nothing more once it was stopped", async () => {
    const { clock, done, workbench } = bench(() => workbench.stop());
    workbench.add("a");
    workbench.add("b");
    workbench.addAfter("c", 10);
    await clock.advance(100);
    workbench.add("d");
    workbench.addWithin("e", 10);
    await clock.advance(100);
    expect(done).toEqual(["a@0"]);
  });
});
