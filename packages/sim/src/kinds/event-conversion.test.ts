import { expect, it } from "vitest";
import { eventConversion } from "./event-conversion.ts";

const stored = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "x" },
  involvedObject: { kind: "Pod" },
  message: "hello",
  source: { component: "c" },
  firstTimestamp: null,
  lastTimestamp: null,
  count: 3,
  reportingComponent: "",
  reportingInstance: "",
};

it("events are called differently under their other name", () => {
  expect(eventConversion.fromStored(stored)).toEqual({
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "x" },
    regarding: { kind: "Pod" },
    note: "hello",
    deprecatedSource: { component: "c" },
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    deprecatedCount: 3,
  });
  expect(eventConversion.toStored(eventConversion.fromStored(stored))).toEqual(stored);
});

it("what was converted once is the same ever after", () => {
  expect(eventConversion.fromStored(stored)).toBe(eventConversion.fromStored(stored));
});
