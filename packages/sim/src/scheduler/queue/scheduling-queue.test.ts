import { VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../../placement/selectors.ts";
import { Nominator } from "../nominator.ts";
import type { Pod } from "../pod-info.ts";
import type { Plugin } from "../rejection.ts";
import { nodeInfo, podInfo, podObject, profile } from "../testing/samples.ts";
import { backoffMs, windowOf } from "./backoff.ts";
import type { ClusterEvent } from "./cluster-events.ts";
import { hintTable } from "./hints.ts";
import type { QueuedPod } from "./queued-pod.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";

function setUp() {
  const clock = new VirtualClock();
  const nominator = new Nominator();
  const around = { namespaces: () => [], namespaceLabels: () => undefined, kindSelector: () => EVERYTHING };
  const hints = hintTable(profile(), around);
  const preempting = new Set<string>();
  let ready = 0;
  const queue = new SchedulingQueue({
    clock,
    initialBackoffMs: 1000,
    maxBackoffMs: 10_000,
    nominator,
    hints: () => hints,
    isPreempting: (uid) => preempting.has(uid),
    onReady: () => ready++,
  });
  const names = () => {
    const popped: string[] = [];
    for (let next = queue.pop(); next; next = queue.pop()) {
      popped.push(next.info.name);
      queue.done(next);
    }
    return popped;
  };
  /** Tries a pod in vain. */
  const fail = (queued: QueuedPod | undefined, ...plugins: Plugin[]) => {
    if (!queued) throw new Error("there is none");
    queue.giveBack(queued, queued.info.pod, new Set(plugins));
    return queued;
  };
  return { clock, nominator, queue, names, fail, preempting, ready: () => ready };
}

const deletion: ClusterEvent = { on: "Pod", action: "Delete", before: podInfo({ spec: { nodeName: "n" } }) };
const named = (name: string, priority = 0, more: object = {}): Pod => podObject({ name, spec: { priority, ...more } });

describe("how long a pod waits", () => {
  it("doubles, up to a limit", () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((count) => backoffMs(count, 1000, 10_000))).toEqual([
      0, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
    expect(windowOf(1999)).toBe(1000);
  });
});

describe("the queue", () => {
  it("gives the more important first, then whoever waits longest", () => {
    const { queue, names } = setUp();
    for (const [name, priority] of [
      ["a", 1],
      ["b", 5],
      ["c", 1],
      ["d", 5],
    ] as const)
      queue.add(named(name, priority));
    expect(names()).toEqual(["b", "d", "a", "c"]);
  });

  it("keeps a pod that was tried in vain until something happens that may help", () => {
    const { queue, fail } = setUp();
    queue.add(named("a"));
    const pod = fail(queue.pop(), "NodeResourcesFit");
    expect(pod.whereabouts).toBe("unschedulable");
    expect(queue.pop()).toBeUndefined();
    queue.move({ on: "Pod", action: "Update", before: podInfo(), after: podInfo() });
    queue.move({ on: "Node", action: "UpdateLabels", before: nodeInfo(), after: nodeInfo() });
    expect(queue.pop()).toBeUndefined();
    queue.move(deletion);
    expect(pod.whereabouts).toBe("backoff");
    // With nothing else to do it need not wait for long.
    expect(queue.pop()).toBe(pod);
  });

  it("lets others go before who has to wait", () => {
    const { queue, fail, names } = setUp();
    queue.add(named("a", 9));
    fail(queue.pop(), "NodeResourcesFit");
    queue.move(deletion);
    queue.add(named("b", 1));
    expect(names()).toEqual(["b", "a"]);
  });

  it("sorts those who wait by the second in which their time is up, then by importance", async () => {
    const { clock, queue, fail, names } = setUp();
    for (const [name, priority] of [
      ["a", 1],
      ["b", 5],
    ] as const)
      queue.add(named(name, priority));
    const [b, a] = [queue.pop(), queue.pop()];
    fail(b, "NodeResourcesFit");
    await clock.advance(300);
    fail(a, "NodeResourcesFit");
    queue.add(named("early", 0));
    const early = queue.pop();
    await clock.advance(1000);
    fail(early, "NodeResourcesFit");
    queue.move(deletion);
    expect(names()).toEqual(["b", "a", "early"]);
  });

  it("gives errors time, and more each time", async () => {
    const { clock, queue, fail } = setUp();
    queue.add(named("a"));
    let pod = fail(queue.pop());
    expect(pod.whereabouts).toBe("errorBackoff");
    const waits: number[] = [];
    for (let round = 0; round < 5; round++) {
      const since = clock.now();
      while (!queue.pop()) await clock.advance(1000);
      waits.push((clock.now() - since) / 1000);
      pod = fail(pod);
    }
    // To the end of the second in which the time is up.
    expect(waits).toEqual([2, 3, 5, 9, 11]);
  });

  it("tries again after five minutes, whatever has happened", async () => {
    const { clock, queue, fail } = setUp();
    queue.add(named("a"));
    const pod = fail(queue.pop(), "NodeResourcesFit");
    await clock.advance(300_000);
    expect(pod.whereabouts).toBe("unschedulable");
    await clock.advance(30_000);
    expect(pod.whereabouts).toBe("active");
  });

  it("has no timer that rings for nothing", () => {
    const { clock, queue, fail } = setUp();
    queue.add(named("gated", 0, { schedulingGates: [{ name: "a" }] }));
    expect(clock.pending).toBe(0);
    queue.add(named("a"));
    fail(queue.pop(), "NodeResourcesFit");
    expect(clock.pending).toBe(1);
    queue.stop();
    expect(clock.pending).toBe(0);
  });

  it("remembers what happens while a pod is being scheduled", () => {
    const { queue, fail } = setUp();
    queue.add(named("a"));
    const pod = queue.pop();
    queue.move(deletion);
    expect(fail(pod, "NodeResourcesFit").whereabouts).toBe("backoff");
  });

  it("leaves gated pods alone, and has them back at once", () => {
    const { queue, names, ready } = setUp();
    const gated = named("a", 0, { schedulingGates: [{ name: "x" }, { name: "y" }] });
    queue.add(gated);
    queue.move(deletion);
    queue.move({ on: "Node", action: "Add", after: nodeInfo() });
    expect([queue.pop(), ready()]).toEqual([undefined, 0]);
    const fewer = { ...gated, spec: { containers: [], ...gated.spec, schedulingGates: [{ name: "y" }] } };
    queue.update(gated, fewer);
    expect(queue.pop()).toBeUndefined();
    queue.update(fewer, { ...gated, spec: { containers: [], ...gated.spec, schedulingGates: [] } });
    expect(names()).toEqual(["a"]);
  });

  it("keeps pods out while place is being made for them", () => {
    const { queue, fail, preempting } = setUp();
    queue.add(named("a"));
    const pod = queue.pop();
    preempting.add(pod?.info.uid ?? "");
    fail(pod, "NodeResourcesFit");
    queue.move(deletion);
    expect(pod?.whereabouts).toBe("unschedulable");
    preempting.clear();
    queue.move(deletion);
    expect(queue.pop()).toBe(pod);
  });

  it("forgets pods that are gone, wherever they wait", () => {
    const { queue, fail, names } = setUp();
    for (const name of ["a", "b", "c", "d"]) queue.add(named(name));
    const [a, b, c] = [queue.pop(), queue.pop(), queue.pop()];
    fail(a, "NodeResourcesFit");
    queue.move(deletion);
    fail(b);
    fail(c, "NodePorts");
    for (const each of [a, b, c]) queue.delete(each?.info.uid ?? "");
    queue.move({ on: "*" });
    expect(names()).toEqual(["d"]);
    expect(queue.size).toBe(0);
  });

  it("notes where pods wait for place", () => {
    const { queue, nominator } = setUp();
    const pod: Pod = { ...named("a"), status: { nominatedNodeName: "n" } };
    const uid = pod.metadata.uid ?? "";
    queue.add(pod);
    expect(nominator.nodeOf(uid)).toBe("n");
    const cleared = { ...pod, status: {} };
    queue.update(pod, cleared);
    expect(nominator.nodeOf(uid)).toBeUndefined();
    // What was decided in the meantime is not forgotten because of an update that says nothing of it.
    queue.nominate(podInfo({ name: "a" }), undefined);
    const info = queue.get(uid)?.info;
    if (info) queue.nominate(info, "m");
    queue.update(cleared, { ...cleared, metadata: { ...cleared.metadata, annotations: { a: "b" } } });
    expect(nominator.nodeOf(uid)).toBe("m");
    queue.delete(uid);
    expect(nominator.size).toBe(0);
  });

  it("does not ask an extender for ever in one moment", async () => {
    const { clock, queue, fail } = setUp();
    queue.add(named("a"));
    let attempts = 0;
    for (let next = queue.pop(); next && attempts < 1000; next = queue.pop()) {
      attempts++;
      fail(next, "Extender");
      queue.move({ on: "Node", action: "Add", after: nodeInfo() });
    }
    expect(attempts).toBe(100);
    await clock.advance(11_000);
    expect(queue.pop()).toBeDefined();
  });

  it("brings a pod back that somebody insists on", () => {
    const { queue, fail, names } = setUp();
    queue.add(named("a"));
    const pod = fail(queue.pop(), "NodeResourcesFit");
    queue.activate(pod.info.uid);
    queue.activate("nobody");
    expect(names()).toEqual(["a"]);
  });
});
