/** Random ways to write objects, of kinds that have all kinds of lists and maps: for comparing two servers. Pure. */
import { integer, pick, type Random } from "@berth/kube";
import type { JsonObject } from "../api/json.ts";

/** A request to change one object. */
export interface Write {
  readonly method: "PATCH" | "POST" | "PUT";
  /** What follows the object's path: "/status?fieldManager=a". */
  readonly where: string;
  readonly type: string;
  /** What is sent, given how the object is where it is sent to: two servers differ in uids, versions and times. */
  body(present: JsonObject | undefined): unknown;
}

/** Objects of one kind, for writing at random. */
export interface Writable {
  readonly apiVersion: string;
  readonly kind: string;
  /** Where its objects are, up to the name. */
  path(namespace: string): string;
  /** What an object must have to be accepted. */
  readonly least: JsonObject;
  /** Some fields, each with some value. */
  some(random: Random): JsonObject;
  readonly status?: (random: Random) => JsonObject;
  /** Custom resources take no strategic merge patches, and no updates that do not say of which version. */
  readonly custom?: boolean;
  /** Somebody else writes its objects too, and owns some fields. */
  readonly controlled?: boolean;
}

export const types = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const chance = (random: Random, share: number) => random.next() < share;

/** Some of the fields, by the share of them that is wanted. */
function someOf(
  random: Random,
  share: number,
  fields: Readonly<Record<string, (random: Random) => unknown>>,
): JsonObject {
  const result: JsonObject = {};
  for (const [name, make] of Object.entries(fields)) if (chance(random, share)) result[name] = make(random);
  return result;
}

const text = (random: Random) => pick(random, ["x", "y", "z"]);
const names = ["a", "b", "c", "d"];
const textMap = (random: Random) => someOf(random, 0.4, Object.fromEntries(names.map((name) => [name, text])));

