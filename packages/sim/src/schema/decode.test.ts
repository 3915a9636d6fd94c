import { Quantity } from "@berth/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equal, isObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { decode, decodePart } from "./decode.ts";
import { Definitions, type StoredDefinitions } from "./definitions.ts";

// Of two of the same name the first: v1 comes before the others.
const resources = new Map(
  builtinResources()
    .toReversed()
    .map((resource) => [resource.kind, resource]),
);
const kind = (name: string) => resources.get(name) as Resource;

function read(given: object, resource = kind("Pod")) {
  const unknown: string[] = [];
  return { object: decode(given as Record<string, unknown>, resource, unknown), unknown };
}

function problem(given: unknown, resource = kind("Pod")): string {
  try {
    decode(given as Record<string, unknown>, resource, []);
  } catch (error) {
    if (error instanceof Refusal) return error.body.message ?? "";
    throw error;
  }
  return "";
}

const pod = (spec: object) => ({ metadata: { name: "x" }, spec });

describe("known fields", () => {
  it("are copied: nothing is shared with the client, nothing of the client's is changed", () => {
    const given = {
      metadata: { name: "x", labels: { a: "b" } },
      spec: { containers: [{ name: "c", command: ["x"] }] },
    };
    const frozen = JSON.stringify(given);
    const { object } = read(given);
    expect(object).toEqual({
      metadata: { name: "x", labels: { a: "b" } },
      spec: { containers: [{ name: "c", command: ["x"], resources: {} }] },
      status: {},
    });
    expect(object.metadata).not.toBe(given.metadata);
    expect(object.metadata.labels).not.toBe(given.metadata.labels);
    expect(JSON.stringify(given)).toBe(frozen);
  });

  it("that are undefined are not there, and what says itself what it is in JSON is that", () => {
    const requests = { cpu: Quantity.parse("0.5"), memory: undefined };
    const given = {
      metadata: { name: "x", creationTimestamp: new Date(0), labels: undefined },
      spec: { containers: [{ name: "c", resources: { requests }, image: () => "x" }] },
    };
    expect(read(given)).toEqual({
      unknown: [],
      object: {
        metadata: { name: "x", creationTimestamp: "1970-01-01T00:00:00Z" },
        spec: { containers: [{ name: "c", resources: { requests: { cpu: "500m" } } }] },
        status: {},
      },
    });
  });
});

