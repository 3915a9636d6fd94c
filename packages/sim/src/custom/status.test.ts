import { describe, expect, it } from "vitest";
import type { Definition } from "./definition.ts";
import { acceptedStatus, takenBy, withConditions } from "./status.ts";

function definition(kind: string, shortNames?: string[]): Definition {
  const plural = `${kind.toLowerCase()}s`;
  const names = {
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    ...(shortNames && { shortNames }),
  };
  return {
    metadata: { name: `${plural}.example.org` },
    spec: { group: "example.org", scope: "Cluster", names, versions: [] },
    status: { conditions: [], acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] },
  };
}

const accepted = (each: Definition, ...others: Definition[]) => ({
  ...each,
  status: acceptedStatus(each, takenBy(others), "now"),
});
const conditions = ({ status }: Definition) =>
  status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe("names", () => {
  it("are accepted if they are free, with everything that is wanted", () => {
    const first = accepted(definition("First", ["f"]));
    expect(conditions(first)).toEqual(["NamesAccepted True NoConflicts", "Established True InitialNamesAccepted"]);
    expect(first.status?.acceptedNames).toEqual(first.spec.names);
    expect(accepted(first).status).toEqual(first.status);
  });

  it("that others have are refused, one by one", () => {
    const first = accepted(definition("First", ["f"]));
    const second = accepted(definition("Second", ["f", "s"]), first);
    expect(conditions(second)).toEqual(["NamesAccepted False ShortNamesConflict", "Established False NotAccepted"]);
    expect(second.status?.acceptedNames).toMatchObject({ kind: "Second", plural: "seconds" });
    expect(second.status?.acceptedNames).not.toHaveProperty("shortNames");
    const third = accepted(
      {
        ...definition("Third"),
        spec: { ...definition("Third").spec, names: { ...definition("Third").spec.names, kind: "First" } },
      },
      first,
    );
    expect(conditions(third)?.[0]).toBe("NamesAccepted False KindConflict");
  });

  it("that were given up are gone, and what is established stays so", () => {
    const first = accepted(definition("First", ["f"]));
    const other = accepted(definition("Other", ["g"]));
    const changed = {
      ...first,
      spec: { ...first.spec, names: { ...definition("First").spec.names, shortNames: ["g"] } },
    };
    const refused = accepted(changed, other);
    expect(conditions(refused)).toEqual([
      "NamesAccepted False ShortNamesConflict",
      "Established True InitialNamesAccepted",
    ]);
    expect(refused.status?.acceptedNames?.shortNames).toEqual(["f"]);
    const without = accepted({ ...first, spec: { ...first.spec, names: definition("First").spec.names } });
    expect(without.status?.acceptedNames).not.toHaveProperty("shortNames");
  });
});

it("a group of Kubernetes' own says who allowed it", () => {
  const own = definition("Own");
  const annotations = { "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1" };
  const approved = accepted({
    ...own,
    metadata: { ...own.metadata, annotations },
    spec: { ...own.spec, group: "x.k8s.io" },
  });
  expect(conditions(approved)?.at(-1)).toBe("KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation");
});

it("the time of a condition is when it became so", () => {
  const condition = (status: "True" | "False", reason: string) => ({ type: "T", status, reason, message: "" });
  const first = withConditions(undefined, [condition("True", "a")], "1");
  const second = withConditions(first, [condition("True", "b")], "2");
  const third = withConditions(second, [condition("False", "c")], "3");
  expect(
    [second, third].map(({ conditions }) => conditions?.map((each) => [each.reason, each.lastTransitionTime])),
  ).toEqual([[["b", "1"]], [["c", "3"]]]);
});
