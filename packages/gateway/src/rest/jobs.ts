/** REST: jobs. */
import { type Client, type DeleteOptions, isConflict, microTime, type WriteOptions } from "@berth/kube";
import { BatchJob, jobView, runView } from "@berth/model";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import type { Asked, Route } from "../http/route.ts";
import { annotation } from "../names.ts";
import { releaseJob } from "../turn/carry-out.ts";
import { jobViewOf, runViewOf, wantsToRun } from "../views/job.ts";
import type { World } from "../world.ts";
import { etagOf, mustExist, nameParams, one, paged, pageOf, pageQuery, versionIn } from "./common.ts";
import { explain, explanation } from "./explain.ts";
import { MANIFEST_TYPES, manifest, objectOf } from "./manifests.ts";

const dryRunQuery = z.strictObject({
  dryRun: z.boolean().optional().describe("true: only say what would be. Default: false."),
});
const resource = "batchjobs";
const EXAMPLE = {
  kind: "BatchJob",
  metadata: { name: "pi" },
  spec: { jobSpec: { template: { spec: { containers: [{ name: "main", image: "perl:5.40" }] } } } },
};

/** Everything about jobs. */
export function jobRoutes(world: World, client: Client): Route[] {
  const tag = "jobs";
  const view = (job: BatchJob) => jobViewOf(job, world.epoch, world.isHeld(job));
  const find = (name = "") => mustExist(world.jobs.get(world.key(name)), "job", name);
  const shown = (job: BatchJob, headers = {}) => {
    const body = view(job);
    return { headers: { ...headers, etag: etagOf(body) }, body };
  };
  return [
    {
      ...{ method: "GET", path: "/v1/jobs", tag, summary: "All jobs", query: pageQuery },
      answer: { status: 200, description: "Jobs, by name.", schema: pageOf(jobView) },
      rights: [{ verb: "list", resource }],
      handle: async ({ query }) => {
        const { items, ...rest } = paged(world.jobs.list(), query);
        return { body: { items: items.map(view), ...rest } };
      },
    },
    {
      ...{ method: "POST", path: "/v1/jobs", tag, summary: "Submit a job", query: dryRunQuery },
      description: "From the same manifest that `kubectl apply -f` takes, as JSON or YAML. It is in the queue then.",
      ...{ body: manifest, bodyTypes: MANIFEST_TYPES, bodyExample: EXAMPLE },
      answer: { status: 201, description: "It is in the queue.", schema: jobView, tagged: true },
      errors: [409, 415, 422],
      rights: [{ verb: "create", resource }],
      handle: async (asked) => {
        const job = objectOf(asked.body, "BatchJob", world.namespace) as BatchJob;
        const annotations = { ...job.metadata.annotations, [annotation.submitted]: microTime(world.clock.now()) };
        const made = await client.create(
          BatchJob,
          { ...job, metadata: { ...job.metadata, annotations } },
          writing(asked),
        );
        return shown(made, { location: `/v1/jobs/${made.metadata.name}` });
      },
    },
    {
      ...{ method: "GET", path: "/v1/jobs/{name}", tag, summary: "One job", params: nameParams },
      answer: { status: 200, description: "The job.", schema: jobView, tagged: true },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async (asked) => one(view(find(asked.params.name)), asked),
    },
    {
      ...{ method: "GET", path: "/v1/jobs/{name}/manifest", tag, summary: "One job, as Kubernetes has it" },
      params: nameParams,
      answer: { status: 200, description: "The BatchJob.", schema: manifest },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async ({ params }) => ({ body: find(params.name) }),
    },
    {
      ...{ method: "DELETE", path: "/v1/jobs/{name}", tag, summary: "Delete a job", params: nameParams },
      description: "With its application, and its executors with that.",
      ...{ query: dryRunQuery, conditional: true },
      answer: { status: 204, description: "It is gone, or about to be." },
      errors: [404, 412],
      rights: [{ verb: "delete", resource, named: true }],
      handle: async (asked) => {
        await client.delete(BatchJob, world.key(asked.params.name ?? ""), deletion(asked)).catch(overtaken);
        return {};
      },
    },
    {
      ...{ method: "POST", path: "/v1/jobs/{name}/retry", tag, summary: "Run a job again", params: nameParams },
      description: "Puts a job that has ended back into the queue. One that is there already stays there.",
      ...{ query: dryRunQuery, conditional: true },
      answer: { status: 200, description: "It is in the queue.", schema: jobView, tagged: true },
      errors: [404, 409, 412],
      rights: [{ verb: "patch", resource, named: true }],
      handle: async (asked) => {
        const { params } = asked;
        const job = find(params.name);
        const resourceVersion = mustMatch(job, asked);
        if (job.metadata.deletionTimestamp !== undefined) throw goes(job);
        if (world.isHeld(job)) throw held(job, world.holderOf(job));
        if (wantsToRun(job)) return shown(job);
        const annotations = {
          [annotation.submitted]: microTime(world.clock.now()),
          [annotation.rerunAfter]: String(job.status?.run ?? 0),
        };
        const merge = { metadata: { annotations, ...(resourceVersion !== undefined && { resourceVersion }) } };
        const key = world.key(params.name ?? "");
        return shown(await client.patch(BatchJob, key, { merge }, writing(asked)).catch(overtaken));
      },
    },
    {
      ...{ method: "POST", path: "/v1/jobs/{name}/release", tag, summary: "Take a job down", params: nameParams },
      description: "Takes it out of the Scheduling that has it. Its executors go, and it is in the queue again.",
      conditional: true,
      answer: { status: 202, description: "It is about to be in the queue.", schema: jobView },
      errors: [404, 412],
      rights: [{ verb: "update", resource: "schedulings" }],
      handle: async (asked) => {
        const { name = "" } = asked.params;
        const job = find(name);
        mustMatch(job, asked);
        await releaseJob(name, world, client);
        return { body: view(world.jobs.get(world.key(name)) ?? job) };
      },
    },
    {
      ...{ method: "PATCH", path: "/v1/jobs/{name}/data", tag, summary: "Keep data with a job", params: nameParams },
      description: "A JSON merge patch (RFC 7386) of what schedulers keep with the job: null removes a field.",
      body: z.record(z.string(), z.unknown()),
      ...{
        bodyTypes: ["application/merge-patch+json", "application/json"],
        bodyExample: { estimate: 61.2, old: null },
      },
      conditional: true,
      answer: { status: 200, description: "The job with its new data.", schema: jobView, tagged: true },
      errors: [404, 412, 422],
      rights: [{ verb: "patch", resource, named: true }],
      handle: async (asked) => {
        const resourceVersion = versionIn(asked);
        const merge = {
          ...(resourceVersion !== undefined && { metadata: { resourceVersion } }),
          spec: { externalScheduler: asked.body },
        };
        const changed = await client.patch(BatchJob, world.key(asked.params.name ?? ""), { merge }).catch(overtaken);
        return shown(changed);
      },
    },
    {
      ...{ method: "GET", path: "/v1/jobs/{name}/runs", tag, summary: "How a job's runs went", params: nameParams },
      answer: {
        status: 200,
        description: "Its last 20 runs, the latest first.",
        schema: z.object({ items: z.array(runView) }),
      },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async ({ params }) => ({
        body: { items: (find(params.name).status?.runs ?? []).map((run) => runViewOf(run, world.epoch)) },
      }),
    },
    {
      ...{ method: "GET", path: "/v1/jobs/{name}/explain", tag, summary: "Why a job waits", params: nameParams },
      answer: { status: 200, description: "How it stands, and why.", schema: explanation },
      errors: [404],
      rights: [{ verb: "get", resource, named: true }],
      handle: async ({ params, may }) => {
        const job = find(params.name);
        const [jobs, schedulings, testbeds] = await Promise.all([
          may({ verb: "list", resource }),
          may({ verb: "list", resource: "schedulings" }),
          may({ verb: "list", resource: "testbeds" }),
        ]);
        return { body: explain(job, world, { jobs, schedulings, testbeds }) };
      },
    },
  ];
}

