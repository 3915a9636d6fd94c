import { WallClock } from "@berth/kube";
import { type Sim, startSim } from "@berth/sim";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resources } from "./resources.ts";
import { accepted, examples, kinds, refused } from "./testing/manifests.ts";
import { install, manifestTests } from "./testing/on-cluster.ts";

describe("a simulated cluster", () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim();
    await install(sim.client, new WallClock());
  });
  afterAll(() => sim?.stop());

  manifestTests(() => sim.client);
});

describe("the program itself", () => {
  it.each(examples().map((each) => [each.metadata.name, each] as const))(
    "finds nothing wrong with %s",
    (_name, each) => {
      expect(kinds[each.kind].validate(each)).toEqual([]);
    },
  );

  it.each(accepted)("takes %s", (_title, each) => {
    expect(kinds[each.kind].validate(each)).toEqual([]);
  });

  it("knows most of what is wrong without a cluster; what is said in CEL is left to the server", () => {
    const found = refused.filter(([, { kind, ...each }]) => kinds[kind].validate(each).length > 0);
    expect(found.length).toBeGreaterThan(refused.length / 3);
  });
});

describe("docs/reference/resources.md", () => {
  it("is what the definitions say", async () => {
    const pages = resources.map((resource) => resource.docs());
    await expect(`${INTRODUCTION}\n${pages.join("\n").replace(/^# /gm, "## ")}`).toMatchFileSnapshot(
      new URL("../../../docs/reference/resources.md", import.meta.url).pathname,
    );
  });
});

const INTRODUCTION = `# Resources

Made from the definitions in [packages/model](../../packages/model/README.md); a test holds the two together. Fields with a star are required.
`;
