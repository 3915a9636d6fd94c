/** Turns, with a whole embedded cluster: in virtual time, and over HTTP as any scheduler. */
import { VirtualClock } from "@berth/kube";
import type { FullTurn } from "@berth/model";
import { expect, it } from "vitest";
import { type Embedded, jobManifest, startEmbedded } from "../testing/embedded.ts";

const embedded = () => startEmbedded({ clock: new VirtualClock() });
const TURN = "/v1/schedulers/fifo/turn";

async function turn(world: Embedded, body: object): Promise<FullTurn> {
  const { status, body: reply } = await world.ask("POST", TURN, { testbed: "main", ...body });
  expect(reply, `${status}`).toHaveProperty("turn");
  return reply;
}

it("a job goes through the queue into slots, and back out", async () => {
  await using world = await embedded();
  const first = await turn(world, {});
  expect(first).toMatchObject({ turn: 1, clock: "virtual", view: "full", queue: [], running: [], events: [] });
  expect(first.slots.map(({ id, node, state }) => `${id} ${node} ${state}`)).toEqual([
    "0 n0 free",
    "1 n0 free",
    "2 n1 free",
    "3 n1 free",
  ]);
  expect((await world.ask("POST", "/v1/jobs", jobManifest("pi", 30))).status).toBe(201);
  const second = await turn(world, { after: first.turn });
  expect(second.events).toMatchObject([{ type: "job.submitted", job: "pi" }]);
  expect(second.queue).toMatchObject([{ name: "pi", kind: "job" }]);
  const third = await turn(world, { after: second.turn, decisions: [{ job: "pi", slots: [1, 2], reason: "first" }] });
  const types = third.events.map(({ type, job, slot }) => `${type} ${job ?? slot}`);
  expect(types).toContain("job.completed pi");
  expect(types).toContain("slot.freed 1");
  expect(third.queue).toEqual([]);
  expect(third.time - second.time).toBeGreaterThan(30);
  expect(third.slots.map(({ state }) => state)).toEqual(["free", "free", "free", "free"]);
  const { body: job } = await world.ask("GET", "/v1/jobs/pi");
  expect(job).toMatchObject({ phase: "Completed", waiting: false, history: [{ outcome: "Completed", slots: [1, 2] }] });
  const { body: schedulings } = await world.ask("GET", "/v1/schedulings");
  expect(schedulings.items).toMatchObject([{ name: "fifo.main.2", scheduler: "fifo", turn: 2, reason: "pi: first" }]);
});
