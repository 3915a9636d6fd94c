/** A virtual clock that stands still while nobody waits for it, on a whole embedded cluster. */
import { sleep, VirtualClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { Gateway } from "../gateway.ts";
import { asking, type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";

const TURN = "/v1/schedulers/fifo/turn";

/** A cluster that is ready, and a gateway that stops its clock. */
async function still(): Promise<{ world: Embedded; gateway: Gateway; ask: Embedded["ask"] }> {
  const world = await startEmbedded({ clock: new VirtualClock() });
  const gateway = await world.another({ standsStill: true });
  return { world, gateway, ask: asking(gateway) };
}

/** Whether no time has passed while a few requests were answered: a clock that runs gets through hours meanwhile. */
async function stands({ clock, ask }: Embedded): Promise<boolean> {
  const before = clock.now();
  for (let look = 0; look < 5; look++) await ask("GET", "/v1/jobs");
  return clock.now() === before;
}

const isCompleted = async (ask: Embedded["ask"], path: string) => (await ask("GET", path)).body.phase === "Completed";

describe("a clock that stands still", () => {
  it("T17 lets the first scheduler find everything at the same moment, and goes on when that waits", async () => {
    const { world, ask } = await still();
    await using _ = world;
    for (const name of ["a", "b"]) {
      await ask("POST", "/v1/jobs", jobManifest(name, 30));
      expect(await stands(world)).toBe(true);
    }
    const { body: first } = await ask("POST", TURN, { testbed: "main" });
    expect(first).toMatchObject({ time: 0, queue: [{ submitted: 0 }, { submitted: 0 }] });
    expect(await stands(world)).toBe(true);
    const decisions = [{ job: "a", slots: [0] }];
    const { body: second } = await ask("POST", TURN, { testbed: "main", after: first.turn, decisions });
    expect(second.events).toContainEqual(expect.objectContaining({ type: "job.completed", job: "a" }));
    expect(second.time).toBeGreaterThanOrEqual(30);
    await ask("DELETE", "/v1/schedulers/fifo?testbed=main");
    await eventually(() => isCompleted(ask, "/v1/schedulings/fifo.main.1"));
    await eventually(() => stands(world));
  });

  it("T17 goes on for as long as something that was decided by hand is under way", async () => {
    const { world, ask } = await still();
    await using _ = world;
    await ask("POST", "/v1/jobs", jobManifest("a", 300));
    expect(await stands(world)).toBe(true);
    const spec = { testbed: { name: "main" }, slotBased: [{ name: "a", slots: [1] }] };
    const before = world.clock.now();
    await ask("POST", "/v1/schedulings", { metadata: { name: "by-hand" }, spec });
    await eventually(() => isCompleted(ask, "/v1/jobs/a"));
    expect(world.clock.now() - before).toBeGreaterThanOrEqual(300_000);
    await eventually(() => isCompleted(ask, "/v1/schedulings/by-hand"));
    await eventually(() => stands(world));
    await ask("DELETE", "/v1/jobs/a");
    await eventually(async () => (await ask("GET", "/v1/jobs/a")).status === 404); // which the operator has to see to
    await eventually(() => stands(world));
  });

  it("T17 stands still when the last job has ended, unless a scheduler wants to be called at a time", async () => {
    const { world, ask } = await still();
    await using _ = world;
    const { turn } = (await ask("POST", TURN, { testbed: "main" })).body;
    const idle = ask("POST", TURN, { testbed: "main", after: turn });
    expect(await stands(world)).toBe(true);
    await ask("POST", "/v1/jobs", jobManifest("a", 30)); // which is what it has waited for
    const { body: second } = await idle;
    expect(second).toMatchObject({ time: 0, queue: [{ name: "a" }] });
    const called = await ask("POST", TURN, { testbed: "main", after: second.turn, callAt: 100 });
    expect(called.body.time).toBe(100);
    await ask("DELETE", "/v1/jobs/a");
    await eventually(() => stands(world));
    const later = await ask("POST", TURN, { testbed: "main", callAt: 200 });
    const { body: last } = await ask("POST", TURN, { testbed: "main", after: later.body.turn, callAt: 200 });
    expect(last.time).toBe(200);
  });

  it("T17 stands still again when the scheduler that has waited is gone, and goes on without the gateway", async () => {
    const { world, gateway, ask } = await still();
    await using _ = world;
    const gone = new AbortController();
    const waits = async (request: object) => {
      const { turn: after } = (await ask("POST", TURN, { testbed: "main" })).body;
      return fetch(`${gateway.url}${TURN}`, {
        ...{ method: "POST", headers: { "content-type": "application/json" }, signal: gone.signal },
        body: JSON.stringify({ testbed: "main", after, ...request }),
      });
    };
    await ask("POST", "/v1/jobs", jobManifest("a", 30));
    const waiting = waits({}); // though it has decided nothing: something else may happen
    waiting.catch(() => {});
    await eventually(async () => !(await stands(world)));
    gone.abort();
    await expect(waiting).rejects.toThrow("abort");
    await eventually(() => stands(world));
    await gateway.stop();
    await sleep(world.clock, 300_000);
  });
});
