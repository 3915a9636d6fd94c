/** REST: testbeds, slots, Schedulings and nodes. */
import type { Client } from "@berth/kube";
import { nodeView, Scheduling, schedulingView, slotView, testbedView } from "@berth/model";
import { z } from "zod";
import type { Route } from "../http/route.ts";
import { nodeViewOf, schedulingViewOf, slotViewOf, testbedViewOf } from "../views/others.ts";
import type { World } from "../world.ts";
import { etagOf, mustExist, nameParams, one, paged, pageOf, pageQuery, versionIn } from "./common.ts";
import { dryRun, overtaken } from "./jobs.ts";
import { MANIFEST_TYPES, manifest, objectOf } from "./manifests.ts";

export function testbedRoutes(world: World): Route[] {
  const tag = "testbeds";
  const resource = "testbeds";
  const find = (name = "") => mustExist(world.testbeds.get(world.key(name)), "testbed", name);
  const view = (testbed: ReturnType<typeof find>) =>
    testbedViewOf(testbed, world.schedulerOf(testbed.metadata.name ?? ""));
  return [
    {
      ...{ method: "GET", path: "/v1/testbeds", tag, summary: "All testbeds", query: pageQuery },
      answer: { status: 200, description: "Testbeds, by name.", schema: pageOf(testbedView) },
      rights: [{ verb: "list", resource }],
      handle: async ({ query }) => {
        const { items, ...rest } = paged(world.testbeds.list(), query);
        return { body: { items: items.map(view), ...rest } };
      },
    },
    {
      ...{ method: "GET", path: "/v1/testbeds/{name}", tag, summary: "One testbed", params: nameParams },
      answer: { status: 200, description: "The testbed.", schema: testbedView },
      errors: [404],
      rights: [{ verb: "get", resource }],
      handle: async (asked) => one(view(find(asked.params.name)), asked),
    },
    {
      ...{ method: "GET", path: "/v1/testbeds/{name}/slots", tag, summary: "The slots of a testbed" },
      params: nameParams,
      answer: { status: 200, description: "Slots, by number.", schema: z.object({ items: z.array(slotView) }) },
      errors: [404],
      rights: [{ verb: "list", resource: "slots" }],
      handle: async ({ params }) => {
        find(params.name);
        const slots = world.slots.list().filter(({ spec }) => spec.testbed === params.name);
        const items = slots.map((slot) => slotViewOf(slot, world.epoch)).sort((a, b) => a.id - b.id);
        return { body: { items } };
      },
    },
  ];
}

const SCHEDULING_EXAMPLE = {
  kind: "Scheduling",
  metadata: { name: "by-hand" },
  spec: { testbed: { name: "main" }, slotBased: [{ name: "pi", slots: [0, 3] }] },
};

