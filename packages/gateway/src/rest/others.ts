/** REST: testbeds, slots, Schedulings, nodes, and the time. */
import { type Client, type coreV1, retryOnConflict } from "@berth/kube";
import { nodeView, Scheduling, schedulingView, slotView, type TimeView, testbedView, timeView } from "@berth/model";
import { z } from "zod";
import type { Asked, Route } from "../http/route.ts";
import { nodeViewOf, schedulingViewOf, slotViewOf, testbedViewOf } from "../views/others.ts";
import type { World } from "../world.ts";
import { etagOf, mustExist, nameParams, one, paged, pagedBy, pageOf, pageQuery, versionIn } from "./common.ts";
import { deletion, overtaken, writing } from "./jobs.ts";
import { invalid, MANIFEST_TYPES, manifest, objectOf } from "./manifests.ts";

const slotQuery = pageQuery.extend({
  after: z.int().min(0).max(2_147_483_647).optional().describe("Where to go on: `next` of the page before."),
});
const slotPage = pageOf(slotView).extend({
  next: z.int().optional().describe("To be sent as `after` for the next page; absent on the last one."),
});

/** Testbeds and their slots. */
export function testbedRoutes(world: World): Route[] {
  const tag = "testbeds";
  const resource = "testbeds";
  const find = (name = "") => mustExist(world.testbeds.get(world.key(name)), "testbed", name);
  const view = (testbed: ReturnType<typeof find>) =>
    testbedViewOf(testbed, world.slotCounts(testbed), world.schedulerOf(testbed.metadata.name ?? ""));
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
      answer: { status: 200, description: "The testbed.", schema: testbedView, tagged: true },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async (asked) => one(view(find(asked.params.name)), asked),
    },
    {
      ...{ method: "GET", path: "/v1/testbeds/{name}/slots", tag, summary: "The slots of a testbed" },
      ...{ params: nameParams, query: slotQuery },
      answer: { status: 200, description: "Slots, by number.", schema: slotPage },
      errors: [404],
      rights: [{ verb: "list", resource: "slots" }],
      handle: async ({ params, query }) => {
        find(params.name);
        const slots = world.slots.list().filter(({ spec }) => spec.testbed === params.name);
        const { items, ...rest } = pagedBy(({ spec }) => spec.position, slots, query);
        return { body: { items: items.map((slot) => slotViewOf(slot, world.slotLine(slot), world.epoch)), ...rest } };
      },
    },
  ];
}

const SCHEDULING_EXAMPLE = {
  kind: "Scheduling",
  metadata: { name: "by-hand" },
  spec: { testbed: { name: "main" }, slotBased: [{ name: "pi", slots: [0, 3] }] },
};

const texts = z.record(z.string(), z.string().nullable()).nullish();
const patch = z.strictObject({
  metadata: z.strictObject({ labels: texts, annotations: texts }).optional(),
  spec: z.looseObject({}).optional(),
});