describe("unknown fields", () => {
  it("are left out, and their paths are told", () => {
    const given = {
      ...pod({ containers: [{ name: "c" }, { name: "d", foo: { a: 1 }, ports: [{ bar: 1 }] }] }),
      zip: null,
    };
    const { unknown, object } = read(given);
    expect(unknown).toEqual(["spec.containers[1].foo", "spec.containers[1].ports[0].bar", "zip"]);
    expect(JSON.stringify(object)).not.toMatch(/foo|bar|zip/);
  });

  it("are also those that all JavaScript objects have", () => {
    const given = JSON.parse('{"spec": {"constructor": {}, "__proto__": {"polluted": 1}, "toString": 1}}');
    expect(read(given).unknown).toEqual(["spec.constructor", "spec.__proto__", "spec.toString"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("are no more than a hundred", () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
    expect(read(many).unknown).toHaveLength(100);
  });

  it("have the keys of maps in their paths", () => {
    const definition = {
      spec: { versions: [{ name: "v1", schema: { openAPIV3Schema: { properties: { a: { foo: 1 } } } } }] },
    };
    const { unknown } = read(definition, kind("CustomResourceDefinition"));
    expect(unknown).toEqual(["spec.versions[0].schema.openAPIV3Schema.properties.a.foo"]);
  });
});

describe("maps", () => {
  it("keep any key, and only as a key", () => {
    const given = JSON.parse('{"metadata": {"labels": {"__proto__": "x", "constructor": "y"}}}');
    const { object } = read(given);
    expect(JSON.stringify(object.metadata.labels)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(Object.getPrototypeOf(object.metadata.labels)).toBe(Object.prototype);
  });

  it("have empty values where there is null", () => {
    expect(read({ metadata: { labels: { a: null } } }).object.metadata.labels).toEqual({ a: "" });
  });
});

describe("what is empty", () => {
  it("is dropped or kept as the field wants it", () => {
    const spec = {
      hostNetwork: false,
      nodeName: "",
      tolerations: [],
      nodeSelector: {},
      priority: 0,
      enableServiceLinks: false,
    };
    const { object } = read(pod({ ...spec, containers: [{ name: "c", securityContext: {}, args: null }] }));
    expect(object.spec).toEqual({
      priority: 0,
      enableServiceLinks: false,
      containers: [{ name: "c", securityContext: {}, resources: {} }],
    });
  });

  it("is there where the field always is", () => {
    expect(read({}, kind("ClusterRole")).object).toMatchObject({ rules: null });
    expect(read({}, kind("Event")).object).toMatchObject({ firstTimestamp: null, source: {}, reportingComponent: "" });
    const { object } = read({ status: { containerStatuses: [{}] } });
    expect(object.status).toEqual({
      containerStatuses: [
        { name: "", state: {}, lastState: {}, ready: false, restartCount: 0, image: "", imageID: "" },
      ],
    });
  });

  it("in a list is an empty item", () => {
    const { object } = read(pod({ containers: [null] }));
    expect(object.spec).toEqual({ containers: [{ name: "", resources: {} }] });
  });
});

describe("what cannot be read", () => {
  it.each<[string, unknown, string]>([
    ["a text", pod({ containers: "x" }), "string into Go struct field PodSpec.spec.containers of type []v1.Container"],
    [
      "a number",
      { metadata: { labels: { a: 5 } } },
      "number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    ["a list", { spec: [] }, "array into Go struct field Pod.spec of type v1.PodSpec"],
    ["a fraction", pod({ priority: 1.5 }), "number 1.5 into Go struct field PodSpec.spec.priority of type int32"],
    ["too much", pod({ priority: 3e9 }), "number 3000000000 into Go struct field PodSpec.spec.priority of type int32"],
    ["a truth", pod({ nodeName: true }), "bool into Go struct field PodSpec.spec.nodeName of type string"],
  ])("is %s in the place of something else", (_, given, words) => {
    expect(problem(given)).toBe(`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal ${words}`);
  });

  it("is what is too deep, wherever it goes deep", () => {
    const deep = (depth: number, wrap: (inner: unknown) => unknown) => {
      let value: unknown = {};
      for (let level = 0; level < depth; level++) value = wrap(value);
      return value;
    };
    const schema = (openAPIV3Schema: unknown) => ({ spec: { versions: [{ schema: { openAPIV3Schema } }] } });
    const definition = kind("CustomResourceDefinition");
    for (const wrap of [
      (items: unknown) => ({ items }),
      (not: unknown) => ({ not }),
      (a: unknown) => ({ properties: { a } }),
      (value: unknown) => ({ default: [value] }),
    ]) {
      expect(problem(schema(deep(20_000, wrap)), definition)).toContain("exceeded max depth");
      expect(problem(schema(deep(20, wrap)), definition)).toBe("");
    }
    const data = deep(20_000, (inner) => ({ inner }));
    expect(problem({ data }, kind("ControllerRevision"))).toContain("exceeded max depth");
  });
});

describe("any JSON at all", () => {
  it("is read or refused, and what was read is read again as it is", () => {
    const names = ["Pod", "CustomResourceDefinition", "Event", "Secret", "Job", "Node"];
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        (name, given, spec) => {
          const whole = JSON.parse(JSON.stringify({ ...given, spec, metadata: spec }));
          if (problem(whole, kind(name)) !== "") return;
          const { object } = read(whole, kind(name));
          const { object: again, unknown } = read(object, kind(name));
          expect(unknown).toEqual([]);
          expect(equal(again, object)).toBe(true);
        },
      ),
      { seed: 1, numRuns: 500 },
    );
  });
});

it("a schema without a kind reads parts", () => {
  const stored: StoredDefinitions = {
    Point: { type: "object", fields: { x: { type: "integer", empty: "zero" }, next: { ref: "Point" } } },
  };
  const point = new Definitions(stored).get("Point");
  const unknown: string[] = [];
  expect(point && decodePart({ next: { next: { y: 1 } } }, point, unknown)).toEqual({
    x: 0,
    next: { x: 0, next: { x: 0 } },
  });
  expect(unknown).toEqual(["next.next.y"]);
  expect(isObject(point?.fields)).toBe(true);
});
