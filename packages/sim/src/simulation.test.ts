import { appsV1, batchV1, coreV1, eventsV1, VirtualClock, WallClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { startSim } from "./simulation.ts";

const NAMESPACE = "default";
const metadata = { name: "x", namespace: NAMESPACE };
const labels = { app: "x" };
const selector = { matchLabels: labels };

describe("a simulated cluster", () => {
  it("survives pods that fail in the moment they are made, and time goes on", async () => {
    const clock = new VirtualClock();
    await using sim = await startSim({ clock, nodes: 2 });
    // Pinned to a node past the scheduler, with more than the node has: its kubelet refuses them at once.
    const containers = [{ name: "main", image: "none", resources: { requests: { cpu: "100" } } }];
    const template = { metadata: { labels }, spec: { nodeName: "node-0", containers } };
    await sim.client.create(appsV1.Deployment, { metadata, spec: { replicas: 3, selector, template } });
    await sim.client.create(appsV1.DaemonSet, { metadata, spec: { selector, template } });
    await sim.client.create(appsV1.StatefulSet, {
      metadata,
      spec: { replicas: 3, serviceName: "x", selector, template },
    });
    const spec = { ...template.spec, restartPolicy: "Never" as const };
    await sim.client.create(batchV1.Job, {
      metadata,
      spec: { parallelism: 2, template: { metadata: { labels }, spec } },
    });
    await clock.advance(10_000);
    const pods = await sim.client.list(coreV1.Pod, { namespace: NAMESPACE });
    expect(pods.items.length).toBeGreaterThan(50);
    expect(pods.items.length).toBeLessThan(2000);
  });

  it("tells of what it does in events where somebody is there to read them, and elsewhere if asked to", async () => {
    const eventsOn = async (options: Parameters<typeof startSim>[0]) => {
      await using sim = await startSim({ nodes: 1, ...options });
      const containers = [{ name: "main", image: "none" }];
      await sim.client.create(coreV1.Pod, { metadata, spec: { containers } });
      await new VirtualClock().settle(); // all that does not wait for time
      return (await sim.client.list(eventsV1.Event, { namespace: NAMESPACE })).items.length > 0;
    };
    expect(await eventsOn({ clock: new WallClock() })).toBe(true);
    expect(await eventsOn({ clock: new VirtualClock() })).toBe(false);
    expect(await eventsOn({ clock: new VirtualClock(), events: true })).toBe(true);
    expect(await eventsOn({ clock: new WallClock(), events: false })).toBe(false);
  });
});
