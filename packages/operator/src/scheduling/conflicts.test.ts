/** Somebody else is always quicker: the operator's writes to jobs are refused, several times each, and come to the same end. */
import { ApiError, type ApiRequest, type Transport, VirtualClock } from "@berth/kube";
import { BatchJob, Scheduling, Testbed } from "@berth/model";
import { startSim } from "@berth/sim";
import { expect, it } from "vitest";
import { install } from "../install/install.ts";
import { operatorOn } from "../scenarios/targets/operator-on.ts";

const KEY = { namespace: "default", name: "work" };

it("O30 a job that was changed in the moment it was to be claimed, or released, is tried again", async () => {
  const clock = new VirtualClock();
  await using sim = await startSim({ clock, nodes: [{ name: "n0", labels: { "example.org/slots": "0" } }] });
  const installing = install(sim.client, clock);
  await clock.advance(5000);
  await installing;
  const { transport, refused } = refusing(sim.transport);
  const operator = await operatorOn(transport, clock);
  const spec = { slotsPerNode: 2, nodeLabel: "example.org/slots", resourcesPerSlot: { cpu: "1", memory: "1Gi" } };
  await sim.client.create(Testbed, { metadata: { namespace: "default", name: "main" }, spec });
  await clock.advance(10_000);
  const annotations = { "berth.dev/run-time": "20s" };
  const template = { metadata: { annotations }, spec: { containers: [{ name: "main", image: "busybox" }] } };
  await sim.client.create(BatchJob, { metadata: KEY, spec: { jobSpec: { template } } });
  await sim.client.create(Scheduling, {
    metadata: KEY,
    spec: { testbed: { name: "main" }, slotBased: [{ name: "work", slots: [0, 1] }] },
  });
  await clock.advance(60_000);
  const job = await sim.client.get(BatchJob, KEY);
  expect(job.status?.phase).toBe("Completed");
  expect(job.spec.activeScheduling).toBeUndefined();
  expect((await sim.client.get(Scheduling, KEY)).status?.phase).toBe("Completed");
  expect(refused()).toBe(10); // the claim, the release
  await operator.stop();
});

/** Refuses a PATCH of a BatchJob five times, as if it came too late, and then lets one pass. */
function refusing(transport: Transport): { transport: Transport; refused: () => number } {
  let count = 0;
  const isClaim = ({ verb, kind }: ApiRequest) => verb === "patch" && kind.kind === "BatchJob";
  const request: Transport["request"] = async (each) => {
    if (isClaim(each) && ++count % 6 !== 0)
      throw new ApiError({ code: 409, reason: "Conflict", message: "somebody was quicker" });
    return transport.request(each);
  };
  return { transport: { ...bound(transport), request }, refused: () => Math.ceil((count * 5) / 6) };
}

function bound(transport: Transport): Transport {
  return {
    namespace: transport.namespace,
    request: (each) => transport.request(each),
    watch: (each, onEvent) => transport.watch(each, onEvent),
    bytes: (each) => transport.bytes(each),
    exec: (each) => transport.exec(each),
    close: async () => {},
  };
}
