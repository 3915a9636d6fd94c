import { describe, expect, it } from "vitest";
import { builtinResources } from "../kinds/builtin.ts";
import { aggregated, compareVersions, groupsOf, resourceList } from "./discovery.ts";

describe("discovery", () => {
  it("prefers stable versions, then later ones", () => {
    const versions = ["foo10", "v1alpha1", "v2beta1", "v1", "foo1", "v10", "v2", "v1beta2", "v1beta10"];
    expect(versions.sort(compareVersions)).toEqual([
      "v10",
      "v2",
      "v1",
      "v2beta1",
      "v1beta10",
      "v1beta2",
      "v1alpha1",
      "foo1",
      "foo10",
    ]);
  });

  it("has groups in the order in which names are looked up", () => {
    const names = groupsOf(builtinResources()).map(({ name }) => name);
    expect(names[0]).toBe("");
    expect(names.indexOf("apps")).toBeLessThan(names.indexOf("events.k8s.io"));
    const custom = { ...builtinResources()[0], group: "a.example.org" } as ReturnType<typeof builtinResources>[0];
    expect(groupsOf([custom, ...builtinResources()]).at(-1)?.name).toBe("a.example.org");
  });

  it("says the same in both forms", () => {
    const groups = groupsOf(builtinResources());
    const { items } = aggregated(groups, "v2") as { items: { versions: { resources: { resource: string }[] }[] }[] };
    const fresh = items.flatMap(({ versions }) =>
      versions.flatMap(({ resources }) => resources.map((each) => each.resource)),
    );
    const lists = groups.flatMap(({ versions }) => versions.map(resourceList)) as { resources: { name: string }[] }[];
    const old = lists.flatMap(({ resources }) => resources.map(({ name }) => name));
    expect(old.filter((name) => !name.includes("/"))).toEqual(fresh);
    expect(old).toContain("pods/log");
  });
});
