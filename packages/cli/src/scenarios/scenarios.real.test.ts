/** The operator's scenarios, told through the gateway, on a real control plane. */
import { WallClock } from "@berth/kube";
import { realTarget, scenarios } from "@berth/operator/scenarios";
import { afterAll, beforeAll, describe } from "vitest";
import { throughGateway } from "./through-gateway.ts";

describe("through the gateway, on a real cluster", () => {
  let target: ReturnType<typeof throughGateway>;
  beforeAll(async () => {
    target = throughGateway(await realTarget({ placement: "gate" }), new WallClock());
  });
  afterAll(() => target?.close());

  scenarios(() => target, { atOnce: true });
});