/** Names without repetition, in any order. */
function someNames(random: Random, share = 0.5): string[] {
  const chosen = names.filter(() => chance(random, share));
  return chosen
    .map((name) => ({ name, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);
}

const byName = (item: (random: Random) => JsonObject) => (random: Random) =>
  someNames(random).map((name) => ({ name, ...item(random) }));

/** Never an empty one: in metadata the real server forgets it with the next write, and counts that as a change. */
const labels = (random: Random) => ({ ...textMap(random), e: text(random) });

const metadata = (random: Random) =>
  someOf(random, 0.3, {
    labels,
    finalizers: (each) => someNames(each, 0.3).map((name) => `example.com/${name}`),
  });

const ofCore = (plural: string) => (namespace: string) => `/api/v1/namespaces/${namespace}/${plural}`;
const ofGroup = (version: string, plural: string) => (namespace: string) =>
  `/apis/${version}/namespaces/${namespace}/${plural}`;

export const configMaps: Writable = {
  apiVersion: "v1",
  kind: "ConfigMap",
  path: ofCore("configmaps"),
  least: {},
  some: (random) => ({
    metadata: { ...metadata(random), ...someOf(random, 0.3, { annotations: labels }) },
    ...someOf(random, 0.7, { data: textMap }),
    ...someOf(random, 0.1, { binaryData: (each) => someOf(each, 0.5, { bytes: () => pick(each, ["AA==", "AQ=="]) }) }),
  }),
};

const ports = (random: Random) =>
  [80, 443]
    .filter(() => chance(random, 0.5))
    .map((containerPort) => ({
      containerPort,
      ...someOf(random, 0.5, { protocol: () => "TCP", hostIP: () => "10.0.0.1" }),
    }));

const container = (random: Random) => ({
  image: pick(random, ["one", "two"]),
  ...someOf(random, 0.25, {
    args: (each) => someNames(each),
    env: byName((each) => someOf(each, 0.8, { value: text })),
    ports,
    resources: (each) =>
      someOf(each, 0.6, { requests: () => ({ cpu: pick(each, ["1", "2"]) }), limits: () => ({ cpu: "4" }) }),
    imagePullPolicy: (each) => pick(each, ["Always", "Never"]),
    securityContext: (each) =>
      someOf(each, 0.5, { runAsUser: () => 5, capabilities: () => ({ add: someNames(each) }) }),
  }),
});

/** Never more than a template: without replicas nothing comes of it, and paused it stays as it is. */
export const deployments: Writable = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  path: ofGroup("apps/v1", "deployments"),
  least: {
    spec: {
      replicas: 0,
      paused: true,
      selector: { matchLabels: { app: "it" } },
      template: { metadata: { labels: { app: "it" } }, spec: { containers: [{ name: "main", image: "any" }] } },
    },
  },
  some: (random) => ({
    metadata: metadata(random),
    spec: someOf(random, 0.4, {
      minReadySeconds: () => integer(random, 0, 3),
      revisionHistoryLimit: () => integer(random, 1, 4),
      strategy: () => pick(random, [{ type: "Recreate" }, { rollingUpdate: { maxSurge: "50%" } }, {}]),
      template: () => ({
        ...someOf(random, 0.3, { metadata: () => ({ annotations: textMap(random) }) }),
        spec: someOf(random, 0.5, {
          containers: byName(container),
          nodeSelector: textMap,
          tolerations: () => someNames(random).map((key) => ({ key, operator: "Exists" })),
          volumes: byName(() => ({ emptyDir: {} })),
          hostNetwork: () => false,
          imagePullSecrets: byName(() => ({})),
        }),
      }),
    }),
  }),
  controlled: true,
};

const STRING = { type: "string" };
const INTEGER = { type: "integer" };
const STRINGS = { type: "object", additionalProperties: STRING };
const PAIR = { type: "object", properties: { a: STRING, b: STRING } };

/** A definition with every way in which server-side apply sees lists and maps. */
export const thingDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "drafts.patch.berth.dev" },
  spec: {
    group: "patch.berth.dev",
    names: { plural: "drafts", singular: "draft", kind: "Draft" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: INTEGER,
                  text: STRING,
                  nullable: { type: "string", nullable: true },
                  map: STRINGS,
                  atomicMap: { ...STRINGS, "x-kubernetes-map-type": "atomic" },
                  pair: PAIR,
                  atomicPair: { ...PAIR, "x-kubernetes-map-type": "atomic" },
                  pairs: { type: "object", additionalProperties: PAIR },
                  list: { type: "array", items: STRING },
                  set: { type: "array", items: STRING, "x-kubernetes-list-type": "set" },
                  byName: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: {
                        name: STRING,
                        value: STRING,
                        pair: PAIR,
                        set: { type: "array", items: STRING, "x-kubernetes-list-type": "set" },
                      },
                    },
                  },
                  byTwo: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    items: {
                      type: "object",
                      required: ["port"],
                      properties: { port: INTEGER, protocol: { type: "string", default: "TCP" }, note: STRING },
                    },
                  },
                  anything: { "x-kubernetes-preserve-unknown-fields": true },
                  free: {
                    type: "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                    properties: { known: STRING },
                  },
                  either: { "x-kubernetes-int-or-string": true },
                  defaulted: { type: "string", default: "default" },
                  nested: {
                    type: "object",
                    properties: { a: STRING, defaulted: { type: "string", default: "inner" } },
                  },
                },
              },
              status: {
                type: "object",
                properties: {
                  phase: STRING,
                  conditions: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    items: { type: "object", required: ["type"], properties: { type: STRING, status: STRING } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const pair = (random: Random) => someOf(random, 0.5, { a: text, b: text });
const anything = (random: Random): unknown =>
  pick(random, ["text", 5, true, ["a", { b: 1 }], {}, { a: "x" }, { a: { b: { c: text(random) } } }, { list: [1, 2] }]);

export const things: Writable = {
  apiVersion: "patch.berth.dev/v1",
  kind: "Draft",
  path: ofGroup("patch.berth.dev/v1", "drafts"),
  least: {},
  some: (random) => ({
    metadata: { ...metadata(random), ...someOf(random, 0.2, { annotations: labels }) },
    ...someOf(random, 0.9, {
      spec: () =>
        someOf(random, 0.25, {
          size: () => integer(random, 0, 3),
          text,
          nullable: () => pick(random, [null, "x"]),
          map: textMap,
          atomicMap: textMap,
          pair,
          atomicPair: pair,
          pairs: () => someOf(random, 0.5, { a: pair, b: pair }),
          list: (each) => someNames(each),
          set: (each) => someNames(each),
          byName: byName((each) => someOf(each, 0.4, { value: text, pair, set: () => someNames(each) })),
          byTwo: () =>
            [1, 2]
              .filter(() => chance(random, 0.6))
              .flatMap((port) => [
                { port, ...someOf(random, 0.3, { protocol: () => "TCP", note: text }) },
                ...(chance(random, 0.3) ? [{ port, protocol: "UDP" }] : []),
              ]),
          anything,
          free: () => ({ ...someOf(random, 0.5, { known: text }), ...someOf(random, 0.5, { other: anything }) }),
          either: () => pick(random, [1, "50%"]),
          defaulted: text,
          nested: () => someOf(random, 0.5, { a: text, defaulted: text }),
        }),
    }),
  }),
  status: (random) =>
    someOf(random, 0.7, {
      phase: text,
      conditions: () => someNames(random).map((type) => ({ type, ...someOf(random, 0.7, { status: text }) })),
    }),
  custom: true,
};

/** The next request, given how the object is now. */
export function nextWrite(random: Random, kind: Writable, name: string, present: JsonObject | undefined): Write {
  const who = `fieldManager=${pick(random, ["ann", "bob", "cid"])}`;
  const fields = kind.some(random);
  const whole = (some: JsonObject) => () => ({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...some,
    metadata: { ...(some.metadata as JsonObject), name },
  });
  const patch = (type: keyof typeof types, body: Write["body"], more = "", under = ""): Write => ({
    method: "PATCH",
    where: `${under}?${who}${more}`,
    type: types[type],
    body,
  });
  const force = chance(random, 0.6) ? "&force=true" : "";
  if (!present) {
    const body = whole(merged(kind.least, fields));
    return chance(random, 0.5) ? patch("apply", body) : { method: "POST", where: `?${who}`, type: JSON_TYPE, body };
  }
  const dice = random.next();
  if (kind.status && dice < 0.15) {
    const body = { status: kind.status(random) };
    return chance(random, 0.5)
      ? patch("merge", () => body, "", "/status")
      : patch("apply", whole(body), force, "/status");
  }
  if (dice < 0.6) return patch("apply", whole(fields), force);
  const changes = withNulls(random, fields);
  if (dice < 0.72) return patch("merge", () => changes);
  if (dice < 0.82 && !kind.custom) return patch("strategic", () => changes);
  if (dice < 0.9) {
    const withOwners = chance(random, 0.5);
    const body: Write["body"] = (now = {}) => {
      const { managedFields, resourceVersion, ...others } = now.metadata as JsonObject;
      const kept = { ...others, ...(kind.custom && { resourceVersion }), ...(withOwners && { managedFields }) };
      return merged({ ...now, metadata: kept }, fields);
    };
    return { method: "PUT", where: `?${who}`, type: JSON_TYPE, body };
  }
  if (!kind.controlled && chance(random, 0.15)) return patch("json", otherOwners(random));
  const operations = [operation(random, present)];
  return patch("json", () => operations);
}

const JSON_TYPE = "application/json";

/** One operation on `managedFields`. */
function otherOwners(random: Random): Write["body"] {
  const path = "/metadata/managedFields";
  const value = pick(random, [[], [{}]]);
  const manager = pick(random, ["ann", "bob"]);
  return pick(random, [
    () => [{ op: "replace", path, value }],
    () => [{ op: "remove", path }],
    (present: JsonObject = {}) => {
      const { managedFields = [] } = present.metadata as { managedFields?: readonly { manager: string }[] };
      const index = managedFields.findIndex((each) => each.manager === manager);
      return [{ op: "remove", path: `${path}/${index < 0 ? managedFields.length : index}` }];
    },
  ]);
}

/** One operation on something that is there. */
function operation(random: Random, present: JsonObject): JsonObject {
  const paths = [...pathsIn({ spec: present.spec, data: present.data }, "")].filter(
    (path) => path.split("/").length > 2,
  );
  if (paths.length === 0) return { op: "test", path: "/kind", value: present.kind };
  return { op: pick(random, ["remove", "test"]), path: pick(random, paths), value: "x" };
}

function* pathsIn(value: unknown, path: string): Generator<string> {
  if (path !== "") yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) yield* pathsIn(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

/** Some fields of objects are to be taken away instead. */
function withNulls(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.map(([key, each]) => [key, chance(random, 0.1) && key !== "metadata" ? null : withNulls(random, each)]),
  );
}

function merged(base: JsonObject, more: JsonObject): JsonObject {
  const result = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = result[key];
    const both = isMap(before) && isMap(value);
    result[key] = both ? merged(before, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
