import { apiextensionsV1, coreV1, isNotFound, type Kind, kindOf, SeededRandom, VirtualClock } from "@berth/kube";
import { expect, it } from "vitest";
import { ApiServer } from "../api/api-server.ts";
import { LocalApi } from "../api/local-api.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { CustomResources } from "./custom-resources.ts";
import type { Definition } from "./definition.ts";

const { CustomResourceDefinition } = apiextensionsV1;
const Thing = kindOf<Any>("example.org/v1", "Thing", "things", "Cluster");

interface Any {
  metadata: { name?: string; finalizers?: string[] };
  spec?: unknown;
}

function definition(change: (spec: Definition["spec"]) => void = () => {}): Definition {
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { a: { type: "string" } } } },
  };
  const spec: Definition["spec"] = {
    group: "example.org",
    scope: "Cluster",
    names: { kind: "Thing", plural: "things" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
  };
  change(spec);
  return { metadata: { name: `${spec.names.plural}.${spec.group}` }, spec };
}

function world() {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  for (const resource of builtinResources()) server.resources.add(resource);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const custom = new CustomResources({ server, clock, random: new SeededRandom("custom"), onFailure });
  custom.start();
  const api = new LocalApi(server, "tester");
  return { server, api, custom, failures };
}

/** What is done a moment later is done then. */
async function aMoment(): Promise<void> {
  for (let round = 0; round < 50; round++) await undefined;
}

const isServed = ({ server }: ReturnType<typeof world>, kind: Kind = Thing) =>
  server.resources.find(kind) !== undefined;

it("what is defined is served a moment later, and no more when it is gone", async () => {
  const cluster = world();
  cluster.api.create(CustomResourceDefinition, definition());
  expect(isServed(cluster)).toBe(false);
  await aMoment();
  expect(isServed(cluster)).toBe(true);
  cluster.api.create(Thing, { metadata: { name: "x" }, spec: { a: "b", c: "d" } });
  expect(cluster.api.get(Thing, { name: "x" })?.spec).toEqual({ a: "b" });
  cluster.api.delete(CustomResourceDefinition, { name: "things.example.org" });
  await aMoment();
  expect(isServed(cluster)).toBe(false);
  expect(cluster.api.get(CustomResourceDefinition, { name: "things.example.org" })).toBeUndefined();
  expect([...cluster.server.store.collection("example.org/things").values()]).toEqual([]);
  expect(cluster.failures).toEqual([]);
});

it("definitions that were there before are served, too", async () => {
  const cluster = world();
  cluster.custom.stop();
  cluster.api.create(CustomResourceDefinition, definition());
  const { server } = cluster;
  new CustomResources({ server, clock: server.clock, random: new SeededRandom("x"), onFailure: () => {} }).start();
  await aMoment();
  expect(isServed(cluster)).toBe(true);
});

it("a definition waits for the last of its objects", async () => {
  const cluster = world();
  cluster.api.create(CustomResourceDefinition, definition());
  await aMoment();
  cluster.api.create(Thing, { metadata: { name: "x", finalizers: ["example.org/hold"] } });
  cluster.api.delete(CustomResourceDefinition, { name: "things.example.org" });
  await aMoment();
  const { status } = cluster.api.get(CustomResourceDefinition, { name: "things.example.org" }) ?? {};
  expect(status?.conditions?.at(-1)).toMatchObject({ type: "Terminating", reason: "InstanceDeletionInProgress" });
  expect(() => cluster.api.create(Thing, { metadata: { name: "y" } })).toThrow("terminating");
  cluster.api.patch(Thing, { name: "x" }, { metadata: { finalizers: null } });
  await aMoment();
  expect(isServed(cluster)).toBe(false);
});

it("watchers of what is defined anew have to begin again, others have not", async () => {
  const cluster = world();
  cluster.api.create(CustomResourceDefinition, definition());
  await aMoment();
  const ended: string[] = [];
  for (const kind of [Thing, coreV1.Node] as Kind[]) {
    cluster.server.watch({ kind }, { send: () => {}, end: () => ended.push(kind.kind) });
  }
  cluster.api.patch(CustomResourceDefinition, { name: "things.example.org" }, { metadata: { labels: { a: "b" } } });
  await aMoment();
  expect(ended).toEqual([]);
  cluster.api.patch(
    CustomResourceDefinition,
    { name: "things.example.org" },
    { spec: { names: { shortNames: ["t"] } } },
  );
  await aMoment();
  expect(ended).toEqual(["Thing"]);
});

it("versions come and go, and nobody can take the place of what the server has", async () => {
  const cluster = world();
  cluster.api.create(CustomResourceDefinition, definition());
  await aMoment();
  const v2 = kindOf<Any>("example.org/v2", "Thing", "things", "Cluster");
  const { versions } = definition().spec;
  const both = [...versions, { ...versions[0], name: "v2", storage: false }];
  cluster.api.patch(CustomResourceDefinition, { name: "things.example.org" }, { spec: { versions: both } });
  await aMoment();
  expect([isServed(cluster), isServed(cluster, v2)]).toEqual([true, true]);
  cluster.api.patch(CustomResourceDefinition, { name: "things.example.org" }, { spec: { versions } });
  await aMoment();
  expect([isServed(cluster), isServed(cluster, v2)]).toEqual([true, false]);
  const ingress = definition((spec) => {
    spec.group = "networking.k8s.io";
    spec.names = { kind: "Ingress", plural: "ingresses" };
  });
  const annotations = { "api-approved.kubernetes.io": "unapproved, a test" };
  cluster.api.create(CustomResourceDefinition, { ...ingress, metadata: { ...ingress.metadata, annotations } });
  await aMoment();
  const served = cluster.server.resources.find({ group: "networking.k8s.io", version: "v1", plural: "ingresses" });
  expect(served?.custom).toBeUndefined();
});

it("what was never accepted goes at once", async () => {
  const cluster = world();
  cluster.api.create(CustomResourceDefinition, definition());
  await aMoment();
  const other = definition((spec) => {
    spec.names = { kind: "Other", plural: "others", singular: "thing" };
  });
  cluster.api.create(CustomResourceDefinition, other);
  await aMoment();
  cluster.api.delete(CustomResourceDefinition, { name: "others.example.org" });
  await aMoment();
  expect(cluster.api.get(CustomResourceDefinition, { name: "others.example.org" })).toBeUndefined();
  expect(() =>
    cluster.api.create(kindOf<Any>("example.org/v1", "Other", "others", "Cluster"), { metadata: {} }),
  ).toThrow(expect.toSatisfy(isNotFound));
});
