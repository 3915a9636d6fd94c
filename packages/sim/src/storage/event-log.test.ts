import { VirtualClock } from "@berth/kube";
import { expect, it } from "vitest";
import { logEvents } from "./event-log.ts";
import { Store } from "./store.ts";

it("S8 writes a line for each write, from which all objects can be told at any time", async () => {
  const clock = new VirtualClock({ start: 1000 });
  const store = new Store();
  const lines: string[] = [];
  const stop = logEvents(store, clock, (line) => lines.push(line));
  const first = store.put("/pods", { metadata: { name: "a", namespace: "n" }, status: { phase: "Pending" } });
  await clock.advance(500);
  const second = store.put("/pods", { ...first, metadata: { ...first.metadata }, status: { phase: "Running" } });
  store.remove("/pods", second);
  stop();
  store.put("/pods", { metadata: { name: "b", namespace: "n" } });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: 1000,
      version: 2,
      resource: "/pods",
      key: "n/a",
      added: { metadata: { name: "a", namespace: "n", resourceVersion: "2" }, status: { phase: "Pending" } },
    },
    {
      time: 1500,
      version: 3,
      resource: "/pods",
      key: "n/a",
      changed: { metadata: { resourceVersion: "3" }, status: { phase: "Running" } },
    },
    { time: 1500, version: 4, resource: "/pods", key: "n/a", deleted: true },
  ]);
});
