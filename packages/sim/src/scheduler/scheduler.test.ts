/** The scheduler as a whole, on an API server in memory. */
import { describe, expect, it } from "vitest";
import { TestCluster } from "./testing/test-cluster.ts";

describe("a scheduler", () => {
  it("binds a pod to a node, and says so", async () => {
    const cluster = new TestCluster();
    cluster.node("n1");
    cluster.pod("a", { cpu: "1" });
    await cluster.settle();
    expect(cluster.placeOf("a")).toBe("n1");
    expect(cluster.condition("a")).toMatchObject({ status: "True" });
    expect(cluster.events()).toMatchObject([
      {
        type: "Normal",
        reason: "Scheduled",
        action: "Binding",
        note: "Successfully assigned default/a to n1",
        reportingController: "default-scheduler",
        regarding: { kind: "Pod", namespace: "default", name: "a", apiVersion: "v1" },
      },
    ]);
  });
});
