import { describe, expect, it } from "vitest";
import { copyOf, frozen, type JsonObject } from "../api/json.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { strategicPatched } from "./strategic-patch.ts";

const text: SchemaNode = { type: "string" };
const container: SchemaNode = {
  type: "object",
  fields: {
    name: text,
    image: text,
    args: { type: "array", element: text },
    env: {
      type: "array",
      patchStrategy: ["merge"],
      patchMergeKey: "name",
      element: { type: "object", fields: { name: text, value: text } },
    },
    ports: {
      type: "array",
      patchStrategy: ["merge"],
      patchMergeKey: "containerPort",
      element: { type: "object", fields: { containerPort: { type: "integer" }, name: text } },
    },
  },
};

/** A pod-like kind. */
const pod: SchemaNode = {
  type: "object",
  fields: {
    metadata: {
      type: "object",
      fields: {
        labels: { type: "map", element: text },
        finalizers: { type: "array", patchStrategy: ["merge"], element: text },
      },
    },
    spec: {
      type: "object",
      fields: {
        containers: { type: "array", patchStrategy: ["merge"], patchMergeKey: "name", element: container },
        volumes: {
          type: "array",
          patchStrategy: ["merge", "retainKeys"],
          patchMergeKey: "name",
          element: {
            type: "object",
            fields: { name: text, emptyDir: { type: "object" }, hostPath: { type: "object" } },
          },
        },
        strategy: {
          type: "object",
          patchStrategy: ["retainKeys"],
          fields: { type: text, rolling: { type: "object" } },
        },
        tolerations: { type: "array", element: { type: "object", fields: { key: text } } },
        whole: { type: "object", patchStrategy: ["replace"], fields: { a: text, b: text } },
      },
    },
  },
};

const patched = (before: JsonObject, patch: JsonObject) => strategicPatched(frozen(before), frozen(patch), pod);
const spec = (before: JsonObject, patch: JsonObject) => patched({ spec: before }, { spec: patch }).spec;

