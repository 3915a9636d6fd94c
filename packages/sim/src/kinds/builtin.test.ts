import * as kube from "@berth/kube";
import { coreV1, type Kind } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { builtinResources, schemaOfKind } from "./builtin.ts";

const resources = builtinResources();
const find = ({ apiVersion, plural }: Pick<Kind, "apiVersion" | "plural">) =>
  resources.find((each) => each.apiVersion === apiVersion && each.plural === plural);

describe("built-in resources", () => {
  it("are what @berth/kube has kinds of", () => {
    const modules = Object.entries(kube).filter(([name]) => /V\d$/.test(name));
    const kinds = modules
      .flatMap(([, module]) => Object.values(module as Record<string, Kind>))
      .filter(({ plural }) => plural);
    const missing = kinds.filter((kind) => !find(kind)).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
    // The old version of what autoscaling/v2 has.
    expect(missing).toEqual(["autoscaling/v1 HorizontalPodAutoscaler"]);
    for (const kind of kinds) {
      const { namespaced, group, version } = find(kind) ?? kind;
      expect([kind.kind, namespaced, group, version]).toEqual([kind.kind, kind.namespaced, kind.group, kind.version]);
    }
  });

  it("have the names, verbs and subresources that discovery tells of", () => {
    const pods = find(coreV1.Pod);
    expect(pods).toMatchObject({
      singular: "pod",
      shortNames: ["po"],
      categories: ["all"],
      hasStatus: true,
      storage: "/pods",
    });
    expect(pods?.subresources.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["binding", "ephemeralcontainers", "eviction", "exec", "log", "resize", "status"]),
    );
    expect(pods?.subresources.find(({ name }) => name === "eviction")).toMatchObject({
      kind: "Eviction",
      apiVersion: "policy/v1",
    });
    expect(find({ apiVersion: "authentication.k8s.io/v1", plural: "tokenreviews" })?.verbs).toEqual(["create"]);
    expect(find(coreV1.ConfigMap)?.hasStatus).toBe(false);
  });

  it("have schemas with what patches and explanations need", () => {
    const containers = find(coreV1.Pod)?.schema.fields?.spec?.fields?.containers;
    expect(containers).toMatchObject({
      type: "array",
      listType: "map",
      mapKeys: ["name"],
      patchMergeKey: "name",
      patchStrategy: ["merge"],
    });
    expect(containers?.description).toMatch(/^List of containers/);
    expect(containers?.element?.fields?.ports?.element?.fields?.protocol).toMatchObject({ default: "TCP" });
    expect(find(coreV1.Pod)?.schema.fields?.metadata?.name).toBe("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  });

  it("of subresources have schemas too", () => {
    expect(schemaOfKind("policy/v1", "Eviction")?.fields).toHaveProperty("deleteOptions");
    expect(schemaOfKind("autoscaling/v1", "Scale")?.fields).toHaveProperty("spec");
    expect(schemaOfKind("v1", "Nothing")).toBeUndefined();
  });

  it("share the storage of events", () => {
    const [old, fresh] = ["v1", "events.k8s.io/v1"].map((apiVersion) => find({ apiVersion, plural: "events" }));
    expect([old?.storage, fresh?.storage]).toEqual(["/events", "/events"]);
    expect([old?.conversion, typeof fresh?.conversion]).toEqual([undefined, "object"]);
  });
});
