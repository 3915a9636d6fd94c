/** Everything at once, in virtual time, again and again from other seeds; then the API server's record is read. */
import { coreV1, integer, isNotFound, pick, SeededRandom, VirtualClock } from "@berth/kube";
import { BatchJob, Scheduling, Testbed } from "@berth/model";
import { startSim } from "@berth/sim";
import { expect, it } from "vitest";
import { operatorOn } from "../scenarios/targets/operator-on.ts";
import { Audit } from "./audit.ts";

const { BERTH_CHAOS_SEEDS = "3", BERTH_CHAOS_FIRST = "1" } = process.env;
const seeds = Array.from({ length: Number(BERTH_CHAOS_SEEDS) }, (_, index) => Number(BERTH_CHAOS_FIRST) + index);
const NAMESPACE = "default";
const LABEL = "example.org/slots";
const [NODES, JOBS, STEPS] = [10, 40, 60];

it.each(seeds)(
  "C1 no slot ever holds two, everybody is where they were told, and nothing is stuck or left behind (seed %i)",
  async (seed) => {
    const random = new SeededRandom(`chaos-${seed}`);
    const clock = new VirtualClock();
    const audit = new Audit();
    const sim = await startSim({
      clock,
      seed: `chaos-${seed}`,
      nodes: NODES,
      log: (line) => audit.read(line),
      kubelet: { startMs: 500 },
    });
    const { client } = sim;
    let stop = await operatorOn(sim.transport, client, clock);
    await clock.advance(3000);
    const unlessGone = (error: unknown) => {
      if (!isNotFound(error)) throw error;
    };
    const mark = (index: number, value: string | null) =>
      client.patch(coreV1.Node, { name: `node-${index}` }, { merge: { metadata: { labels: { [LABEL]: value } } } });
    for (let index = 0; index < NODES; index++) await mark(index, String(index));
    await client.create(Testbed, {
      metadata: { name: "main", namespace: NAMESPACE },
      spec: { slotsPerNode: 3, nodeLabel: LABEL, resourcesPerSlot: { cpu: "2", memory: "4Gi" } },
    });
    for (let index = 0; index < JOBS; index++) {
      const annotations = {
        "berth.dev/run-time": `${integer(random, 5, 60)}s`,
        "berth.dev/exit-code": random.next() < 0.1 ? "1" : "0",
      };
      const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "any" }] } };
      const retry = { limit: integer(random, 0, 3), backoffSeconds: 2 };
      await client.create(BatchJob, {
        metadata: { name: `job-${index}`, namespace: NAMESPACE },
        spec: { jobSpec: { template }, retry },
      });
    }
    await clock.advance(5000);
    let schedulings = 0;
    const schedule = async () => {
      const names = Array.from({ length: integer(random, 1, 6) }, () => `job-${integer(random, 0, JOBS)}`);
      const spec =
        random.next() < 0.5
          ? { queueBased: names.flatMap((name) => Array.from({ length: integer(random, 1, 4) }, () => ({ name }))) }
          : {
              slotBased: [...new Set(names)].map((name) => ({
                name,
                slots: [...new Set([integer(random, 0, NODES * 3), integer(random, 0, NODES * 3)])],
              })),
            };
      await client.create(Scheduling, {
        metadata: { name: `s-${schedulings++}`, namespace: NAMESPACE },
        spec: { testbed: { name: "main" }, ...spec, exclusive: random.next() < 0.05 },
      });
    };
    const failed = new Set<number>();
    const happenings: (() => Promise<unknown>)[] = [
      schedule,
      schedule,
      schedule,
      () => mark(integer(random, 0, NODES), random.next() < 0.4 ? null : String(integer(random, 0, 99))),
      async () => {
        const index = integer(random, 0, NODES);
        if (failed.has(index)) sim.recoverNode(`node-${index}`);
        else sim.failNode(`node-${index}`);
        if (!failed.delete(index)) failed.add(index);
      },
      () =>
        client.patch(
          Testbed,
          { namespace: NAMESPACE, name: "main" },
          { merge: { spec: { slotsPerNode: integer(random, 1, 4) } } },
        ),
      () =>
        client
          .delete(Scheduling, { namespace: NAMESPACE, name: `s-${integer(random, 0, schedulings + 1)}` })
          .catch(unlessGone),
      async () => {
        const requests = { cpu: pick(random, ["500m", "2"]) };
        const metadata = {
          generateName: "ordinary-",
          namespace: NAMESPACE,
          annotations: { "berth.dev/run-time": "20s" },
        };
        const spec = {
          restartPolicy: "Never" as const,
          containers: [{ name: "c", image: "any", resources: { requests } }],
        };
        await client.create(coreV1.Pod, { metadata, spec });
      },
      async () => {
        const { items } = await client.list(coreV1.Pod, { namespace: NAMESPACE, labelSelector: "berth.dev/role" });
        if (items.length > 0)
          await client
            .delete(coreV1.Pod, { namespace: NAMESPACE, name: pick(random, items).metadata.name ?? "" })
            .catch(unlessGone);
      },
      async () => {
        await stop();
        stop = await operatorOn(sim.transport, client, clock);
      },
    ];
    for (let step = 0; step < STEPS; step++) {
      await pick(random, happenings)();
      await clock.advance(integer(random, 0, 8000));
    }

    // Peace: everything that can be is given back, and whatever was wanted is carried out or given up.
    for (const index of failed) sim.recoverNode(`node-${index}`);
    for (let index = 0; index < NODES; index++) await mark(index, String(index));
    await client.patch(Testbed, { namespace: NAMESPACE, name: "main" }, { merge: { spec: { slotsPerNode: 3 } } });
    await clock.advance(60 * 60_000);
    expect(audit.complaints).toEqual([]);
    expect(audit.bound).toBeGreaterThan(10);
    const stuck = audit.all("berth.dev/schedulings").filter(({ status }) => {
      const jobs: { phase: string; message?: string }[] = status?.jobs ?? [];
      return jobs.some(
        ({ phase, message = "" }) =>
          !["Completed", "Failed", "Released"].includes(phase) && !/could be used$/.test(message),
      );
    });
    expect(stuck.map(({ metadata, status }) => [metadata.name, status])).toEqual([]);
    // Nobody has anything who does not run, and every slot is held by a ghost again.
    for (const { metadata } of audit.all("berth.dev/schedulings"))
      await client.delete(Scheduling, { namespace: NAMESPACE, name: metadata.name }).catch(unlessGone);
    await clock.advance(10 * 60_000);
    expect(
      audit.all("berth.dev/batchjobs").filter(({ spec }) => spec.activeScheduling || spec.creationRequest),
    ).toEqual([]);
    expect(audit.all("berth.dev/slots").map(({ status }) => status.state)).toEqual(
      Array.from({ length: NODES * 3 }, () => "free"),
    );
    const ghosts = audit.all("/pods").filter(({ metadata }) => metadata.labels?.["berth.dev/role"] === "ghost");
    expect(ghosts).toHaveLength(NODES * 3);
    await stop();
    await sim.stop();
  },
);
