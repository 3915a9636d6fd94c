/** Spark, Flink and Jobs through the whole operator, with the stand-ins for their operators that the simulated cluster has. */
import { coreV1 } from "@berth/kube";
import { BatchJob } from "@berth/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApplicationSpec, minimal } from "../testing/orders.ts";
import type { Target } from "./target.ts";
import { simTarget } from "./targets/sim-target.ts";
import { World } from "./world.ts";

const SLOTS = { resourcesPerSlot: { cpu: "2", memory: "4Gi" }, slotsPerNode: 2 };
const kinds: ApplicationSpec[] = ["sparkSpec", "flinkSpec", "jobSpec"];

describe.each(["gate", "extender"] as const)("by %s", (placement) => {
  let target: Target;
  beforeAll(async () => {
    target = await simTarget({ placement });
  });
  afterAll(() => target?.close());

  async function submitted(kind: ApplicationSpec): Promise<World> {
    const world = await World.with(target, 3, SLOTS);
    await world.client.create(BatchJob, {
      metadata: { name: "a", namespace: world.namespace },
      spec: { [kind]: minimal[kind] } as BatchJob["spec"],
    });
    return world;
  }

  it.each(kinds)("A1 executors of a %s land in their slots, and others are placed by the scheduler", async (kind) => {
    const world = await submitted(kind);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2, 5] }] });
    await world.phase("a", "Running");
    await world.eventually("all are there", async () => {
      const places = await world.places("a");
      return places.length === 3 && !places.some((place) => /no (slot|node)/.test(place));
    });
    expect(await world.places("a")).toEqual([
      `1 on ${world.node(0)}`,
      `2 on ${world.node(1)}`,
      `5 on ${world.node(2)}`,
    ]);
    const { items } = await world.client.list(coreV1.Pod, { namespace: world.namespace });
    const others = items.filter(({ metadata }) => metadata.labels?.["berth.dev/role"] === undefined);
    expect(others).toHaveLength(kind === "jobSpec" ? 0 : 1);
    for (const { spec } of others)
      expect([spec?.schedulingGates, spec?.nodeName !== undefined]).toEqual([undefined, true]);
    const { status } = await world.phase("a", "Completed");
    expect(status?.runs).toMatchObject([{ outcome: "Completed", slots: [1, 2, 5] }]);
    await world.states("free", "free", "free", "free", "free", "free");
    await world.tidyUp();
  });

  it("A2 an executor of Spark whose node is lost for good is done without", async () => {
    const world = await submitted("sparkSpec");
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2, 5] }] });
    await world.phase("a", "Running");
    const [driver] = (await world.client.list(coreV1.Pod, { namespace: world.namespace })).items.filter(
      ({ metadata }) => metadata.labels?.["spark-role"] === "driver",
    );
    const lost = [0, 1, 2].find((index) => world.node(index) !== driver?.spec?.nodeName) ?? 0;
    await world.target.removeNode(world.node(lost));
    await world.eventually("it says so", async () => {
      const { status } = await world.job("a");
      return status?.conditions?.some(({ message = "" }) =>
        message.includes(`is gone with its node ${world.node(lost)}`),
      );
    });
    await world.phase("a", "Completed");
    await world.tidyUp();
  });
});
