import { describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { KubeError } from "../errors.ts";
import { Event } from "../kinds/events-v1.ts";
import type { KubernetesObject } from "../objects/meta.ts";
import { ModelApi } from "../testing/model-api.ts";
import { ModelTransport } from "../testing/model-transport.ts";
import { VirtualClock } from "../time/clock.ts";
import { SeededRandom } from "../time/random.ts";
import type { ApiRequest } from "../transport/transport.ts";
import { EventRecorder } from "./event-recorder.ts";

const pod: KubernetesObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "n", name: "p", uid: "u", resourceVersion: "5" },
};

function setUp(fail?: (request: ApiRequest) => unknown) {
  const clock = new VirtualClock();
  const random = new SeededRandom("events");
  const model = new ModelApi({ clock, random });
  const transport = new ModelTransport(model, { clock, ...(fail && { fail }) });
  const client = new Client(transport, { clock, random, maxRetries: 0 });
  const recorder = new EventRecorder({ client, clock, controller: "example.org/c", instance: "c-1" });
  return { clock, model, transport, recorder, events: () => model.list(Event).items };
}

describe("an event", () => {
  it("E4 says what happened to what, and who says so", async () => {
    const { clock, recorder, events } = setUp();
    recorder.event(pod, { reason: "Started", note: "it was started", related: { ...pod, metadata: { name: "o" } } });
    await clock.settle();
    expect(events()).toMatchObject([
      {
        metadata: { namespace: "n", name: expect.stringMatching(/^p-/) },
        regarding: { apiVersion: "v1", kind: "Pod", namespace: "n", name: "p", uid: "u", resourceVersion: "5" },
        related: { name: "o" },
        type: "Normal",
        reason: "Started",
        action: "Started",
        note: "it was started",
        reportingController: "example.org/c",
        reportingInstance: "c-1",
        eventTime: "2020-01-01T00:00:00.000000Z",
      },
    ]);
  });

  it("E2 that happens again is counted, and written now and then", async () => {
    const { clock, recorder, events, transport } = setUp();
    for (let i = 0; i < 100; i++) {
      recorder.event(pod, { reason: "Failed", note: "no luck", type: "Warning" });
      await clock.advance(1000);
    }
    await recorder.stop();
    expect(events()).toHaveLength(1);
    expect(events()[0]).toMatchObject({ series: { count: 100 } });
    expect(transport.requests.length).toBeLessThanOrEqual(12);
    await clock.advance(7 * 60_000);
    recorder.event(pod, { reason: "Failed", note: "no luck", type: "Warning" });
    await clock.settle();
    expect(events()).toHaveLength(2);
  });

  it("E2 that is gone from the server is written anew", async () => {
    const { clock, model, recorder, events } = setUp();
    recorder.event(pod, { reason: "Failed", note: "no luck" });
    await clock.settle();
    for (const { metadata } of events()) model.delete(Event, { namespace: "n", name: metadata.name ?? "" });
    recorder.event(pod, { reason: "Failed", note: "no luck" });
    await clock.advance(11_000);
    expect(events()).toMatchObject([{ series: { count: 2 } }]);
  });

  it("E3 with ever new words becomes one", async () => {
    const { clock, recorder, events } = setUp();
    for (let i = 0; i < 50; i++) recorder.event(pod, { reason: "Failed", note: `no luck with ${i}` });
    await clock.advance(20_000);
    expect(events()).toHaveLength(11);
    const combined = events().find(({ note }) => note?.startsWith("(combined from similar events)"));
    expect(combined).toMatchObject({ series: { count: 40 } });
  });

  it("E1 that cannot be written harms nobody, and its successors are written", async () => {
    let broken = true;
    const { clock, recorder, events } = setUp(() => broken && new KubeError("KUBE_CONNECTION_FAILED", "down"));
    recorder.event(pod, { reason: "First", note: "x" });
    recorder.event(pod, { reason: "First", note: "x" });
    await clock.advance(20_000);
    broken = false;
    recorder.event(pod, { reason: "Second", note: "y".repeat(5000) });
    await recorder.stop();
    expect(events().map(({ reason }) => reason)).toEqual(["Second"]);
    expect(events()[0]?.note).toHaveLength(1024);
  });

  it("E4 about what has no namespace, or a name that events cannot have, is found nevertheless", async () => {
    const { clock, recorder, events } = setUp();
    recorder.event({ kind: "ClusterRole", metadata: { name: "system:Node", uid: "r" } }, { reason: "Seen", note: "x" });
    await clock.settle();
    expect(events()[0]?.metadata).toMatchObject({ namespace: "default", name: expect.stringMatching(/^system--ode-/) });
  });
});
