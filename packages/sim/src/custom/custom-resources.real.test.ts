/** What becomes of random objects of a custom resource, held to what becomes of them in a real API server. */
import { type Cluster, startCluster } from "@berth/cluster";
import {
  ApiError,
  apiextensionsV1,
  Client,
  HttpTransport,
  type Kind,
  loadConnection,
  pick,
  SeededRandom,
  sleep,
  type Transport,
  VirtualClock,
  WallClock,
} from "@berth/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ApiServer } from "../api/api-server.ts";
import { SimTransport } from "../api/sim-transport.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { randomObject } from "../schema/testing/random-object.ts";
import { CustomResources } from "./custom-resources.ts";
import type { Definition, JsonSchema } from "./definition.ts";
import { schemaNode } from "./schema-node.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 400);
const SEED = process.env.FUZZ_SEED ?? "custom";

const a: JsonSchema = { type: "integer" };

/** Something of everything. */
const spec: JsonSchema = {
  type: "object",
  required: ["a"],
  properties: {
    a: { type: "integer", minimum: 0, maximum: 100 },
    text: { type: "string", minLength: 1, maxLength: 3, pattern: "^[a-z]*$" },
    choice: { type: "string", enum: ["a", "v1"] },
    number: { type: "number", minimum: 0.5, exclusiveMinimum: true },
    filled: { type: "boolean", default: true },
    list: { type: "array", minItems: 1, maxItems: 1, items: { type: "string", maxLength: 3 } },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    map: { type: "object", maxProperties: 1, additionalProperties: { type: "integer", minimum: 1 } },
    either: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: "^[0-9]" },
    maybe: { type: "string", nullable: true, default: "x" },
    maybeNumber: { type: "integer", nullable: true },
    inner: {
      type: "object",
      required: ["x"],
      properties: {
        x: { type: "integer", default: 3 },
        y: { type: "object", default: {}, properties: { z: { type: "string", default: "q" } } },
      },
    },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { k: a } },
    any: { "x-kubernetes-preserve-unknown-fields": true },
    time: { type: "string", format: "date-time" },
    small: { type: "integer", format: "int32" },
    float: { type: "number", format: "float" },
    address: { type: "string", format: "ipv4" },
    keyed: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: { k: { type: "string" }, v: { type: "integer", default: 1 } },
      },
    },
    one: {
      type: "object",
      properties: { a, b: a },
      oneOf: [{ required: ["a"] }, { required: ["b"], properties: { b: { minimum: 1 } } }],
    },
    some: {
      type: "object",
      properties: { a, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { properties: { b: { maxLength: 0 } }, required: ["b"] }],
    },
    all: { type: "integer", allOf: [{ minimum: 1 }, { maximum: 50 }] },
    not: { type: "string", not: { enum: ["a"] } },
    resource: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
};

const definition: Definition = {
  metadata: { name: "samples.random.example.org" },
  spec: {
    group: "random.example.org",
    scope: "Cluster",
    names: { kind: "Sample", plural: "samples" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      },
    ],
  },
};
const kind: Kind = {
  group: "random.example.org",
  version: "v1",
  apiVersion: "random.example.org/v1",
  kind: "Sample",
  plural: "samples",
  namespaced: false,
};

let cluster: Cluster;
let real: Transport;
let simulated: Transport;

beforeAll(async () => {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  for (const resource of builtinResources()) server.resources.add(resource);
  const fail = (error: unknown) => {
    throw error;
  };
  new CustomResources({ server, clock, random: new SeededRandom("custom"), onFailure: fail }).start();
  simulated = new SimTransport(server);
  cluster = await startCluster({ name: `test-${process.pid}-custom`, nodes: 0 });
  real = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  for (const transport of [simulated, real]) {
    await new Client(transport).create(apiextensionsV1.CustomResourceDefinition, definition);
    await served(transport);
  }
});
afterAll(async () => {
  await real?.close();
  await cluster?.stop();
});

async function served(transport: Transport): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (!("refused" in (await outcome(transport.request({ verb: "list", kind }))))) return;
    await sleep(new WallClock(), 100);
  }
  throw new Error("it is not served");
}

/** What there is then, without what chance decides; or what was wrong, in no particular order. */
async function outcome(answer: Promise<unknown>): Promise<object> {
  try {
    const { spec } = (await answer) as { spec?: unknown };
    return { spec };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const causes = error.causes.map(({ reason, field, message }) => `${reason} ${field}: ${message}`);
    return { refused: error.status, reason: error.reason, causes: causes.sort() };
  }
}

it("random objects become the same, or are refused for the same reasons in the same words", async () => {
  const random = new SeededRandom(SEED);
  const kinds = { refused: 0, taken: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const mistakes = pick(random, [
      { wrongType: 0.1, unknown: 0 },
      { wrongType: 0, unknown: 0.1 },
      { wrongType: 0, unknown: 0 },
    ]);
    const given = randomObject(schemaNode(spec), random, mistakes);
    const body = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "x" }, spec: given };
    const parameters = { dryRun: "All", fieldValidation: pick(random, ["Strict", "Ignore"]) };
    const create = (transport: Transport) => outcome(transport.request({ verb: "create", kind, body, parameters }));
    const [wanted, found] = [await create(real), await create(simulated)];
    expect({ given, ...found }).toEqual({ given, ...wanted });
    if ("refused" in wanted) kinds.refused++;
    else kinds.taken++;
  }
  expect(Math.min(kinds.refused, kinds.taken)).toBeGreaterThan(ROUNDS / 50);
});
