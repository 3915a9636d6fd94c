/** A simulated cluster in virtual time. Whoever dies stops in the middle of a write, which may have happened or not. */
import { coreV1, integer, type Random, SeededRandom, type Transport, VirtualClock } from "@berth/kube";
import { type LoggedEvent, startSim } from "@berth/sim";
import { install } from "../install/install.ts";
import { filtered, type Seats, victims } from "../placement/extender.ts";
import { operatorOn } from "../scenarios/targets/operator-on.ts";
import type { Arena, ArenaOptions } from "./arena.ts";
import { type AnyObject, Audit } from "./audit.ts";
import { mortal } from "./mortal-transport.ts";

interface Replica {
  /** Rejects if it has ended by itself. */
  readonly ended: Promise<void>;
  readonly seats: Seats;
  readonly die: () => void;
}

export async function simArena({ seed, placement }: ArenaOptions): Promise<Arena> {
  const random = new SeededRandom(seed);
  const clock = new VirtualClock();
  const audit = new Audit();
  const replicas: Replica[] = [];
  const seats = () => (replicas.at(-1) as Replica).seats;
  const extender = {
    filter: async (args: Parameters<typeof filtered>[0]) => filtered(args, seats()),
    preempt: async (args: Parameters<typeof victims>[0]) => victims(args, seats()),
  };
  const second = { profiles: [{ schedulerName: "berth" }], extenders: [{ extender, nodeCacheCapable: true }] };
  const sim = await startSim({
    clock,
    seed,
    schedulers: [{}, second],
    kubelet: { startMs: 500 },
    log: (line) => hear(audit, JSON.parse(line)),
  });
  const start = async () => {
    const born = await replica(sim.transport, clock, random.fork(`replica`), placement);
    replicas.push(born);
    // Who loses the lease ends, and is started anew, as a kubelet would do it.
    void born.ended.catch(async () => {
      const index = replicas.indexOf(born);
      if (index !== -1) replicas.splice(index, 1);
      if (index !== -1) await start();
    });
  };
  const installing = install(sim.client, clock);
  await clock.advance(3000);
  await installing;
  for (let count = 0; count < 2; count++) await start();
  await clock.advance(5000);
  return {
    client: sim.client,
    pass: (milliseconds) => clock.advance(milliseconds),
    patienceMs: 60 * 60_000,
    addNode: async (name, labels) => sim.addNode({ name, labels }),
    removeNode: async (name) => void (await sim.client.delete(coreV1.Node, { name })),
    breakNode: async (name) => sim.failNode(name),
    mendNode: async (name) => sim.recoverNode(name),
    killOperator: async () => {
      const [victim] = replicas.splice(integer(random, 0, replicas.length), 1);
      victim?.die();
      await start();
    },
    killScheduler: async () => sim.restartScheduler(placement === "gate" ? 0 : 1),
    audit: async () => audit,
    close: async () => {
      for (const { die } of replicas.splice(0)) die();
      await sim.stop();
    },
  };
}

async function replica(
  transport: Transport,
  clock: VirtualClock,
  random: Random,
  placement: ArenaOptions["placement"],
): Promise<Replica> {
  const life = mortal(transport);
  const operator = await operatorOn(life.transport, clock, {
    placement: placement === "gate" ? { type: "gate" } : { type: "extender", schedulerName: "berth" },
    leaderElection: { id: "berth-operator", namespace: "berth-system" },
    random,
  });
  return {
    ended: operator.ended,
    seats: operator.seats,
    die: () => {
      life.end(integer(random, 0, 4));
      void operator.stop().catch(() => {}); // it only hears that nobody answers any more
    },
  };
}

/** Makes whole objects of what has changed in them. */
function hear(audit: Audit, { time, resource, key, added, changed, deleted }: LoggedEvent): void {
  const name = resource.split("/")[1] ?? "";
  const object = deleted ? undefined : (added ?? merged(audit.get(name, key), changed));
  audit.heard({ time: new Date(time).toISOString(), resource: name, key, object });
}

/** RFC 7396. */
function merged(before: AnyObject, patch: AnyObject): AnyObject {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isMap = typeof before === "object" && before !== null && !Array.isArray(before);
  const result: AnyObject = isMap ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
