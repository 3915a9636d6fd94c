import { afterAll, beforeAll, describe } from "vitest";
import { scenarios } from "./scenarios.suite.ts";
import type { Target } from "./target.ts";
import { simTarget } from "./targets/sim-target.ts";

let target: Target;
beforeAll(async () => {
  target = await simTarget();
});
afterAll(() => target?.close());

describe("on a simulated cluster", () => scenarios(() => target));
