import { afterAll, beforeAll, describe } from "vitest";
import { scenarios } from "./scenarios.suite.ts";
import type { Target } from "./target.ts";
import { realTarget } from "./targets/real-target.ts";

let target: Target;
beforeAll(async () => {
  target = await realTarget();
});
afterAll(() => target?.close());

describe("on a real control plane", () => scenarios(() => target));
