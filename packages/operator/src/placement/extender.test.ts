import type { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { filtered, type Seats, victims } from "./extender.ts";

const pod = (name: string, labels: Record<string, string> = {}): coreV1.Pod => ({
  metadata: { name, uid: `${name}-uid`, labels },
});
const ghost = (name: string, nodeName?: string): coreV1.Pod => ({
  ...pod(name, { "berth.dev/role": "ghost" }),
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
});
const executor = pod("executor", { "berth.dev/role": "executor" });
const tenants = [ghost("ghost-1", "a"), ghost("ghost-2", "a"), executor];
const seats = (keeper: coreV1.Pod | undefined, told = new Set<string>()): Seats => ({
  of: (asked) => (asked === executor ? { slot: 2, node: "a", ghost: keeper } : undefined),
  tenant: (uid) => tenants.find(({ metadata }) => metadata.uid === uid),
  tellToGo: (uid) => told.size < told.add(uid).size,
});
const proposal = (...uids: string[]) => ({
  a: { Pods: uids.map((UID) => ({ UID })), NumPDBViolations: 1 },
  b: { Pods: [{ UID: "other" }], NumPDBViolations: 0 },
});

describe("filter", () => {
  it("lets an executor on the node of its slot, and refuses all others for good", () => {
    expect(filtered({ Pod: executor, NodeNames: ["a", "b", "c"] }, seats(undefined))).toEqual({
      NodeNames: ["a"],
      FailedAndUnresolvableNodes: { b: "its slot 2 is on a", c: "its slot 2 is on a" },
    });
  });

  it("lets nobody anywhere who has no slot", () => {
    expect(filtered({ Pod: pod("stranger"), NodeNames: ["a"] }, seats(undefined))).toEqual({
      NodeNames: [],
      FailedAndUnresolvableNodes: { a: "it has no slot of Berth's" },
    });
  });

  it("says what is wrong with a scheduler that sends whole nodes", () => {
    expect(filtered({ Pod: executor, NodeNames: null }, seats(undefined)).Error).toMatch(/nodeCacheCapable/);
  });
});

describe("preempt", () => {
  const ask = (keeper: coreV1.Pod | undefined, proposed: ReturnType<typeof proposal> | null, who = executor) =>
    victims({ Pod: who, NodeNameToMetaVictims: proposed }, seats(keeper)).NodeNameToMetaVictims;

  it("names the ghost of the slot, whomever kube-scheduler would rather evict", () => {
    expect(ask(ghost("ghost-2", "a"), proposal("ghost-1-uid", "other"))).toEqual({
      a: { Pods: [{ UID: "ghost-2-uid" }], NumPDBViolations: 0 },
    });
  });

  it("names a ghost once: kube-scheduler must not look for one that may be gone", () => {
    const remembering = seats(ghost("ghost-2", "a"));
    const again = () => victims({ Pod: executor, NodeNameToMetaVictims: proposal("ghost-2-uid") }, remembering);
    expect(again().NodeNameToMetaVictims).toHaveProperty("a");
    expect(again()).toEqual({ NodeNameToMetaVictims: {} });
  });

  it("lets those go who have taken the place of the ghost, unless they hold slots themselves", () => {
    for (const keeper of [undefined, ghost("ghost-2"), ghost("ghost-2", "b")]) {
      expect(ask(keeper, proposal("ordinary"))).toEqual({ a: proposal("ordinary").a });
      expect(ask(keeper, proposal("ordinary", "ghost-1-uid"))).toEqual({});
      expect(ask(keeper, proposal("executor-uid"))).toEqual({});
      expect(ask(keeper, proposal())).toEqual({});
    }
  });

  it("evicts nobody for strangers, nor elsewhere", () => {
    expect(ask(ghost("ghost-2", "a"), proposal("ordinary"), pod("stranger"))).toEqual({});
    expect(ask(ghost("ghost-2", "a"), null)).toEqual({});
    expect(
      victims(
        { Pod: executor, NodeNameToMetaVictims: { b: { Pods: null, NumPDBViolations: 0 } } },
        seats(ghost("g", "a")),
      ),
    ).toEqual({ NodeNameToMetaVictims: {} });
  });
});
