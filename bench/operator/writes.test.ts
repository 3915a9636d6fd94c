import type { AuditEvent } from "@berth/cluster";
import { describe, expect, it } from "vitest";
import { leastWrites, total, writesIn } from "./writes.ts";

function event(verb: string, resource: string, subresource?: string, code = 200): AuditEvent {
  return {
    ...{ auditID: "", stage: "ResponseComplete", verb, requestURI: "", user: { username: "somebody" } },
    ...{ requestReceivedTimestamp: "", stageTimestamp: "", responseStatus: { code } },
    objectRef: subresource === undefined ? { resource } : { resource, subresource },
  };
}

describe("writes", () => {
  it("are counted by verb and resource, those that were refused by themselves", () => {
    const events = [
      event("patch", "pods"),
      event("patch", "pods"),
      event("update", "slots", "status"),
      event("delete", "pods", undefined, 404),
    ];
    const { done, refused } = writesIn(events);
    expect([...done]).toEqual([
      ["patch pods", 2],
      ["update slots/status", 1],
    ]);
    expect(total(done)).toBe(3);
    expect(refused).toBe(1);
  });

  it("are at least five for each executor, and nine for the job", () => {
    expect(total(leastWrites(4)) - total(leastWrites(3))).toBe(5);
    expect(total(leastWrites(0))).toBe(9);
  });
});
