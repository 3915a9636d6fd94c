import { coreV1 } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { forbidden } from "../api/refusal.ts";
import type { Admission } from "../api/write.ts";
import { Recorder } from "./recorder.ts";
import { pod, type TestClusterOptions, testCluster } from "./testing/cluster.ts";

function world(options: TestClusterOptions = {}) {
  const cluster = testCluster(options);
  const recorder = new Recorder(cluster.surroundings("x"), "tester");
  const about = cluster.api.create(coreV1.Pod, pod("a"));
  const events = () => cluster.api.list(coreV1.Event, "default");
  return { ...cluster, recorder, about, events };
}

describe("Recorder", () => {
  it("tells who, what, and about whom", () => {
    const { recorder, about, events } = world();
    recorder.tell(about, { type: "Warning", reason: "R", message: "m", fieldPath: "spec.containers{c}" }, "n1");
    expect(events()).toHaveLength(1);
    expect(events()[0]).toMatchObject({
      metadata: { namespace: "default", name: expect.stringMatching(/^a\.[0-9a-f]+$/) },
      involvedObject: {
        apiVersion: "v1",
        kind: "Pod",
        namespace: "default",
        name: "a",
        uid: about.metadata.uid,
        fieldPath: "spec.containers{c}",
      },
      type: "Warning",
      reason: "R",
      message: "m",
      count: 1,
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:00:00Z",
      source: { component: "tester", host: "n1" },
      reportingComponent: "tester",
      reportingInstance: "n1",
    });
  });

  it("counts what happens again", async () => {
    const { recorder, about, events, clock } = world();
    recorder.tell(about, { reason: "R", message: "m" });
    await clock.advance(60_000);
    recorder.tell(about, { reason: "R", message: "m" });
    expect(events()).toHaveLength(1);
    expect(events()[0]).toMatchObject({
      count: 2,
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:01:00Z",
    });
  });

  it("puts together what differs in words only", () => {
    const { recorder, about, events } = world();
    for (let index = 0; index < 12; index++) recorder.tell(about, { reason: "R", message: `m${index}` });
    expect(events()).toHaveLength(10);
    const combined = events().find(({ message }) => message?.startsWith("(combined from similar events)"));
    expect(combined).toMatchObject({ count: 3, message: "(combined from similar events): m11" });
  });

  it("falls silent about an object of which there is too much to say", async () => {
    const { recorder, about, events, clock } = world();
    const count = () => events().reduce((sum, event) => sum + (event.count ?? 0), 0);
    for (let index = 0; index < 100; index++) recorder.tell(about, { reason: `R${index}`, message: "m" });
    expect(count()).toBe(25);
    await clock.advance(300_000);
    for (let index = 0; index < 10; index++) recorder.tell(about, { reason: `S${index}`, message: "m" });
    expect(count()).toBe(26);
  });

  it("never fails, and can be told to be silent", () => {
    const refuse: Admission = {
      admit: (_, resource) => {
        if (resource.plural === "events") throw forbidden(resource, "e", "the namespace is going");
      },
    };
    const { recorder, about, events } = world({ admissions: [refuse] });
    recorder.tell(about, { reason: "R", message: "m" });
    const silent = world({ events: false });
    silent.recorder.tell(silent.about, { reason: "R", message: "m" });
    expect([events(), silent.events()]).toEqual([[], []]);
  });
});