/** The options of a write: whether it is only to be tried. As with kubectl, fields that there are not are errors. */
export function writing({ query }: Pick<Asked, "query">): WriteOptions {
  return { fieldValidation: "Strict", ...(query.dryRun === true && { dryRun: true }) };
}

/** Somebody was quicker: in the words of whoever sent If-Match. */
export function overtaken(error: unknown): never {
  if (isConflict(error)) {
    throw new GatewayError("BERTH_CHANGED_MEANWHILE", "it is not what it was any more", { cause: error });
  }
  throw error;
}

/** The options of a deletion. */
export function deletion(asked: Asked): DeleteOptions {
  const resourceVersion = versionIn(asked);
  return {
    dryRun: asked.query.dryRun === true,
    ...(resourceVersion !== undefined && { preconditions: { resourceVersion } }),
  };
}

/** What If-Match says, which has to be so still. */
function mustMatch({ metadata }: BatchJob, asked: Asked): string | undefined {
  const version = versionIn(asked);
  if (version === undefined || version === metadata.resourceVersion) return version;
  throw new GatewayError("BERTH_CHANGED_MEANWHILE", `${metadata.name} is not what it was any more`);
}

function held({ metadata }: BatchJob, holder = "a Scheduling"): GatewayError {
  return new GatewayError("BERTH_JOB_HELD", `Scheduling ${holder} has ${metadata.name}: it is not over yet`);
}

function goes({ metadata }: BatchJob): GatewayError {
  return new GatewayError("BERTH_JOB_NOT_WAITING", `${metadata.name} is being deleted`);
}
