/** What the API server looks like to any client: paths, methods, forms of bodies and answers, tables, discovery. */
import { coreV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import type { HttpAnswer } from "./target.ts";

const JSON_BODY = { "content-type": "application/json" };
const as = (kind: string) => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
// biome-ignore lint/suspicious/noExplicitAny: answers have any shape
const objectOf = ({ text }: HttpAnswer): any => JSON.parse(text);
const linesOf = ({ text }: HttpAnswer) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

export const http = suite("HTTP", (it, target) => {
  const refused: [method: string, path: string, code: number, reason: string, message: string][] = [
    ["GET", "/api/v1/foo", 404, "NotFound", "the server could not find the requested resource"],
    ["GET", "/apis/apps/v3", 404, "NotFound", "the server could not find the requested resource"],
    ["GET", "/api/v1/pods/foo", 404, "NotFound", "the server could not find the requested resource"],
    ["GET", "/api/v1/namespaces/default/nodes", 404, "NotFound", "the server could not find the requested resource"],
    [
      "GET",
      "/api/v1/namespaces/default/pods/x/foo",
      404,
      "NotFound",
      "the server could not find the requested resource",
    ],
    ["GET", "/api/v1/nodes/a%2Fb", 404, "NotFound", "the server could not find the requested resource"],
    ["GET", "/api/v1//nodes", 404, "NotFound", "the server could not find the requested resource"],
    [
      "POST",
      "/api/v1/pods",
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    [
      "DELETE",
      "/api/v1/pods",
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    [
      "OPTIONS",
      "/api/v1/pods",
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    ["POST", "/version", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"],
    [
      "PUT",
      "/api/v1/namespaces/default/pods",
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    [
      "POST",
      "/api/v1/namespaces/default/pods/x",
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    ],
    ["GET", "/api/v1/namespaces/default/pods/nope/log", 404, "NotFound", 'pods "nope" not found'],
    [
      "GET",
      "/api/v1/namespaces/default/pods?limit=x",
      400,
      "BadRequest",
      'strconv.ParseInt: parsing "x": invalid syntax',
    ],
  ];
  for (const [method, path, code, reason, message] of refused) {
    it(`${method} ${path}: ${code}`, async () => {
      const answer = await target().http(method, path);
      expect(answer.status).toBe(code);
      expect(objectOf(answer)).toMatchObject({
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        code,
        reason,
        message,
      });
    });
  }

  it("bodies that are no objects are refused, nothing at all is an empty one", async () => {
    const path = `/api/v1/namespaces/${await target().namespace()}/configmaps?dryRun=All`;
    const post = (body: string, type = "application/json") =>
      target().http("POST", path, { body, headers: { "content-type": type } });
    const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind";
    for (const body of ["not json", ""]) {
      const answer = objectOf(await post(body));
      expect(answer).toMatchObject({ code: 400, reason: "BadRequest", message: expect.stringContaining(unrecognized) });
    }
    for (const body of ["{}", "null"]) {
      expect(objectOf(await post(body))).toMatchObject({
        code: 422,
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      });
    }
    expect((await post("[]")).status).toBe(400);
    expect(objectOf(await post("x", "application/xml"))).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
    expect((await post("metadata: {name: a}", "application/yaml")).status).toBe(201);
    const large = await post(" ".repeat(3 * 1024 * 1024 + 1));
    expect(objectOf(large)).toMatchObject({
      code: 413,
      reason: "RequestEntityTooLarge",
      message: "Request entity too large: limit is 3145728",
    });
  });

  it("fields that are unknown or given twice are warned of, or refused, as asked", async () => {
    const path = `/api/v1/namespaces/${await target().namespace()}/configmaps?dryRun=All`;
    const body = '{"metadata":{"name":"a"},"bogus":1,"data":{"k":"v"},"data":{"k":"w"}}';
    const post = (more: string) => target().http("POST", path + more, { body, headers: JSON_BODY });
    const warned = await post("");
    expect([warned.status, objectOf(warned).data]).toEqual([201, { k: "w" }]);
    const warnings = String(warned.headers.warning);
    expect(warnings).toContain('299 - "unknown field \\"bogus\\""');
    expect(warnings).toContain('299 - "duplicate field \\"data\\""');
    expect((await post("&fieldValidation=Ignore")).headers.warning).toBeUndefined();
    expect(objectOf(await post("&fieldValidation=Strict")).message).toMatch(
      /^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: .*duplicate field "data"/,
    );
  });

  it("patches are known by their content type", async () => {
    const namespace = await target().namespace();
    await target().client.create(coreV1.ConfigMap, { metadata: { name: "a", namespace }, data: { k: "v" } });
    const patch = (type: string, body: string, query = "") =>
      target().http("PATCH", `/api/v1/namespaces/${namespace}/configmaps/a${query}`, {
        body,
        headers: { "content-type": type },
      });
    expect(objectOf(await patch("application/json", "{}"))).toMatchObject({
      code: 415,
      message: "415: Unsupported Media Type",
    });
    expect(objectOf(await patch("application/merge-patch+json", "["))).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^error decoding patch: /),
    });
    expect(objectOf(await patch("application/apply-patch+yaml", "{}"))).toMatchObject({ code: 422, reason: "Invalid" });
    const merged = await patch("application/merge-patch+json", '{"data":{"k":"w"}}');
    expect([merged.status, objectOf(merged).data]).toEqual([200, { k: "w" }]);
    const applied = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: z}";
    const apply = () =>
      target().http("PATCH", `/api/v1/namespaces/${namespace}/configmaps/b?fieldManager=me`, {
        body: applied,
        headers: { "content-type": "application/apply-patch+yaml" },
      });
    expect([(await apply()).status, (await apply()).status]).toEqual([201, 200]);
  });

  it("objects are made with 201 and removed with 200, and say what they are once in a list", async () => {
    const namespace = await target().namespace();
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const made = await target().http("POST", path, { body: '{"metadata":{"name":"s"}}', headers: JSON_BODY });
    expect([made.status, objectOf(made).kind]).toEqual([201, "Secret"]);
    const list = objectOf(await target().http("GET", path));
    expect([list.kind, list.apiVersion]).toEqual(["SecretList", "v1"]);
    expect(list.items.map((item: object) => Object.keys(item).includes("kind"))).toEqual([false]);
    const gone = await target().http("DELETE", `${path}/s`);
    const { uid } = objectOf(made).metadata;
    expect([gone.status, objectOf(gone)]).toEqual([
      200,
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Success",
        details: { name: "s", kind: "secrets", uid },
      },
    ]);
  });

  it("answers come as tables, with as much of the object as asked", async () => {
    const namespace = await target().namespace();
    await target().client.create(coreV1.ConfigMap, { metadata: { name: "a", namespace }, data: { k: "v" } });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const get = async (query: string, kind = "Table") =>
      objectOf(await target().http("GET", `${path}${query}`, { headers: as(kind) }));
    const table = await get("/a");
    expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    expect(
      table.columnDefinitions.map(({ name, type, format, priority }: Record<string, unknown>) => [
        name,
        type,
        format,
        priority,
      ]),
    ).toEqual([
      ["Name", "string", "name", 0],
      ["Data", "string", "", 0],
      ["Age", "string", "", 0],
    ]);
    expect(table.rows[0].cells.slice(0, 2)).toEqual(["a", 1]);
    expect(table.rows[0].object).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" });
    expect((await get("/a?includeObject=None")).rows[0].object).toBeNull();
    expect((await get("/a?includeObject=Object")).rows[0].object).toMatchObject({
      kind: "ConfigMap",
      data: { k: "v" },
    });
    const listed = await get("?includeObject=Object&fieldSelector=metadata.name=a");
    expect(listed.rows[0].object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } });
    expect(await get("/a?includeObject=Foo")).toMatchObject({
      code: 400,
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty",
    });
    expect(await get("/a", "PartialObjectMetadata")).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata: { name: "a" },
    });
    expect(await get("", "PartialObjectMetadata")).toMatchObject({
      code: 406,
      message: "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    });
    expect(await get("", "Foo")).toMatchObject({ code: 406, reason: "NotAcceptable" });
    const strange = await target().http("GET", path, { headers: { accept: "application/xml" } });
    expect(objectOf(strange)).toMatchObject({ code: 406, message: expect.stringMatching(/^406: Not Acceptable/) });
    const yaml = await target().http("GET", `${path}/a`, { headers: { accept: "application/yaml" } });
    expect([yaml.headers["content-type"], yaml.text]).toEqual(["application/yaml", expect.stringContaining("k: v")]);
  });

  it("a watch as a table has headers once, and ends its first events with a bookmark", async () => {
    const namespace = await target().namespace();
    const selected = "labelSelector=mine";
    for (const name of ["a", "b"]) {
      await target().client.create(coreV1.ConfigMap, { metadata: { name, namespace, labels: { mine: "" } } });
    }
    const query = `watch=1&timeoutSeconds=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&${selected}`;
    const answer = await target().http("GET", `/api/v1/namespaces/${namespace}/configmaps?${query}`, {
      headers: as("Table"),
    });
    const [first, second, third] = linesOf(answer);
    expect([first.type, second.type, third.type]).toEqual(["ADDED", "ADDED", "BOOKMARK"]);
    expect([first.object.columnDefinitions.length, second.object.columnDefinitions]).toEqual([3, null]);
    expect([first.object.rows[0].cells[0], second.object.rows[0].cells[0]]).toEqual(["a", "b"]);
    const { annotations } = third.object.rows[0].object.metadata;
    expect(annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });

  it("discovery is the same in both forms, and known by its tag", async () => {
    const form = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" };
    const answer = await target().http("GET", "/apis", { headers: form });
    expect(answer.headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    const apps = objectOf(answer).items.find((item: { metadata: { name: string } }) => item.metadata.name === "apps");
    expect(apps.versions[0].resources.find(({ resource }: { resource: string }) => resource === "deployments")).toEqual(
      {
        resource: "deployments",
        responseKind: { group: "", version: "", kind: "Deployment" },
        scope: "Namespaced",
        singularResource: "deployment",
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        shortNames: ["deploy"],
        categories: ["all"],
        subresources: [
          {
            subresource: "scale",
            responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
            verbs: ["get", "patch", "update"],
          },
          {
            subresource: "status",
            responseKind: { group: "", version: "", kind: "Deployment" },
            verbs: ["get", "patch", "update"],
          },
        ],
      },
    );
    const tag = String(answer.headers.etag);
    expect((await target().http("GET", "/apis", { headers: { ...form, "if-none-match": tag } })).status).toBe(304);
    expect(objectOf(await target().http("GET", "/apis/apps"))).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "apps",
      versions: [{ groupVersion: "apps/v1", version: "v1" }],
      preferredVersion: { groupVersion: "apps/v1", version: "v1" },
    });
    const { resources } = objectOf(await target().http("GET", "/api/v1"));
    const eviction = resources.find(({ name }: { name: string }) => name === "pods/eviction");
    expect(eviction).toEqual({
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
  });

  it("OpenAPI has for every kind what kubectl looks for", async () => {
    const { paths } = objectOf(await target().http("GET", "/openapi/v3"));
    const document = objectOf(await target().http("GET", paths["apis/batch/v1"].serverRelativeURL));
    const { patch } = document.paths["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"];
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "batch", kind: "Job", version: "v1" });
    const parameters = patch.parameters.map(({ name }: { name: string }) => name);
    expect(parameters).toEqual(expect.arrayContaining(["dryRun", "fieldManager", "fieldValidation", "force"]));
    expect(Object.keys(patch.requestBody.content)).toEqual(
      expect.arrayContaining(["application/apply-patch+yaml", "application/strategic-merge-patch+json"]),
    );
    const { containers } = document.components.schemas["io.k8s.api.core.v1.PodSpec"].properties;
    expect(containers).toMatchObject({
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    });
  });

  it("says who it is and that it is well", async () => {
    const version = objectOf(await target().http("GET", "/version"));
    expect(version).toMatchObject({ major: "1", minor: "36", gitVersion: expect.stringMatching(/^v1\.36\.3/) });
    for (const path of ["/healthz", "/livez", "/readyz", "/readyz/ping"]) {
      const answer = await target().http("GET", path);
      expect([answer.status, answer.text], path).toEqual([200, "ok"]);
    }
    expect((await target().http("GET", "/readyz?verbose")).text).toMatch(
      /^\[\+\]ping ok\n[\s\S]*readyz check passed\n$/,
    );
  });
});
