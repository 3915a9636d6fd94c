import { afterAll, beforeAll, describe } from "vitest";
import { scenarios } from "./scenarios.suite.ts";
import type { Target } from "./target.ts";
import { simTarget } from "./targets/sim-target.ts";

describe.each(["gate", "extender"] as const)("on a simulated cluster, by %s", (placement) => {
  let target: Target;
  beforeAll(async () => {
    target = await simTarget({ placement });
  });
  afterAll(() => target?.close());

  scenarios(() => target, { atOnce: false });
});
