/** Turns, with a whole embedded cluster: in virtual time, and over HTTP as any scheduler. */
import { sleep, VirtualClock, WallClock } from "@berth/kube";
import type { DeltaTurn, FullTurn } from "@berth/model";
import { describe, expect, it } from "vitest";
import { asking, type Embedded, eventually, jobManifest, startEmbedded } from "../testing/embedded.ts";

const embedded = () => startEmbedded({ clock: new VirtualClock() });
const TURN = "/v1/schedulers/fifo/turn";

async function turn(world: Pick<Embedded, "ask">, body: object, scheduler = "fifo"): Promise<FullTurn> {
  const { status, body: reply } = await world.ask("POST", `/v1/schedulers/${scheduler}/turn`, {
    testbed: "main",
    ...body,
  });
  expect(reply, `${status} ${JSON.stringify(reply)}`).toHaveProperty("turn");
  return reply;
}

/** Told that it cannot be: the code. */
async function refused(world: Pick<Embedded, "ask">, body: object, scheduler = "fifo"): Promise<string> {
  const { body: reply } = await world.ask("POST", `/v1/schedulers/${scheduler}/turn`, { testbed: "main", ...body });
  expect(reply).toHaveProperty("code");
  return reply.code;
}

const submit = (world: Embedded, name: string, seconds: number) =>
  world.ask("POST", "/v1/jobs", jobManifest(name, seconds)).then(({ status }) => expect(status).toBe(201));

const startsOf = async (world: Embedded) =>
  (await world.ask("GET", "/v1/schedulings")).body.items.map(({ name }: { name: string }) => name);

describe("a turn", () => {
  it("T8 shows jobs in the queue, slots and what has happened; a job goes into slots, and back out", async () => {
    await using world = await embedded();
    const first = await turn(world, {});
    expect(first).toMatchObject({ turn: 1, clock: "virtual", view: "full", queue: [], running: [], events: [] });
    expect(first.slots.map(({ id, node, state }) => `${id} ${node} ${state}`)).toEqual([
      "0 n0 free",
      "1 n0 free",
      "2 n1 free",
      "3 n1 free",
    ]);
    await submit(world, "pi", 30);
    const second = await turn(world, { after: first.turn });
    expect(second.events).toMatchObject([{ type: "job.submitted", job: "pi" }]);
    expect(second.queue).toMatchObject([{ name: "pi", kind: "job" }]);
    const third = await turn(world, { after: second.turn, decisions: [{ job: "pi", slots: [1, 2], reason: "first" }] });
    const types = third.events.map(({ type, job, slot }) => `${type} ${job ?? slot}`);
    expect(types).toContain("job.completed pi");
    expect(types).toContain("slot.freed 1");
    expect(third.queue).toEqual([]);
    expect(third.time - second.time).toBeGreaterThanOrEqual(30);
    expect(third.slots.map(({ state }) => state)).toEqual(["free", "free", "free", "free"]);
    const { body: job } = await world.ask("GET", "/v1/jobs/pi");
    expect(job).toMatchObject({
      phase: "Completed",
      waiting: false,
      history: [{ outcome: "Completed", slots: [1, 2] }],
    });
    const { body: schedulings } = await world.ask("GET", "/v1/schedulings");
    expect(schedulings.items).toMatchObject([{ name: "fifo.main.2", scheduler: "fifo", turn: 2, reason: "pi: first" }]);
  });

  it("T9 comes at the time that was asked for, if nothing happens before", async () => {
    await using world = await embedded();
    const { turn: after, time } = await turn(world, {});
    const called = await turn(world, { after, callAt: time + 100 });
    expect(called.time).toBeCloseTo(time + 100, 3);
    expect(called.events).toMatchObject([{ type: "call" }]);
    await submit(world, "pi", 30);
    expect((await turn(world, { after: called.turn, callAt: time + 500 })).events[0]?.type).toBe("job.submitted");
  });

  it("T4 lets no time pass in virtual time while a scheduler thinks", async () => {
    await using world = await embedded();
    await submit(world, "pi", 30);
    const { time } = await turn(world, {});
    const before = world.clock.now();
    for (let look = 0; look < 20; look++) await world.ask("GET", "/v1/jobs");
    expect(world.clock.now()).toBe(before);
    expect((await turn(world, {})).time).toBe(time);
  });

  it("T4 declares a scheduler dead that thinks for too long: time goes on, and another may have the testbed", async () => {
    await using world = await startEmbedded({ clock: new VirtualClock(), gateway: { thinkSeconds: 0.2 } });
    await submit(world, "pi", 30);
    await turn(world, {});
    expect(await refused(world, {}, "other")).toBe("BERTH_TESTBED_TAKEN");
    await eventually(async () => (await world.ask("GET", "/v1/testbeds/main")).body.scheduler === undefined);
    expect((await turn(world, {}, "other")).queue).toHaveLength(1);
  });

  it("T10 shows only jobs that were asked for by label", async () => {
    await using world = await embedded();
    const manifest = jobManifest("mine", 30);
    await world.ask("POST", "/v1/jobs", { ...manifest, metadata: { name: "mine", labels: { team: "a" } } });
    await submit(world, "other", 30);
    const { queue } = await turn(world, { jobs: "team=a" });
    expect(queue.map(({ name }) => name)).toEqual(["mine"]);
    expect(await refused(world, { jobs: "=what=" })).toBe("BERTH_BODY_INVALID");
  });

  it("T11 as a delta, with what has changed, is the same as a full one", async () => {
    await using world = await embedded();
    await submit(world, "a", 20);
    const first = await turn(world, {});
    await submit(world, "b", 20);
    const { body } = await world.ask("POST", TURN, {
      ...{ testbed: "main", view: "delta", after: first.turn },
      decisions: [{ job: "a", slots: [3] }],
    });
    const delta = body as DeltaTurn;
    expect(delta.view).toBe("delta");
    expect(delta.queue.set.map(({ name }) => name)).toEqual(["b"]);
    expect(delta.queue.removed).toEqual(["a"]);
    expect(delta.running.set.map(({ name, slots }) => [name, slots])).toEqual([["a", [3]]]);
    expect(delta.slots.set).toEqual([{ id: 3, node: "n1", state: "reserved", job: "a" }]);
  });
});

