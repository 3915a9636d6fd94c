import { describe, expect, it } from "vitest";
import { Diagnosis } from "./diagnosis.ts";
import { resolvable, unresolvable } from "./rejection.ts";

const cpu = resolvable("NodeResourcesFit", "Insufficient cpu");
const both = unresolvable("NodeResourcesFit", "Insufficient cpu", "Insufficient memory");

describe("a diagnosis", () => {
  it("counts reasons and sorts them as texts", () => {
    const diagnosis = new Diagnosis();
    for (let index = 0; index < 10; index++) diagnosis.reject(`n${index}`, cpu);
    diagnosis.reject("x", unresolvable("NodeUnschedulable", "node(s) were unschedulable"));
    diagnosis.reject("y", both);
    expect(diagnosis.message(12)).toBe(
      "0/12 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 11 Insufficient cpu.",
    );
    expect(diagnosis.plugins).toEqual(new Set(["NodeResourcesFit", "NodeUnschedulable"]));
  });

  it("counts the nodes that nothing was said about", () => {
    const diagnosis = new Diagnosis();
    diagnosis.absent = unresolvable("NodeAffinity", "elsewhere");
    diagnosis.reject("a", cpu);
    expect(diagnosis.message(3)).toBe("0/3 nodes are available: 1 Insufficient cpu, 2 elsewhere.");
    expect(diagnosis.of("a")).toBe(cpu);
    expect(diagnosis.of("b").resolvable).toBe(false);
  });

  it("takes the last word about a node", () => {
    const diagnosis = new Diagnosis();
    diagnosis.reject("a", cpu);
    diagnosis.note("a", { reasons: ["no"], resolvable: false });
    expect(diagnosis.message(1)).toBe("0/1 nodes are available: 1 no.");
    expect([...diagnosis.names()]).toEqual(["a"]);
  });

  it("says nothing about nodes if none was looked at, and adds what came after", () => {
    const diagnosis = new Diagnosis();
    diagnosis.rejectAll(unresolvable("NodeAffinity", "pod affinity terms conflict"));
    diagnosis.afterwards = "not found";
    expect(diagnosis.message(5)).toBe("0/5 nodes are available: pod affinity terms conflict. not found");
    expect(new Diagnosis().message(5)).toBe("0/5 nodes are available:");
  });
});
