import { describe, expect, it } from "vitest";
import { WorkQueue } from "../queue/work-queue.ts";
import { VirtualClock } from "../time/clock.ts";
import { Metrics } from "./metrics.ts";

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

describe("metrics", () => {
  it("M5 have the process's time as a counter, which is right however often one looks", async () => {
    const { registry } = new Metrics();
    const name = "process_cpu_seconds_total";
    for (let look = 0; look < 3; look++) {
      const before = cpuSeconds();
      const page = await registry.metrics();
      const shown = Number(new RegExp(`^${name} (\\S+)$`, "m").exec(page)?.[1]);
      expect(page).toContain(`# TYPE ${name} counter\n`);
      expect(shown).toBeGreaterThanOrEqual(before);
      expect(shown).toBeLessThanOrEqual(cpuSeconds());
    }
  });

  it("M5 show figures of the program's own, as they are now", async () => {
    const metrics = new Metrics();
    let ships: Record<string, number> = { red: 1, blue: 2 };
    metrics.figures("harbour_ships", "Ships in the harbour", "colour", () => ships);
    expect(await metrics.registry.metrics()).toContain(
      'harbour_ships{colour="red"} 1\nharbour_ships{colour="blue"} 2\n',
    );
    ships = { blue: 3 };
    const page = await metrics.registry.metrics();
    expect(page).toContain('harbour_ships{colour="blue"} 3\n');
    expect(page).not.toContain("red");
  });

  it("M5 show a controller's zeros before anything has happened, and its queue as it is now", async () => {
    const metrics = new Metrics();
    const clock = new VirtualClock();
    const queue = new WorkQueue<string>({ clock, observer: metrics.queueObserver("c") });
    metrics.controllerStarted("c", 4);
    metrics.trackQueue("c", queue);
    for (const key of ["a", "b", "c"]) queue.add(key);
    await queue.get();
    await clock.advance(3000);
    const page = await metrics.registry.metrics();
    for (const line of [
      'controller_runtime_reconcile_errors_total{controller="c"} 0',
      'controller_runtime_reconcile_total{controller="c",result="success"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="c"} 4',
      'workqueue_adds_total{name="c",controller="c"} 3',
      'workqueue_depth{name="c",controller="c",priority="0"} 2',
      'workqueue_longest_running_processor_seconds{name="c",controller="c"} 3',
    ]) {
      expect(page.split("\n")).toContain(line);
    }
  });

  it("M7 refuse a second controller of the same name", async () => {
    const metrics = new Metrics();
    const misused = expect.objectContaining({ code: "KUBE_MANAGER_MISUSED", message: expect.stringContaining('"c"') });
    const queue = () => new WorkQueue<string>({ clock: new VirtualClock() });
    metrics.controllerStarted("c", 4);
    metrics.trackQueue("c", queue());
    expect(() => metrics.controllerStarted("c", 8)).toThrow(misused);
    expect(() => metrics.trackQueue("c", queue())).toThrow(misused);
    metrics.controllerStarted("d", 8);
    metrics.trackQueue("d", queue());
    expect(await metrics.registry.metrics()).toContain('max_concurrent_reconciles{controller="c"} 4\n');
  });
});
