/** The operator's scenarios, told through the gateway, on a simulated cluster. */
import { VirtualClock } from "@berth/kube";
import { scenarios, simTarget } from "@berth/operator/scenarios";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { throughGateway } from "./through-gateway.ts";

describe("through the gateway, on a simulated cluster", () => {
  let target: ReturnType<typeof throughGateway>;
  beforeAll(async () => {
    const clock = new VirtualClock();
    target = throughGateway(await simTarget({ placement: "gate", clock }), clock);
  });
  afterAll(() => target?.close());

  scenarios(() => target, { atOnce: false });

  it("was asked for all of that", () => {
    expect(target.asked()).toBeGreaterThan(100);
  });
});
