/** STOMP with the client that people use in Python. */
import { WallClock } from "@berth/kube";
import { expect, it } from "vitest";
import { jobManifest, startEmbedded } from "../testing/embedded.ts";
import { pythonWith, run } from "../testing/python.ts";

it("S33 stomp.py gets a snapshot, and then changes", async () => {
  await using world = await startEmbedded({ clock: new WallClock() });
  await world.ask("POST", "/v1/jobs", jobManifest("before", 1000));
  const program = new URL("./testing/listen.py", import.meta.url).pathname;
  const { port } = new URL(world.gateway.url);
  const listening = run(await pythonWith("stomp.py==8.2.0"), [program, port, "/topic/jobs", "3"]);
  let over = false;
  void listening.then(() => {
    over = true;
  });
  for (let index = 0; !over; index++) await world.ask("POST", "/v1/jobs", jobManifest(`later-${index}`, 1000));
  const { code, output } = await listening;
  expect(code, output).toBe(0);
  const [snapshot, ...changes] = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(snapshot.headers).toMatchObject({ destination: "/topic/jobs", subscription: "s" });
  expect(snapshot.body).toMatchObject({ type: "snapshot", last: true });
  expect(snapshot.body.items.map(({ name }: { name: string }) => name)).toContain("before");
  const known = new Set(snapshot.body.items.map(({ name }: { name: string }) => name));
  for (const { body } of changes) {
    expect(body.type === "added" && known.has(body.name), "told twice").toBe(false);
    expect(body.name).toMatch(/^later-|^before/);
  }
});