describe("a strategic merge patch", () => {
  it("merges maps, and takes away what is null", () => {
    const before = { metadata: { labels: { a: "1", b: "2" } } };
    expect(patched(before, { metadata: { labels: { a: null, c: "3" } } })).toEqual({
      metadata: { labels: { b: "2", c: "3" } },
    });
    expect(patched(before, { metadata: { labels: null } })).toEqual({ metadata: {} });
  });

  it("merges lists by the keys of their items", () => {
    const containers = [{ name: "a", image: "1", env: [{ name: "X", value: "x" }] }, { name: "b" }];
    expect(spec({ containers }, { containers: [{ name: "a", image: "2", env: [{ name: "Y", value: "y" }] }] })).toEqual(
      {
        containers: [
          {
            name: "a",
            image: "2",
            env: [
              { name: "Y", value: "y" },
              { name: "X", value: "x" },
            ],
          },
          { name: "b" },
        ],
      },
    );
    expect(spec({ containers }, { containers: [{ name: "c" }] })).toEqual({
      containers: [{ name: "c" }, ...containers],
    });
  });

  it("replaces lists that the schema says nothing of", () => {
    expect(spec({ tolerations: [{ key: "a" }] }, { tolerations: [{ key: "b" }] })).toEqual({
      tolerations: [{ key: "b" }],
    });
    const containers = [{ name: "a", args: ["1", "2"] }];
    expect(spec({ containers }, { containers: [{ name: "a", args: ["3"] }] })).toEqual({
      containers: [{ name: "a", args: ["3"] }],
    });
  });

  it("removes items that it says to delete", () => {
    const containers = [{ name: "a" }, { name: "b" }];
    expect(spec({ containers }, { containers: [{ $patch: "delete", name: "a" }] })).toEqual({
      containers: [{ name: "b" }],
    });
    expect(spec({ containers }, { containers: [{ $patch: "delete", name: "x" }] })).toEqual({ containers });
  });

  it("replaces a list or a map that it says to replace", () => {
    const containers = [{ name: "a" }, { name: "b" }];
    const patch = { containers: [{ name: "c" }, { $patch: "replace" }] };
    expect(spec({ containers }, patch)).toEqual({ containers: [{ name: "c" }] });
    expect(spec({ strategy: { type: "A", rolling: {} } }, { strategy: { $patch: "replace", type: "B" } })).toEqual({
      strategy: { type: "B" },
    });
    expect(spec({ strategy: { type: "A" } }, { strategy: { $patch: "delete" } })).toEqual({ strategy: {} });
    expect(spec({ whole: { a: "1" } }, { whole: { b: "2" } })).toEqual({ whole: { b: "2" } });
  });

  it("keeps only the keys that it says to retain", () => {
    const before = { volumes: [{ name: "v", emptyDir: {} }], strategy: { type: "Rolling", rolling: { max: 1 } } };
    const volumes = [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }];
    expect(spec(before, { volumes })).toEqual({ ...before, volumes: [{ name: "v", hostPath: { path: "/" } }] });
    expect(spec(before, { strategy: { $retainKeys: ["type"], type: "Recreate" } })).toEqual({
      ...before,
      strategy: { type: "Recreate" },
    });
    expect(() => spec(before, { strategy: { $retainKeys: ["rolling"], type: "x" } })).toThrow(
      "invalid patch format of retainKeys",
    );
    expect(() => spec(before, { strategy: { $retainKeys: "type" } })).toThrow("invalid patch format of retainKeys");
  });

  it("adds to lists of texts, and deletes from them", () => {
    const before = { metadata: { finalizers: ["a", "b"] } };
    expect(patched(before, { metadata: { finalizers: ["b", "c"] } })).toEqual({
      metadata: { finalizers: ["a", "b", "c"] },
    });
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["c"] } };
    expect(patched(before, patch)).toEqual({ metadata: { finalizers: ["c", "b"] } });
    expect(patched({ metadata: {} }, { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } })).toEqual({
      metadata: {},
    });
  });

  it("puts items in the order that it gives", () => {
    const containers = [{ name: "a" }, { name: "server" }, { name: "b" }];
    const order = [{ name: "b" }, { name: "a" }];
    expect(spec({ containers }, { "$setElementOrder/containers": order })).toEqual({
      containers: [{ name: "server" }, { name: "b" }, { name: "a" }],
    });
    expect(
      spec(
        { containers },
        {
          "$setElementOrder/containers": [{ name: "new" }, { name: "a" }, { name: "b" }],
          containers: [
            { name: "new", image: "1" },
            { name: "b", image: "2" },
          ],
        },
      ),
    ).toEqual({
      containers: [{ name: "new", image: "1" }, { name: "a" }, { name: "server" }, { name: "b", image: "2" }],
    });
    const before = { metadata: { finalizers: ["a", "b", "c"] } };
    expect(patched(before, { metadata: { "$setElementOrder/finalizers": ["c", "a"] } })).toEqual({
      metadata: { finalizers: ["b", "c", "a"] },
    });
  });

  it("refuses an order that leaves out what it changes", () => {
    const patch = { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b" }] };
    expect(() => spec({ containers: [{ name: "a" }] }, patch)).toThrow("doesn't match $setElementOrder list");
  });

  it("drops directives and nulls from what was not there before", () => {
    const containers = [
      { name: "a", image: null },
      { name: "b", $patch: "delete" },
    ];
    expect(spec({}, { containers })).toEqual({ containers: [{ name: "a" }] });
  });

  it.each([
    [{ containers: [{ image: "x" }] }, "does not contain declared merge key: name"],
    [{ containers: ["x"] }, "list element types are not identical"],
    [{ containers: [["x"]] }, "the server rejected our request due to an error in our request"],
    [{ containers: [{ name: "a", $patch: "frobnicate" }] }, "unknown patch type: frobnicate"],
    [{ containers: [{ name: "a", $patch: "merge" }] }, "merging lists cannot yet be specified in the patch"],
    [{ strategy: { $patch: "merge" } }, "unknown patch type: merge"],
    [{ $setElementOrder: [] }, "invalid patch format of setElementOrder list"],
    [{ $deleteFromPrimitiveList: [] }, "invalid patch format of primitive list"],
    [{ "$setElementOrder/containers": 5 }, "expected a []interface {}"],
  ])("refuses %j", (patch, message) => {
    expect(() => spec({ containers: [{ name: "a" }], strategy: {} }, patch)).toThrow(message);
  });

  it("changes nothing that it was given, and shares what stays", () => {
    const before = {
      spec: { containers: [{ name: "a", env: [{ name: "X" }] }, { name: "b" }] },
      metadata: { labels: {} },
    };
    const copy = copyOf(before);
    const after = patched(before, { spec: { containers: [{ name: "b", image: "2" }] } }) as typeof before;
    expect(before).toEqual(copy);
    expect(after.metadata).toBe(before.metadata);
    expect(after.spec.containers.find(({ name }) => name === "a")).toBe(before.spec.containers[0]);
  });
});

/** What kubectl works out of last-applied, the file and the live object; here written by hand as it does. */
describe("what kubectl apply sends", () => {
  const live = {
    metadata: { labels: { app: "web", injected: "yes" } },
    spec: {
      containers: [
        {
          name: "web",
          image: "web:1",
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "2" },
          ],
        },
        { name: "sidecar", image: "injected" },
      ],
    },
  };

  it("changes an image, removes a variable, and leaves what others added", () => {
    const patch = {
      spec: {
        "$setElementOrder/containers": [{ name: "web" }],
        containers: [
          {
            name: "web",
            image: "web:2",
            "$setElementOrder/env": [{ name: "A" }],
            env: [{ $patch: "delete", name: "B" }],
          },
        ],
      },
    };
    expect(patched(live, patch)).toEqual({
      ...live,
      spec: {
        containers: [
          { name: "web", image: "web:2", env: [{ name: "A", value: "1" }] },
          { name: "sidecar", image: "injected" },
        ],
      },
    });
  });

  it("adds a container before another, and removes a label", () => {
    const patch = {
      metadata: { labels: { app: null } },
      spec: {
        "$setElementOrder/containers": [{ name: "init" }, { name: "web" }],
        containers: [{ name: "init", image: "i" }],
      },
    };
    expect(patched(live, patch)).toEqual({
      metadata: { labels: { injected: "yes" } },
      spec: { containers: [{ name: "init", image: "i" }, live.spec.containers[0], live.spec.containers[1]] },
    });
  });
});
