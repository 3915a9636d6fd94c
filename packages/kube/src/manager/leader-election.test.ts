/** Leader election in virtual time, on a model of an API server that fails as it likes. */
import { describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { KubeError } from "../errors.ts";
import { Lease } from "../kinds/coordination-v1.ts";
import { ModelApi } from "../testing/model-api.ts";
import { ModelTransport, type ModelTransportOptions } from "../testing/model-transport.ts";
import { sleep, VirtualClock } from "../time/clock.ts";
import { integer, SeededRandom } from "../time/random.ts";
import { judge, LeaderElector } from "./leader-election.ts";

function setUp(seed: string) {
  const clock = new VirtualClock();
  const random = new SeededRandom(seed);
  const model = new ModelApi({ clock, random });
  const replica = (identity: string, fail?: Faults["fail"], faults: Faults = {}) => {
    const transport = new ModelTransport(model, { clock, ...faults, ...(fail && { fail }) });
    const client = new Client(transport, { clock, random, maxRetries: 0 });
    return new LeaderElector({ id: "leader" }, { client, clock, random: random.fork(identity), identity });
  };
  const lease = () => model.get(Lease, { namespace: "default", name: "leader" });
  return { clock, random, model, replica, lease };
}

type Faults = Omit<ModelTransportOptions, "clock">;

const down = () => new KubeError("KUBE_CONNECTION_FAILED", "down");

describe("a lease", () => {
  const held = (holderIdentity: string): Lease => ({
    metadata: {},
    spec: { holderIdentity, leaseDurationSeconds: 15 },
  });

  it.each([
    [held(""), 0, "free"],
    [{ metadata: {} }, 0, "free"],
    [held("me"), 1e9, "ours"],
    [held("you"), 14_999, "held"],
    [held("you"), 15_000, "free"],
  ] as const)("L3 %j, first seen so %i ms ago, is %s", (lease, age, standing) => {
    expect(judge(lease, "me", age)).toBe(standing);
  });
});

describe("the replicas", () => {
  it("L1 have one leader, who stays as long as it renews", async () => {
    const { clock, replica, lease } = setUp("one");
    const stop = new AbortController();
    const [a, b] = [replica("a"), replica("b")];
    await a.acquire(stop.signal);
    const waiting = b.acquire(stop.signal).catch(() => "stopped");
    const holding = a.hold(stop.signal).catch(() => "stopped");
    await clock.advance(300_000);
    expect([a.isLeading, b.isLeading]).toEqual([true, false]);
    expect(lease().spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    stop.abort();
    await Promise.all([waiting, holding]);
  });

  it("L2 take over at once from one that lets go, and after a while from one that is gone", async () => {
    const { clock, replica, lease } = setUp("two");
    const [a, b, c] = [replica("a"), replica("b"), replica("c")];
    const stop = new AbortController();
    await a.acquire(stop.signal);
    const asked = clock.now();
    let tookOver = 0;
    const waiting = b.acquire(stop.signal).then(() => {
      tookOver = clock.now();
    });
    await clock.advance(5000);
    await a.release();
    await clock.advance(3000);
    await waiting;
    expect(tookOver - asked).toBeLessThanOrEqual(5000 + 2400);
    expect(lease().spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    // b is never heard of again.
    const next = c.acquire(stop.signal);
    await clock.advance(14_000);
    expect(c.isLeading).toBe(false);
    await clock.advance(6000);
    await next;
    expect(c.isLeading).toBe(true);
  });

  it("L1 stop in time when they cannot renew, and when somebody else has the lease", async () => {
    const { clock, model, replica } = setUp("three");
    let broken = false;
    const stop = new AbortController();
    const a = replica("a", () => broken && down());
    await a.acquire(stop.signal);
    const lost = expect(a.hold(stop.signal)).rejects.toMatchObject({ code: "KUBE_LEADERSHIP_LOST" });
    await clock.advance(20_000);
    broken = true;
    await clock.advance(7500);
    expect(a.isLeading).toBe(true);
    await clock.advance(2500);
    expect(a.isLeading).toBe(false);
    await lost;

    broken = false;
    const b = replica("b");
    const taking = b.acquire(stop.signal);
    await clock.advance(20_000);
    await taking;
    const usurped = expect(b.hold(stop.signal)).rejects.toMatchObject({ code: "KUBE_LEADERSHIP_LOST" });
    model.patch(Lease, { namespace: "default", name: "leader" }, { spec: { holderIdentity: "usurper" } });
    await clock.advance(4500);
    await usurped;
    expect(b.isLeading).toBe(false);
  });

  it("L1 do not lead after a sleep that they have not noticed", async () => {
    const { clock, replica } = setUp("four");
    const a = replica("a");
    await a.acquire(new AbortController().signal);
    expect(a.isLeading).toBe(true);
    await clock.advance(10_000); // and nobody renews, as in a process that is stopped
    expect(a.isLeading).toBe(false);
  });

  it("L1 do not take a lease for older than it is because its answer was slow", async () => {
    const { clock, replica } = setUp("slow");
    const stop = new AbortController();
    const a = replica("a");
    await a.acquire(stop.signal);
    const holding = a.hold(stop.signal).catch(() => {});
    // Each answer is 9 s old when it comes.
    const b = replica("b", undefined, { latency: ({ verb }) => (verb === "get" ? [0, 9000] : [0, 0]) });
    const waiting = b.acquire(stop.signal).catch(() => {});
    await clock.advance(20_000);
    // From now on a cannot renew, and b must not lead before a has stopped to.
    for (let step = 0; step < 1000; step++) {
      await clock.advance(100);
      expect(a.isLeading && b.isLeading).toBe(false);
    }
    stop.abort();
    await clock.advance(60_000);
    await Promise.all([holding, waiting]);
  });

  it("L1 stop in time although a renewal cannot be stopped", async () => {
    const { clock, replica } = setUp("stuck");
    let stuck = false;
    const deaf = replica("b", undefined, { latency: () => (stuck ? [1e9, 0] : [0, 0]) });
    const stop = new AbortController();
    await deaf.acquire(stop.signal);
    const lost = expect(deaf.hold(stop.signal)).rejects.toMatchObject({ code: "KUBE_LEADERSHIP_LOST" });
    await clock.advance(5000);
    stuck = true;
    await clock.advance(10_100);
    expect(deaf.isLeading).toBe(false);
    await lost;
  });

  it("L1 go by the time that has passed, whatever somebody sets the clock to", async () => {
    const { clock, model, replica } = setUp("set");
    let offset = 0;
    const settable = Object.assign(Object.create(clock) as VirtualClock, {
      now: () => clock.now() + offset,
      steady: () => clock.steady(),
      setTimer: clock.setTimer.bind(clock),
    });
    const client = new Client(new ModelTransport(model, { clock }), { clock, maxRetries: 0 });
    const context = { client, clock: settable, random: new SeededRandom("x"), identity: "b" };
    const stop = new AbortController();
    const a = replica("a");
    await a.acquire(stop.signal);
    const holding = a.hold(stop.signal).catch(() => {});
    const b = new LeaderElector({ id: "leader" }, context);
    const waiting = b.acquire(stop.signal).catch(() => {});
    await clock.advance(3000);
    offset = 3_600_000; // an hour ahead
    await clock.advance(10_000);
    expect(b.isLeading).toBe(false);
    stop.abort();
    await Promise.all([holding, waiting]);
    // And a leader whose clock is set back does not lead for longer.
    await a.release();
    const later = new AbortController();
    const second = b.acquire(later.signal);
    await clock.advance(5000);
    await second;
    expect(b.isLeading).toBe(true);
    offset = 0;
    await clock.advance(10_000);
    expect(b.isLeading).toBe(false);
  });

  it("L2 let go of the lease although a renewal of theirs was carried out unheard", async () => {
    const { clock, replica, lease } = setUp("unheard");
    let unheard = false;
    const a = replica("a", undefined, { failAfter: ({ verb }) => unheard && verb === "update" && down() });
    const stop = new AbortController();
    await a.acquire(stop.signal);
    const holding = a.hold(stop.signal).catch(() => {});
    unheard = true;
    await clock.advance(2500);
    unheard = false;
    stop.abort();
    await holding;
    await a.release();
    expect(lease().spec?.holderIdentity).toBe("");
  });

  it("L1 lead on when somebody has removed the lease", async () => {
    const { clock, model, replica, lease } = setUp("removed");
    const a = replica("a");
    const stop = new AbortController();
    await a.acquire(stop.signal);
    const holding = a.hold(stop.signal).catch(() => {});
    model.delete(Lease, { namespace: "default", name: "leader" });
    await clock.advance(9000);
    expect(a.isLeading).toBe(true);
    expect(lease().spec?.holderIdentity).toBe("a");
    stop.abort();
    await holding;
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))("L1 are never two leaders at once (seed %i)", async (seed) => {
    const { clock, random, replica } = setUp(`fuzz ${seed}`);
    const over = new AbortController();
    const chance = random.fork("faults");
    const electors: LeaderElector[] = [];
    let terms = 0;
    /** A replica's life: it leads, dies or lets go or is cut off, and comes back as another one. */
    const live = async (name: string) => {
      for (let life = 0; !over.signal.aborted; life++) {
        let cutOff = false;
        const elector = replica(`${name}${life}`, () => (cutOff || chance.next() < 0.1) && down(), {
          latency: () => (chance.next() < 0.3 ? [integer(chance, 0, 6000), integer(chance, 0, 6000)] : [0, 0]),
          failAfter: () => chance.next() < 0.1 && down(),
        });
        electors.push(elector);
        const death = new AbortController();
        const signal = AbortSignal.any([death.signal, over.signal]);
        const alone = clock.setTimer(integer(chance, 1000, 90_000), () => {
          cutOff = chance.next() < 0.5;
        });
        const end = clock.setTimer(integer(chance, 1000, 120_000), () => death.abort());
        await elector
          .acquire(signal)
          .then(() => {
            terms++;
            return elector.hold(signal);
          })
          .catch(() => {});
        alone.cancel();
        end.cancel();
        if (!cutOff && chance.next() < 0.5) await elector.release();
        await sleep(clock, integer(chance, 0, 5000), over.signal).catch(() => {});
      }
    };
    const lives = ["a", "b", "c"].map(live);
    for (let step = 0; step < 3000; step++) {
      await clock.advance(200);
      expect(electors.filter(({ isLeading }) => isLeading).length).toBeLessThanOrEqual(1);
    }
    over.abort();
    await clock.advance(60_000);
    await Promise.all(lives);
    expect(terms).toBeGreaterThan(3);
  });

  it("refuse times that could not work", () => {
    const { clock, random } = setUp("five");
    const client = new Client(new ModelTransport(new ModelApi({ clock }), { clock }));
    const context = { client, clock, random, identity: "a" };
    const wrong = expect.objectContaining({ code: "KUBE_MANAGER_MISUSED" });
    expect(() => new LeaderElector({ id: "x", renewDeadlineMs: 15_000 }, context)).toThrow(wrong);
    expect(() => new LeaderElector({ id: "x", retryPeriodMs: 10_000 }, context)).toThrow(wrong);
  });
});
