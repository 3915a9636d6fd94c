import { describe, expect, it } from "vitest";
import { profilesOf } from "./configuration.ts";
import { profile } from "./testing/samples.ts";

describe("a scheduler's configuration", () => {
  it("is that of the default scheduler if nothing is said", () => {
    const [only] = profilesOf({});
    expect(only).toMatchObject({ schedulerName: "default-scheduler", preempts: true, minCandidates: 100 });
    expect(Object.fromEntries(only?.scores ?? [])).toEqual({
      TaintToleration: 3,
      NodeAffinity: 2,
      NodeResourcesFit: 1,
      PodTopologySpread: 2,
      InterPodAffinity: 2,
      NodeResourcesBalancedAllocation: 1,
    });
  });

  it("switches rules off and on, and weighs scores", () => {
    const disabled = [{ name: "*" }];
    const none = profile({ plugins: { score: { disabled } } });
    expect(none.scores.size).toBe(0);
    const one = profile({ plugins: { score: { disabled, enabled: [{ name: "NodeResourcesFit", weight: 7 }] } } });
    expect([...one.scores]).toEqual([["NodeResourcesFit", 7]]);
    expect(profile({ plugins: { postFilter: { disabled: [{ name: "DefaultPreemption" }] } } }).preempts).toBe(false);
    expect(profile({ plugins: { multiPoint: { disabled: [{ name: "NodePorts" }] } } }).filters.has("NodePorts")).toBe(
      false,
    );
    expect(profile({ plugins: { filter: { disabled: [{ name: "NodePorts" }] } } }).filters.has("NodePorts")).toBe(
      false,
    );
  });

  it("takes the arguments of plugins", () => {
    const given = profile({
      pluginConfig: [
        { name: "DefaultPreemption", args: { minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 1 } },
        { name: "NodeResourcesFit", args: { ignoredResources: ["a/b"], scoringStrategy: { type: "MostAllocated" } } },
        { name: "PodTopologySpread", args: { defaultingType: "List", defaultConstraints: [] } },
        { name: "InterPodAffinity", args: { hardPodAffinityWeight: 5 } },
      ],
    });
    expect(given).toMatchObject({
      minCandidatePercentage: 100,
      minCandidates: 1,
      hardPodAffinityWeight: 5,
      spreadDefaults: { system: false, constraints: [] },
      ignoredResources: { names: new Set(["a/b"]) },
    });
    expect(given.strategy.score(3, 4)).toBe(75);
  });

  it("leaves out what extenders manage and want left out", () => {
    const extenders = [
      { urlPrefix: "http://x", managedResources: [{ name: "a/b", ignoredByScheduler: true }, { name: "a/c" }] },
    ];
    expect(profilesOf({ extenders })[0]?.ignoredResources.names).toEqual(new Set(["a/b"]));
  });

  it("refuses what cannot be", () => {
    expect(() => profilesOf({ profiles: [] })).toThrow(RangeError);
    expect(() => profilesOf({ profiles: [{}, {}] })).toThrow(RangeError);
  });
});