export function schedulingRoutes(world: World, client: Client): Route[] {
  const tag = "schedulings";
  const resource = "schedulings";
  const query = z.strictObject({ dryRun: z.boolean().optional().describe("true: only say what would be.") });
  const find = (name = "") => mustExist(world.schedulings.get(world.key(name)), "Scheduling", name);
  const view = (scheduling: Scheduling) => schedulingViewOf(scheduling, world.epoch);
  const shown = (scheduling: Scheduling, headers = {}) => {
    const body = view(scheduling);
    return { headers: { ...headers, etag: etagOf(body.version) }, body };
  };
  return [
    {
      ...{ method: "GET", path: "/v1/schedulings", tag, summary: "All Schedulings", query: pageQuery },
      answer: { status: 200, description: "Schedulings, by name.", schema: pageOf(schedulingView) },
      rights: [{ verb: "list", resource }],
      handle: async ({ query }) => {
        const { items, ...rest } = paged(world.schedulings.list(), query);
        return { body: { items: items.map(view), ...rest } };
      },
    },
    {
      ...{ method: "POST", path: "/v1/schedulings", tag, summary: "Decide by hand", query },
      description: "From the same manifest that `kubectl apply -f` takes, as JSON or YAML.",
      ...{ body: manifest, bodyTypes: MANIFEST_TYPES, bodyExample: SCHEDULING_EXAMPLE },
      answer: { status: 201, description: "It is about to be carried out.", schema: schedulingView },
      errors: [409, 415, 422],
      rights: [{ verb: "create", resource }],
      handle: async ({ body, query }) => {
        const wanted = objectOf(body, "Scheduling", world.namespace) as Scheduling;
        const made = await client.create(Scheduling, wanted, dryRun(query));
        return shown(made, { location: `/v1/schedulings/${made.metadata.name}` });
      },
    },
    {
      ...{ method: "GET", path: "/v1/schedulings/{name}", tag, summary: "One Scheduling", params: nameParams },
      answer: { status: 200, description: "The Scheduling.", schema: schedulingView },
      errors: [404],
      rights: [{ verb: "get", resource }],
      handle: async (asked) => one(view(find(asked.params.name)), asked),
    },
    {
      ...{ method: "PUT", path: "/v1/schedulings/{name}", tag, summary: "Decide anew", params: nameParams, query },
      description: "Replaces what is wanted; what runs and is not wanted any more is released.",
      ...{ body: manifest, bodyTypes: MANIFEST_TYPES, bodyExample: SCHEDULING_EXAMPLE, conditional: true },
      answer: { status: 200, description: "The Scheduling as it is now.", schema: schedulingView },
      errors: [404, 412, 415, 422],
      rights: [{ verb: "update", resource }],
      handle: async (asked) => {
        const wanted = objectOf(asked.body, "Scheduling", world.namespace) as Scheduling;
        const present = find(asked.params.name);
        const resourceVersion = versionIn(asked) ?? present.metadata.resourceVersion;
        const { labels, annotations } = wanted.metadata;
        const next = {
          ...present,
          metadata: {
            ...present.metadata,
            ...(labels && { labels }),
            ...(annotations && { annotations }),
            resourceVersion,
          },
          spec: wanted.spec,
        };
        return shown(await client.update(Scheduling, next as Scheduling, dryRun(asked.query)).catch(overtaken));
      },
    },
    {
      ...{ method: "PATCH", path: "/v1/schedulings/{name}", tag, summary: "Change a decision", params: nameParams },
      description: "A JSON merge patch (RFC 7386) of the manifest.",
      query,
      body: z.strictObject({ metadata: z.looseObject({}).optional(), spec: z.looseObject({}).optional() }),
      bodyTypes: ["application/merge-patch+json", "application/json"],
      ...{ bodyExample: { spec: { reason: "by hand" } }, conditional: true },
      answer: { status: 200, description: "The Scheduling as it is now.", schema: schedulingView },
      errors: [404, 412, 415, 422],
      rights: [{ verb: "patch", resource }],
      handle: async (asked) => {
        const { metadata = {}, spec } = asked.body as { metadata?: Record<string, unknown>; spec?: object };
        const resourceVersion = versionIn(asked);
        const { labels, annotations } = metadata;
        const merge = {
          metadata: {
            ...(labels !== undefined && { labels }),
            ...(annotations !== undefined && { annotations }),
            ...(resourceVersion !== undefined && { resourceVersion }),
          },
          ...(spec && { spec }),
        };
        const key = world.key(asked.params.name ?? "");
        return shown(await client.patch(Scheduling, key, { merge }, dryRun(asked.query)).catch(overtaken));
      },
    },
    {
      ...{ method: "DELETE", path: "/v1/schedulings/{name}", tag, summary: "Take a decision back", params: nameParams },
      description: "Jobs that it has are released.",
      query,
      answer: { status: 204, description: "It is gone, or about to be." },
      errors: [404],
      rights: [{ verb: "delete", resource }],
      handle: async ({ params, query }) => {
        await client.delete(Scheduling, world.key(params.name ?? ""), dryRun(query));
        return {};
      },
    },
  ];
}

export function nodeRoutes(world: World): Route[] {
  const tag = "nodes";
  const rights = [{ verb: "list", resource: "nodes", group: "" }];
  const slotsOn = (node = "") => world.slots.list().filter(({ spec }) => spec.nodeName === node);
  return [
    {
      ...{ method: "GET", path: "/v1/nodes", tag, summary: "All nodes", query: pageQuery },
      answer: { status: 200, description: "Nodes, by name.", schema: pageOf(nodeView) },
      rights,
      handle: async ({ query }) => {
        const { items, ...rest } = paged(world.nodes.list(), query);
        return { body: { items: items.map((node) => nodeViewOf(node, slotsOn(node.metadata.name))), ...rest } };
      },
    },
    {
      ...{ method: "GET", path: "/v1/nodes/{name}", tag, summary: "One node", params: nameParams },
      answer: { status: 200, description: "The node.", schema: nodeView },
      errors: [404],
      rights,
      handle: async (asked) => {
        const node = mustExist(world.nodes.get({ name: asked.params.name ?? "" }), "node", asked.params.name ?? "");
        return one(nodeViewOf(node, slotsOn(node.metadata.name)), asked);
      },
    },
  ];
}