describe("what is sent again", () => {
  it("T2 is answered the same, and T1 applied once", async () => {
    await using world = await embedded();
    await submit(world, "a", 20);
    const first = await turn(world, {});
    const call = { after: first.turn, decisions: [{ job: "a", slots: [0] }] };
    const second = await turn(world, call);
    expect(await turn(world, call)).toEqual(second);
    expect(await startsOf(world)).toEqual(["fifo.main.1"]);
    const { body } = await world.ask("GET", "/v1/jobs/a");
    expect(body.history).toHaveLength(1);
  });

  it("T1 while the first call still waits is applied once, and the first call is told", async () => {
    await using world = await embedded();
    await submit(world, "a", 1000);
    const first = await turn(world, {});
    const call = { after: first.turn, decisions: [{ job: "a", slots: [0] }], callAt: first.time + 500 };
    const one = world.ask("POST", TURN, { testbed: "main", ...call });
    const two = await turn(world, call);
    expect(await startsOf(world)).toEqual(["fifo.main.1"]);
    const { status, body } = await one;
    expect(status === 200 ? body.turn : body.code).toEqual(status === 200 ? two.turn : "BERTH_SCHEDULER_REPLACED");
  });

  it("T12 to another gateway, or after a restart, is applied once, and the turns go on", async () => {
    await using world = await startEmbedded({ clock: new WallClock({ speed: 20 }) });
    await submit(world, "a", 40);
    await submit(world, "b", 40);
    const first = await turn(world, {});
    const call = {
      after: first.turn,
      decisions: [
        { job: "a", slots: [0] },
        { job: "nobody", slots: [1] },
      ],
    };
    const second = await turn(world, call);
    expect(second.rejected).toMatchObject([{ code: "BERTH_JOB_UNKNOWN" }]);
    const other = { ask: asking(await world.another()) };
    const again = await turn(other, call);
    expect(again.rejected).toEqual(second.rejected);
    expect(again.turn).toBe(second.turn);
    expect(await startsOf(world)).toEqual(["fifo.main.1"]);
    const third = await turn(other, { after: again.turn, decisions: [{ job: "b", executors: 1 }] });
    expect(third.turn).toBe(again.turn + 1);
    expect(await refused(other, { ...call, decisions: [{ job: "b", slots: [3] }] })).toBe("BERTH_TURN_PASSED");
  });

  it("T12 with other decisions is refused", async () => {
    await using world = await startEmbedded({ clock: new WallClock({ speed: 20 }) });
    await submit(world, "a", 40);
    const first = await turn(world, {});
    await turn(world, { after: first.turn, decisions: [{ job: "a", slots: [0] }] });
    const other = { ask: asking(await world.another()) };
    const changed = { after: first.turn, decisions: [{ job: "a", slots: [1] }] };
    expect(await refused(other, changed)).toBe("BERTH_TURN_DIFFERS");
  });
});

