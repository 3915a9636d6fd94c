import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUrl, routeOf } from "./route.ts";

const route = (method: string, url: string) => {
  const { path, query } = parseUrl(url);
  return routeOf(method, path, query);
};

describe("what a request is about", () => {
  it("is found in its path and method", () => {
    const cases: [string, string, object][] = [
      ["GET", "/api/v1/pods", { verb: "list", group: "", plural: "pods", namespace: undefined, name: undefined }],
      ["GET", "/api/v1/namespaces/a/pods/b", { verb: "get", namespace: "a", plural: "pods", name: "b" }],
      ["HEAD", "/api/v1/nodes/b", { verb: "get", plural: "nodes", name: "b" }],
      [
        "PUT",
        "/apis/apps/v1/namespaces/a/deployments/b/scale",
        { verb: "update", group: "apps", subresource: "scale" },
      ],
      ["POST", "/apis/batch/v1/namespaces/a/jobs", { verb: "create", version: "v1", plural: "jobs" }],
      ["PATCH", "/api/v1/nodes/n/status", { verb: "patch", subresource: "status" }],
      ["DELETE", "/api/v1/namespaces/a/pods", { verb: "deletecollection", namespace: "a" }],
      ["DELETE", "/api/v1/namespaces/a", { verb: "delete", plural: "namespaces", name: "a", namespace: "a" }],
      [
        "PUT",
        "/api/v1/namespaces/a/finalize",
        { verb: "update", plural: "namespaces", name: "a", subresource: "finalize" },
      ],
      ["GET", "/api/v1/namespaces", { verb: "list", plural: "namespaces", name: undefined }],
      ["GET", "/api/v1/pods?watch=1", { verb: "watch" }],
      ["GET", "/api/v1/pods?watch", { verb: "watch" }],
      ["GET", "/api/v1/pods?watch=false", { verb: "list" }],
      ["GET", "/api/v1/watch/namespaces/a/pods", { verb: "watch", namespace: "a", plural: "pods" }],
      ["GET", "/api/v1/namespaces/a/pods/", { verb: "list", plural: "pods", name: undefined }],
      ["FOO", "/api/v1/pods", { verb: "" }],
    ];
    for (const [method, url, expected] of cases) {
      expect(route(method, url), `${method} ${url}`).toMatchObject({ type: "resource", ...expected });
    }
  });

  it("is a path if there is no resource in it", () => {
    for (const url of ["/", "/version", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz/etcd", ""]) {
      expect(route("GET", url).type, url).toBe("path");
    }
  });

  it("keeps a slash within a name apart from one between names", () => {
    expect(() => parseUrl("/api/v1/nodes/a%2Fb")).toThrow(/could not find/);
    expect(() => parseUrl("/api/v1/nodes/%zz")).toThrow(/cannot be read/);
    expect(parseUrl("/api/v1/nodes/a%20b?x=1&x=2")).toEqual({ path: "/api/v1/nodes/a b", query: { x: ["1", "2"] } });
  });

  it("can be said of any URL, or it is refused", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.constantFrom("GET", "POST", "DELETE", "X"), (url, method) => {
        try {
          expect(["resource", "path"]).toContain(route(method, `/${url}`).type);
        } catch (error) {
          expect(error).toMatchObject({ reason: expect.stringMatching(/BadRequest|NotFound/) });
        }
      }),
    );
  });
});
