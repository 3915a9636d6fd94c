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
    recorder.event(pod, { reason: "Second", note: "y" });
    await recorder.stop();
    expect(events().map(({ reason }) => reason)).toEqual(["Second"]);
  });

  it("E5 that could not be written is written when it happens again", async () => {
    let broken = true;
    const { clock, recorder, events, transport } = setUp(
      () => broken && new KubeError("KUBE_CONNECTION_FAILED", "down"),
    );
    for (let i = 0; i < 3; i++) {
      recorder.event(pod, { reason: "Failed", note: "no luck" });
      await clock.advance(30_000);
    }
    expect(transport.requests.map(({ verb }) => verb)).toEqual(["create", "create", "create"]);
    broken = false;
    recorder.event(pod, { reason: "Failed", note: "no luck" });
    await clock.advance(30_000);
    expect(events()).toMatchObject([{ eventTime: "2020-01-01T00:00:00.000000Z", series: { count: 4 } }]);
  });

  it("E5 whose count could not be written is the same event afterwards", async () => {
    let broken = false;
    const { clock, recorder, events } = setUp(() => broken && new KubeError("KUBE_CONNECTION_FAILED", "down"));
    for (const down of [false, true, false]) {
      broken = down;
      recorder.event(pod, { reason: "Failed", note: "no luck" });
      await clock.advance(30_000);
    }
    expect(events()).toMatchObject([{ series: { count: 3, lastObservedTime: "2020-01-01T00:01:00.000000Z" } }]);
  });

  it("E1 waits for a slow server without piling up writes, and is given up when the program has to end", async () => {
    const { clock, recorder, transport } = setUp();
    let asked = 0;
    transport.request = () => {
      asked++;
      return new Promise(() => {});
    };
    for (let i = 0; i < 100; i++) {
      recorder.event(pod, { reason: "Failed", note: "no luck" });
      await clock.advance(20_000);
    }
    expect([asked, clock.pending]).toEqual([1, 0]);
    await recorder.stop({ signal: AbortSignal.abort() });
  });

  it("E6 is forgotten after a while, whatever else keeps happening", async () => {
    const { clock, recorder, events } = setUp();
    const tell = (uid: string) =>
      recorder.event({ ...pod, metadata: { ...pod.metadata, uid } }, { reason: "Failed", note: "no luck" });
    for (let minute = 0; minute <= 20; minute++) {
      tell("always");
      if (minute % 20 === 0) tell("rarely");
      await clock.advance(60_000);
    }
    expect(events().map(({ regarding, series }) => [regarding?.uid, series?.count])).toEqual(
      expect.arrayContaining([
        ["always", 21],
        ["rarely", undefined],
        ["rarely", undefined],
      ]),
    );
    expect(events()).toHaveLength(3);
  });

  it("E6 is forgotten when there are too many", async () => {
    const { clock, recorder, transport } = setUp();
    let written = 0;
    transport.request = async ({ verb }) => {
      if (verb === "create") written++;
      return { kind: "Event", metadata: { namespace: "n", name: "e" } };
    };
    const tell = (uid: number) =>
      recorder.event({ ...pod, metadata: { ...pod.metadata, uid: `${uid}` } }, { reason: "Failed", note: "no luck" });
    for (let uid = 0; uid <= 10_001; uid++) tell(uid);
    tell(10_001);
    await clock.advance(20_000);
    expect(written).toBe(10_002);
    tell(0);
    await recorder.stop();
    expect(written).toBe(10_003);
  });

  it("E7 is cut to what the API server takes, by bytes and between characters", async () => {
    const { clock, recorder, events } = setUp();
    const long = { reason: "é".repeat(100), action: `a${"é".repeat(100)}`, note: "😀".repeat(500) };
    for (let i = 0; i < 11; i++) recorder.event(pod, { ...long, note: `${i}`.padStart(2, "0") + long.note });
    await clock.settle();
    expect(events()).toHaveLength(11);
    for (const { reason, action, note = "" } of events()) {
      expect([reason, action]).toEqual(["é".repeat(64), `a${"é".repeat(63)}`]);
      expect(note).toMatch(/^(\(combined from similar events\): )?\d\d(😀)+…$/u);
      expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
      expect(Buffer.byteLength(note)).toBeGreaterThan(1024 - 4);
    }
  });

  it("E4 about what has no namespace, or a name that events cannot have, is found nevertheless", async () => {
    const { clock, recorder, events } = setUp();
    // An event's name must be one that DNS allows: each part begins and ends with a letter or digit.
    const names = ["system:Node", "Admin", "x.-Y", "ns:", "::"];
    for (const name of names)
      recorder.event({ kind: "ClusterRole", metadata: { name } }, { reason: "Seen", note: "x" });
    await clock.settle();
    expect(events().map(({ regarding }) => regarding?.name)).toEqual(expect.arrayContaining(names));
    expect(events()).toHaveLength(names.length);
    for (const { metadata } of events()) {
      expect(metadata.namespace).toBe("default");
      expect(metadata.name).toMatch(/^[a-z][a-z0-9-]*[a-z0-9]$/);
    }
  });
});
