import { describe, expect, it } from "vitest";
import type { Resource } from "../api/resource.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { groupsOf } from "./discovery.ts";
import { openApiDocument } from "./openapi.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents have any shape
type Document = any;
const documents = (resources: readonly Resource[]): Document[] =>
  groupsOf(resources).flatMap(({ versions }) => versions.map(openApiDocument));

describe("OpenAPI documents", () => {
  const all = documents(builtinResources());
  const apps = all.find((document) => "/apis/apps/v1/" in document.paths);

  it("refer to nothing that they do not have", () => {
    for (const document of all) {
      const references = JSON.stringify(document).match(/#\/components\/schemas\/[^"]+/g) ?? [];
      const missing = references.filter((each) => !(each.slice(21) in document.components.schemas));
      expect(missing).toEqual([]);
    }
  });

  it("have what kubectl looks for: kinds, parameters of writes, and how lists are merged", () => {
    const patch = apps.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"].patch;
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "apps", version: "v1", kind: "Deployment" });
    expect(patch.parameters.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["dryRun", "fieldValidation", "fieldManager"]),
    );
    expect(patch.requestBody.content).toHaveProperty(["application/strategic-merge-patch+json"]);
    const schema = apps.components.schemas["io.k8s.api.apps.v1.Deployment"];
    expect(schema["x-kubernetes-group-version-kind"]).toEqual([{ group: "apps", version: "v1", kind: "Deployment" }]);
    const { containers } = apps.components.schemas["io.k8s.api.core.v1.PodSpec"].properties;
    expect(containers).toMatchObject({
      type: "array",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    });
  });

  it("tell of custom resources what their schema says, and that they are not merged by strategy", () => {
    const pods = builtinResources().find(({ plural }) => plural === "pods") as Resource;
    const custom: Resource = {
      ...pods,
      group: "example.org",
      apiVersion: "example.org/v1",
      kind: "Thing",
      plural: "things",
      custom: {},
      schema: {
        type: "object",
        fields: {
          spec: {
            type: "object",
            required: ["size"],
            fields: {
              size: { type: "integer", description: "How large.", validation: { minimum: 1 } },
              port: { type: "intOrString" },
              any: { type: "any", preserveUnknown: true },
            },
          },
        },
      },
    };
    const [document] = documents([custom]);
    const { spec, metadata } = document.components.schemas["org.example.v1.Thing"].properties;
    expect(spec).toEqual({
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", description: "How large.", minimum: 1 },
        port: { "x-kubernetes-int-or-string": true, oneOf: [{ type: "integer" }, { type: "string" }] },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    });
    expect(metadata.allOf[0].$ref).toContain("ObjectMeta");
    const { patch } = document.paths["/apis/example.org/v1/namespaces/{namespace}/things/{name}"];
    expect(patch.requestBody.content).not.toHaveProperty(["application/strategic-merge-patch+json"]);
  });
});
