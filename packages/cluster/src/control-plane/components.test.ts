import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heartbeats, schedulerConfig } from "./components.ts";

describe("heartbeats", () => {
  it("are Kubernetes' own in a small cluster", () => {
    expect(heartbeats(20)).toEqual({ leaseSeconds: 40, graceSeconds: 50 });
  });

  it("stay at ten a second at most, and a node has more than four chances before it counts as lost", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50_000 }), (nodes) => {
        const { leaseSeconds, graceSeconds } = heartbeats(nodes);
        const renewalsPerSecond = nodes / (leaseSeconds / 4);
        expect(renewalsPerSecond).toBeLessThanOrEqual(10);
        expect(graceSeconds).toBeGreaterThan(leaseSeconds);
      }),
    );
  });
});

describe("schedulerConfig", () => {
  it("completes what is given, which wins but for the kubeconfig", () => {
    const given = { leaderElection: { leaderElect: true }, clientConnection: { qps: 1, kubeconfig: "theirs" } };
    expect(schedulerConfig("ours", { ...given, extenders: [] })).toEqual({
      apiVersion: "kubescheduler.config.k8s.io/v1",
      kind: "KubeSchedulerConfiguration",
      leaderElection: { leaderElect: true },
      clientConnection: { qps: 1, burst: 5000, kubeconfig: "ours" },
      extenders: [],
    });
  });
});