/** Schedulings: to decide by hand, and to look at what was decided. */
export function schedulingRoutes(world: World, client: Client): Route[] {
  const tag = "schedulings";
  const resource = "schedulings";
  const query = z.strictObject({ dryRun: z.boolean().optional().describe("true: only say what would be.") });
  const find = (name = "") => mustExist(world.schedulings.get(world.key(name)), "Scheduling", name);
  const view = (scheduling: Scheduling) => schedulingViewOf(scheduling, world.epoch);
  const shown = (scheduling: Scheduling, headers = {}) => {
    const body = view(scheduling);
    return { headers: { ...headers, etag: etagOf(body) }, body };
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
      answer: { status: 201, description: "It is about to be carried out.", schema: schedulingView, tagged: true },
      errors: [409, 415, 422],
      rights: [{ verb: "create", resource }],
      handle: async (asked) => {
        const wanted = objectOf(asked.body, "Scheduling", world.namespace) as Scheduling;
        const made = await client.create(Scheduling, wanted, writing(asked));
        return shown(made, { location: `/v1/schedulings/${made.metadata.name}` });
      },
    },
    {
      ...{ method: "GET", path: "/v1/schedulings/{name}", tag, summary: "One Scheduling", params: nameParams },
      answer: { status: 200, description: "The Scheduling.", schema: schedulingView, tagged: true },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async (asked) => one(view(find(asked.params.name)), asked),
    },
    {
      ...{ method: "PUT", path: "/v1/schedulings/{name}", tag, summary: "Decide anew", params: nameParams, query },
      description: "Replaces what is wanted; what runs and is not wanted any more is released.",
      ...{ body: manifest, bodyTypes: MANIFEST_TYPES, bodyExample: SCHEDULING_EXAMPLE, conditional: true },
      answer: { status: 200, description: "The Scheduling as it is now.", schema: schedulingView, tagged: true },
      errors: [404, 412, 415, 422],
      rights: [{ verb: "update", resource, named: true }],
      handle: async (asked) => {
        const wanted = objectOf(asked.body, "Scheduling", world.namespace) as Scheduling;
        const { name = "" } = asked.params;
        if (wanted.metadata.name !== name) throw invalid("metadata.name", `must be ${name}, which the path names`);
        const expected = versionIn(asked);
        const { labels, annotations } = wanted.metadata;
        const replace = async () => {
          const { metadata, ...present } = await client.get(Scheduling, world.key(name));
          const resourceVersion = expected ?? metadata.resourceVersion;
          const next = {
            ...present,
            metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }), resourceVersion },
            spec: wanted.spec,
          };
          return client.update(Scheduling, next as Scheduling, writing(asked));
        };
        // Whoever does not say what it has to be does not care who else has written meanwhile.
        return shown(await (expected === undefined ? retryOnConflict(replace) : replace()).catch(overtaken));
      },
    },
    {
      ...{ method: "PATCH", path: "/v1/schedulings/{name}", tag, summary: "Change a decision", params: nameParams },
      description: "A JSON merge patch (RFC 7386) of the manifest.",
      query,
      body: patch,
      bodyTypes: ["application/merge-patch+json", "application/json"],
      ...{ bodyExample: { spec: { reason: "by hand" } }, conditional: true },
      answer: { status: 200, description: "The Scheduling as it is now.", schema: schedulingView, tagged: true },
      errors: [404, 412, 415, 422],
      rights: [{ verb: "patch", resource, named: true }],
      handle: async (asked) => {
        const { metadata, spec } = asked.body as z.output<typeof patch>;
        const resourceVersion = versionIn(asked);
        const merge = {
          metadata: { ...metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
          ...(spec && { spec }),
        };
        const key = world.key(asked.params.name ?? "");
        return shown(await client.patch(Scheduling, key, { merge }, writing(asked)).catch(overtaken));
      },
    },
    {
      ...{ method: "DELETE", path: "/v1/schedulings/{name}", tag, summary: "Take a decision back", params: nameParams },
      description: "Jobs that it has are released.",
      ...{ query, conditional: true },
      answer: { status: 204, description: "It is gone, or about to be." },
      errors: [404, 412],
      rights: [{ verb: "delete", resource, named: true }],
      handle: async (asked) => {
        await client.delete(Scheduling, world.key(asked.params.name ?? ""), deletion(asked)).catch(overtaken);
        return {};
      },
    },
  ];
}

/** Nodes, and which slots are on them. */
export function nodeRoutes(world: World): Route[] {
  const tag = "nodes";
  const right = { resource: "nodes", group: "", clusterWide: true } as const;
  /** On each node, for whoever may know. */
  const slotsFor = async ({ may }: Asked) => {
    const slots = (await may({ verb: "list", resource: "slots" })) ? world.slots.list() : [];
    const byNode = Map.groupBy(slots, ({ spec }) => spec.nodeName);
    return (node: coreV1.Node) => nodeViewOf(node, byNode.get(node.metadata.name ?? "") ?? []);
  };
  return [
    {
      ...{ method: "GET", path: "/v1/nodes", tag, summary: "All nodes", query: pageQuery },
      answer: { status: 200, description: "Nodes, by name.", schema: pageOf(nodeView) },
      rights: [{ verb: "list", ...right }],
      handle: async (asked) => {
        const { items, ...rest } = paged(world.nodes.list(), asked.query);
        return { body: { items: items.map(await slotsFor(asked)), ...rest } };
      },
    },
    {
      ...{ method: "GET", path: "/v1/nodes/{name}", tag, summary: "One node", params: nameParams },
      answer: { status: 200, description: "The node.", schema: nodeView, tagged: true },
      errors: [404],
      rights: [{ verb: "get", named: true, ...right }],
      handle: async (asked) => {
        const { name = "" } = asked.params;
        const node = mustExist(world.nodes.get({ name }), "node", name);
        return one((await slotsFor(asked))(node), asked);
      },
    },
  ];
}

/** What time it is where the jobs run: what happens there is told by that. */
export function timeRoutes({ clock, epoch }: World, kind: TimeView["clock"]): Route[] {
  return [
    {
      ...{ method: "GET", path: "/v1/time", tag: "time", summary: "What time it is in the cluster" },
      answer: { status: 200, description: "The time, and whose it is.", schema: timeView },
      rights: [],
      handle: async () => ({ body: { time: epoch.seconds(clock.now()), clock: kind } }),
    },
  ];
}
