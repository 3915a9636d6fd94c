import { describe, expect, it } from "vitest";
import { kindOf } from "../objects/meta.ts";
import { contentTypeOf, pathOf } from "./path.ts";

const Pod = kindOf("v1", "Pod", "pods");
const Job = kindOf("batch/v1", "Job", "jobs");
const Node = kindOf("v1", "Node", "nodes", "Cluster");

describe("the path of a request", () => {
  it.each([
    [{ verb: "list", kind: Pod }, "/api/v1/pods"],
    [{ verb: "list", kind: Job, namespace: "a" }, "/apis/batch/v1/namespaces/a/jobs"],
    [{ verb: "get", kind: Job, namespace: "a", name: "b" }, "/apis/batch/v1/namespaces/a/jobs/b"],
    [{ verb: "get", kind: Node, namespace: "ignored", name: "n" }, "/api/v1/nodes/n"],
    [
      { verb: "update", kind: Pod, namespace: "a", name: "b", subresource: "status" },
      "/api/v1/namespaces/a/pods/b/status",
    ],
    [{ verb: "get", kind: Pod, namespace: "a", name: "system:b c" }, "/api/v1/namespaces/a/pods/system%3Ab%20c"],
    [
      {
        verb: "list",
        kind: Pod,
        parameters: { limit: 5, watch: true, continue: undefined, labelSelector: "a in (b,c)" },
      },
      "/api/v1/pods?limit=5&watch=true&labelSelector=a+in+%28b%2Cc%29",
    ],
    [{ verb: "list", kind: Pod, parameters: { command: ["ls", "-l"] } }, "/api/v1/pods?command=ls&command=-l"],
  ] as const)("N1 of %j is %s", (request, path) => {
    expect(pathOf(request)).toBe(path);
  });

  it.each(["", ".", "..", "a/b", "../../secrets/x"])("N1 leads nowhere for the name %j", (name) => {
    const refused = expect.objectContaining({ code: "KUBE_API_BAD_REQUEST" });
    expect(() => pathOf({ verb: "get", kind: Pod, namespace: "a", name })).toThrow(refused);
    expect(() => pathOf({ verb: "get", kind: Pod, namespace: name || "..", name: "b" })).toThrow(refused);
  });

  it.each(["get", "update", "patch", "delete"] as const)("N1 leads nowhere for a %s without a name", (verb) => {
    const refused = expect.objectContaining({ code: "KUBE_API_BAD_REQUEST" });
    expect(() => pathOf({ verb, kind: Pod, namespace: "a" })).toThrow(refused);
  });

  it("N1 goes with the content type of its patch", () => {
    expect(contentTypeOf({ verb: "create", kind: Pod })).toBe("application/json");
    expect(contentTypeOf({ verb: "patch", kind: Pod, patchType: "apply" })).toBe("application/apply-patch+yaml");
  });
});