describe("calls that are given up", () => {
  it("T16 do not take the testbed away from the call that waits in their place", async () => {
    await using world = await startEmbedded({ clock: new WallClock({ speed: 20 }), gateway: { tenureSeconds: 20 } });
    const { turn: after } = await turn(world, {});
    const first = world.ask("POST", TURN, { testbed: "main", after });
    const second = world.ask("POST", TURN, { testbed: "main", after });
    expect((await Promise.race([first, second])).body.code).toBe("BERTH_SCHEDULER_REPLACED");
    await sleep(world.clock, 60_000);
    expect(await refused(world, {}, "other")).toBe("BERTH_TESTBED_TAKEN");
    await submit(world, "a", 40);
    const answers = (await Promise.all([first, second])).map(({ body }) => body.turn ?? body.code);
    expect(answers.sort()).toEqual([after + 1, "BERTH_SCHEDULER_REPLACED"]);
  });

  it("T16 by a gateway that ends may be made again: nobody has been replaced", async () => {
    await using world = await startEmbedded({ clock: new WallClock({ speed: 20 }) });
    const other = await world.another();
    const ask = asking(other);
    const { turn: after } = await turn({ ask }, {});
    const waiting = ask("POST", TURN, { testbed: "main", after });
    await eventually(async () => (await world.ask("GET", "/v1/testbeds/main")).body.scheduler === "fifo");
    await sleep(world.clock, 2000);
    await other.stop();
    const { body } = await waiting.catch(() => ({ body: { code: "BERTH_UNAVAILABLE" } })); // or the line is cut
    expect(body.code).toBe("BERTH_UNAVAILABLE");
    expect((await turn(world, { after, callAt: 0 })).turn).toBe(after + 1);
  });
});

describe("schedulers", () => {
  it("T13 that want the same testbed get a clear answer; other testbeds are free", async () => {
    await using world = await embedded();
    await turn(world, {});
    const { status, body } = await world.ask("POST", "/v1/schedulers/other/turn", { testbed: "main" });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: "BERTH_TESTBED_TAKEN", scheduler: "fifo" });
    expect(body.detail).toBe("scheduler fifo has testbed main");
    expect(await refused(world, { testbed: "nowhere" }, "other")).toBe("BERTH_TESTBED_UNKNOWN");
    expect((await world.ask("DELETE", "/v1/schedulers/fifo?testbed=main")).status).toBe(204);
    expect((await turn(world, {}, "other")).turn).toBe(1);
  });

  it("T14 that die and come back continue: a new process of the same name takes over", async () => {
    await using world = await embedded();
    await submit(world, "a", 1000);
    const first = await turn(world, {});
    const old = world.ask("POST", TURN, { testbed: "main", after: first.turn, callAt: first.time + 10_000 });
    // It has to be waiting before it is replaced.
    await eventually(async () => (await world.ask("GET", "/v1/testbeds/main")).body.scheduler === "fifo");
    const next = await turn(world, {});
    expect(next.turn).toBeGreaterThan(first.turn);
    expect(next.queue).toHaveLength(1);
    const { body } = await old;
    expect(body.code === "BERTH_SCHEDULER_REPLACED" || body.turn > first.turn).toBe(true);
    expect(await refused(world, { after: first.turn, decisions: [{ job: "a", slots: [0] }] })).toBe(
      "BERTH_TURN_PASSED",
    );
  });

  it("T7 can take a job down and start another one in its slots in one turn", async () => {
    await using world = await embedded();
    await submit(world, "long", 10_000);
    const first = await turn(world, {});
    await submit(world, "short", 10);
    const second = await turn(world, { after: first.turn, decisions: [{ job: "long", slots: [0, 1, 2, 3] }] });
    expect(second.queue.map(({ name }) => name)).toEqual(["short"]);
    const decisions = [
      { job: "long", release: true },
      { job: "short", slots: [0] },
    ];
    let next = await turn(world, { after: second.turn, decisions });
    expect(next.rejected).toEqual([]);
    while (!next.events.some(({ type, job }) => type === "job.completed" && job === "short")) {
      next = await turn(world, { after: next.turn });
    }
    expect(next.queue.map(({ name }) => name)).toEqual(["long"]);
    expect((await world.ask("GET", "/v1/jobs/long")).body.history[0].outcome).toBe("Released");
  });
});
