import { rbacV1 } from "@berth/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATOR } from "../install/installation.ts";
import { scenarios } from "./scenarios.suite.ts";
import { type RealTarget, realTarget } from "./targets/real-target.ts";

/** Of rights that these stories have no use for. */
const NOT_HERE = [
  "update batchjobs/finalizers", // where owners may only be blocked by those who could release them
  "update slots/finalizers",
  "update testbeds/finalizers",
  ...["create", "delete", "get"].map((verb) => `${verb} flinkdeployments`), // their operators are not installed
  ...["create", "delete", "get"].map((verb) => `${verb} sparkapplications`),
];

describe.each(["gate", "extender"] as const)("on a real control plane, by %s", (placement) => {
  let target: RealTarget;
  beforeAll(async () => {
    target = await realTarget({ placement });
  });
  afterAll(() => target?.close());

  scenarios(() => target, { atOnce: true });

  it("R1 the operator has used every right that it has, and asked for no other", async () => {
    const { rules = [] } = await target.client.get(rbacV1.ClusterRole, { name: OPERATOR });
    const granted = rules.flatMap(({ resources = [], verbs }) => verbs.map((verb) => `${verb} ${resources[0]}`));
    const asked = target.cluster.readAudit().filter(({ userAgent = "" }) => userAgent.startsWith(OPERATOR));
    const textOf = ({ verb, objectRef }: (typeof asked)[number]) =>
      `${verb} ${objectRef?.resource}${objectRef?.subresource ? `/${objectRef.subresource}` : ""}`;
    // Others are forbidden too, such as making anything in a namespace that is about to go.
    const refused = asked
      .filter(({ annotations = {} }) => annotations["authorization.k8s.io/decision"] === "forbid")
      .map(textOf);
    expect([...new Set(refused)]).toEqual([]);
    const used = new Set(asked.map(textOf));
    // A watch is recorded when it ends, and that is not yet; whether there is a list before it is up to the server.
    const recorded = granted.filter((right) => !/^(list|watch) /.test(right));
    expect(recorded.filter((right) => !used.has(right)).sort()).toEqual(NOT_HERE.toSorted());
  });
});
