/** What becomes of a job. */
import { coreV1 } from "@berth/kube";
import { BatchJob, Scheduling } from "@berth/model";
import { expect } from "vitest";
import type { Tell } from "./suite.ts";

export function jobs(it: Tell): void {
  it("O1 a job runs in the slots that a Scheduling names, and gives them back", 2, async (world) => {
    await world.submit("a", 40);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 3] }] });
    await world.phase("a", "Running");
    expect(await world.places("a")).toEqual([`0 on ${world.node(0)}`, `3 on ${world.node(1)}`]);
    await world.states("occupied", "free", "free", "occupied");
    await world.phase("a", "Completed");
    await world.states("free", "free", "free", "free");
    const { status } = await world.eventually("the end", async () => {
      const scheduling = await world.scheduling("s");
      return scheduling.status?.phase === "Completed" && scheduling;
    });
    expect(status?.jobs).toMatchObject([{ name: "a", phase: "Completed", slots: [0, 3], run: 1 }]);
    const { spec, status: of } = await world.job("a");
    expect([spec.activeScheduling, spec.creationRequest]).toEqual([undefined, undefined]);
    expect(of?.runs).toMatchObject([{ number: 1, outcome: "Completed", slots: [0, 3] }]);
  });

  it("O5 a Scheduling that is deleted lets its jobs go, with everything they had", 2, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2] }] });
    await world.phase("a", "Running");
    await world.client.delete(Scheduling, { namespace: world.namespace, name: "s" });
    await world.phase("a", "Ready");
    await world.states("free", "free", "free", "free");
    expect(await world.applications()).toEqual([]);
    expect((await world.job("a")).status?.runs).toMatchObject([{ outcome: "Released" }]);
  });

  it("O6 an executor that is lost is replaced in the slot that it had", 2, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [1, 2] }] });
    await world.phase("a", "Running");
    const [victim] = (await world.pods("executor")).filter(
      ({ metadata }) => metadata.annotations?.["berth.dev/slot"] === "2",
    );
    const name = victim?.metadata.name ?? "";
    await world.client
      .subresource("eviction")
      .create(coreV1.Pod, { namespace: world.namespace, name }, { metadata: { name } });
    await world.eventually("its successor", async () => {
      const pods = await world.pods("executor");
      return pods.some(
        ({ metadata, status }) =>
          metadata.uid !== victim?.metadata.uid &&
          metadata.annotations?.["berth.dev/slot"] === "2" &&
          status?.phase === "Running",
      );
    });
    expect(await world.places("a")).toEqual([`1 on ${world.node(0)}`, `2 on ${world.node(1)}`]);
  });

  it("O7 a job that fails is tried again as often as it may be", 1, async (world) => {
    await world.submit("a", 1, { retry: { limit: 1, backoffSeconds: 1 } }, 1);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    const { status } = await world.phase("a", "Failed");
    expect([status?.attempt, status?.runs?.[0]?.outcome]).toEqual([1, "Failed"]);
    await world.states("free", "free");
  });

  it("O11 a job that is deleted takes its application along, and its slots are free", 1, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 1] }] });
    await world.phase("a", "Running");
    await world.client.delete(BatchJob, { namespace: world.namespace, name: "a" });
    await world.states("free", "free");
    await world.eventually("no application", async () => (await world.applications()).length === 0);
  });

  it("O12 a job that fails says why, and its slots are free", 1, async (world) => {
    await world.submit("a", 1, {}, 3);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 1] }] });
    const { status } = await world.phase("a", "Failed");
    expect(status?.runs).toMatchObject([{ number: 1, outcome: "Failed", slots: [0, 1] }]);
    await world.eventually("the Scheduling knows", async () => {
      const [entry] = (await world.scheduling("s")).status?.jobs ?? [];
      return entry?.phase === "Failed" && entry.message !== undefined;
    });
    await world.told(await world.job("a"), "Failed", /./);
    await world.states("free", "free");
  });

  it("O13 a job that cannot fit is refused with the arithmetic, and nothing runs", 1, async (world) => {
    const resources = { requests: { cpu: "5" } };
    const template = { spec: { containers: [{ name: "main", image: "busybox", resources }] } };
    await world.submit("a", 1, { jobSpec: { template } });
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    const { status } = await world.phase("a", "Failed");
    expect(status?.runs?.[0]?.message).toMatch(/5.*4/);
    expect(await world.applications()).toEqual([]);
    await world.states("free", "free");
  });

  it("O14 a run's record names the neighbours on its nodes", 2, async (world) => {
    await world.submit("a", 6);
    for (const name of ["b", "c"]) await world.submit(name, 600);
    await world.schedule("s", {
      slotBased: [
        { name: "a", slots: [0] },
        { name: "b", slots: [1] },
        { name: "c", slots: [2] },
      ],
    });
    const { status } = await world.phase("a", "Completed");
    expect(status?.runs).toMatchObject([{ slots: [0], neighbours: [`${world.namespace}/b`] }]);
    expect(status?.runs?.[0]?.seconds).toBeGreaterThan(4);
  });

  it("O15 whoever describes a job reads where its executors are, and how it went", 2, async (world) => {
    await world.submit("a", 8);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 2] }] });
    const running = await world.phase("a", "Running");
    const where = `runs: slot 0 on ${world.node(0)}, slot 2 on ${world.node(1)}`;
    await world.eventually("it says where", async () => {
      const { status } = await world.job("a");
      return status?.conditions?.some(({ message }) => message === where);
    });
    await world.phase("a", "Completed");
    await world.told(running, "Running", /^runs: slot 0/);
    await world.told(running, "Completed", /has completed|Job/);
  });

  it("O16 a job whose slots are gone with their node has failed, and can run elsewhere", 2, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0, 2] }] });
    await world.phase("a", "Running");
    await world.target.removeNode(world.node(1));
    const { status } = await world.phase("a", "Failed");
    expect(status?.runs?.[0]?.message).toBe(`slot 2 is gone with its node ${world.node(1)}`);
    await world.states("free", "free");
    await world.schedule("t", { slotBased: [{ name: "a", slots: [1] }] });
    await world.phase("a", "Running");
    expect(await world.places("a")).toEqual([`1 on ${world.node(0)}`]);
  });

  it("O17 an application that is deleted by somebody else has failed", 1, async (world) => {
    await world.submit("a", 600);
    await world.schedule("s", { slotBased: [{ name: "a", slots: [0] }] });
    await world.phase("a", "Running");
    await world.removeApplications();
    const { status } = await world.phase("a", "Failed");
    expect(status?.runs?.[0]?.message).toBe("its application was deleted");
    await world.states("free", "free");
  });
}
