/**
 * Runs jobs: makes the application of each run, follows it to its end, and puts its executors into their slots. What comes next
 * in the life of a job is worked out in lifecycle.ts, who goes where in placement/assign.ts; this file looks, writes and acts.
 */
import {
  type Cache,
  type Client,
  type ControllerOptions,
  coreV1,
  isNotFound,
  type KubernetesObject,
  keyOf,
  keyText,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
  withCondition,
  withController,
} from "@berth/kube";
import { applicationKindOf, BatchJob, Slot, Testbed } from "@berth/model";
import type { ApplicationAdapter, RunOrder } from "../apps/application.ts";
import type { Claim, Ledger } from "../ledger/ledger.ts";
import { annotation, label } from "../names.ts";
import { assign, isOver, slotOf } from "../placement/assign.ts";
import { isGated, type Placing, place } from "../placement/gate.ts";
import { ghostName } from "../testbed/ghosts.ts";
import { texts } from "../testbed/slots.ts";
import { keysIn } from "../testbed/world.ts";
import { unlessGone, unlessThere } from "../writes.ts";
import { type ApplicationView, isFinal, type JobStep, type JobWorld, nextStep } from "./lifecycle.ts";

const BY_JOB = "berth.dev/job";

export interface JobControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly placing: Placing;
  /** For the kinds of applications that this cluster can run. */
  readonly adapters: readonly ApplicationAdapter[];
  readonly placement: RunOrder["placement"];
}

/** Has to be called before the caches start. */
export function indexForJobs({ cache, adapters }: Pick<JobControllerOptions, "cache" | "adapters">): void {
  const jobOf = ({ metadata }: KubernetesObject) => keysIn(metadata.annotations?.[annotation.job]).map(keyText);
  cache.informer(coreV1.Pod).addIndex(BY_JOB, jobOf);
  for (const { resource } of adapters) cache.informer(resource).addIndex(BY_JOB, jobOf);
}

export function jobController(options: JobControllerOptions): ControllerOptions<BatchJob> {
  const { cache, adapters } = options;
  const ofAnnotation = ({ metadata }: KubernetesObject) => keysIn(metadata.annotations?.[annotation.job]);
  return {
    for: BatchJob,
    watches: [
      watch(coreV1.Pod, ofAnnotation),
      ...adapters.map(({ resource }) => watch(resource, ofAnnotation)),
      // The last executor of another job has left a slot, or a slot has come that was waited for.
      watch(Slot, ({ metadata, spec }) =>
        options.ledger
          .claimsOn(keyText({ namespace: metadata.namespace, name: spec.testbed }))
          .flatMap(({ job, slots }) => (slots.includes(spec.position) ? keysIn(job) : [])),
      ),
    ],
    reconcile: (request, context) => reconcile(request, context, { ...options, cache }),
  };
}

type Context = Pick<ReconcileContext, "client" | "clock">;

async function reconcile(
  request: Request,
  { client, clock }: Context,
  options: JobControllerOptions,
): Promise<Result | undefined> {
  const job = await client.find(BatchJob, request);
  if (!job || job.metadata.deletionTimestamp !== undefined) return undefined; // its application goes with it
  const world = worldOf(job, clock.now(), options);
  let step = nextStep(job, world);
  const order = step.action.type === "create" ? orderOf(job, step, world.claim, options) : undefined;
  const rendered = order && adapterOf(job, options)?.render(order);
  const problem = rendered && "problem" in rendered ? rendered.problem.message : missing(job, step, order, options);
  if (problem !== undefined) step = refused(job, step, world, problem);
  const written = await tell(job, step, client, clock);
  if (!written) return { requeue: true };
  if (step.action.type === "remove") await remove(job, step.action.name, client, options);
  if (order && rendered && "object" in rendered && step.action.type === "create") {
    await create(job, rendered.object, step.action, world.claim as Claim, client, options);
  }
  if (world.claim && !isFinal(step.status.phase)) await putInPlace(job, world.claim, client, options);
  return step.action.type === "wait" ? { requeueAfter: Math.max(0, step.action.until - clock.now()) } : undefined;
}

function adapterOf(job: BatchJob, { adapters }: JobControllerOptions): ApplicationAdapter | undefined {
  return adapters.find(({ kind }) => kind === applicationKindOf(job));
}

function worldOf(job: BatchJob, now: number, { cache, ledger, adapters }: JobControllerOptions): JobWorld {
  const key = keyText(keyOf(job));
  const claim = ledger.claimOf(key);
  const applications = adapters.flatMap((adapter) =>
    cache
      .informer(adapter.resource)
      .byIndex(BY_JOB, key)
      .map((object) => viewOf(object, adapter)),
  );
  const executors = executorsOf(job, cache);
  const placed = executors.filter((pod) => slotOf(pod) !== undefined);
  return {
    claim,
    applications,
    executors: { placed: placed.length, running: placed.filter(({ status }) => status?.phase === "Running").length },
    neighbours: claim ? neighboursOf(key, claim, cache, ledger) : [],
    now,
  };
}

function viewOf(object: KubernetesObject, adapter: ApplicationAdapter): ApplicationView {
  const { name = "", uid = "", annotations = {}, deletionTimestamp } = object.metadata;
  return {
    name,
    uid,
    kind: adapter.resource.kind,
    claim: annotations[annotation.claim] ?? "",
    run: Number(annotations[annotation.run] ?? 0),
    attempt: Number(annotations[annotation.attempt] ?? 0),
    isGoing: deletionTimestamp !== undefined,
    observation: adapter.observe(object),
  };
}

/** The executors of the present run that have not ended. */
function executorsOf(job: BatchJob, cache: Cache): coreV1.Pod[] {
  const run = String(job.status?.run ?? "");
  return cache
    .informer(coreV1.Pod)
    .byIndex(BY_JOB, keyText(keyOf(job)))
    .filter(
      (pod) =>
        pod.metadata.labels?.[label.role] === "executor" && pod.metadata.labels[label.run] === run && !isOver(pod),
    );
}

/** Jobs that have slots on the same nodes. */
function neighboursOf(key: string, { testbed, slots }: Claim, cache: Cache, ledger: Ledger): string[] {
  const nodeOf = (slot: number) => slotObject(testbed, slot, cache)?.spec.nodeName;
  const nodes = new Set(slots.map(nodeOf));
  const others = ledger
    .claimsOn(testbed)
    .filter((claim) => claim.job !== key && claim.slots.some((slot) => nodes.has(nodeOf(slot))));
  return others.map(({ job }) => job).sort();
}

function slotObject(testbed: string, slot: number, cache: Cache): Slot | undefined {
  const [key] = keysIn(testbed);
  return key && cache.informer(Slot).get({ namespace: key.namespace, name: `${key.name}-${slot}` });
}

/** What the next application is to be like; `undefined` if the testbed or a slot is not there. */
function orderOf(
  job: BatchJob,
  { action }: JobStep,
  claim: Claim | undefined,
  options: JobControllerOptions,
): RunOrder | undefined {
  const [key] = keysIn(claim?.testbed);
  const testbed = key && options.cache.informer(Testbed).get(key);
  if (!claim || !key || !testbed || action.type !== "create") return undefined;
  const [first] = claim.slots.map((slot) => slotObject(claim.testbed, slot, options.cache));
  if (!first) return undefined;
  return {
    job,
    name: `${job.metadata.name}-${action.run}`,
    run: action.run,
    testbed: { namespace: key.namespace ?? "", name: key.name },
    slots: claim.slots,
    resources: texts(first.spec.resources),
    tolerations: (testbed.spec.tolerations ?? []) as coreV1.Toleration[],
    placement: options.placement,
  };
}

/** Why there can be no application, though there is a claim. */
function missing(
  job: BatchJob,
  { action }: JobStep,
  order: RunOrder | undefined,
  options: JobControllerOptions,
): string | undefined {
  if (action.type !== "create") return undefined;
  if (!adapterOf(job, options))
    return `this cluster cannot run ${applicationKindOf(job)} applications: their operator is not installed`;
  return order ? undefined : "its testbed or its slots are gone";
}

/** What cannot even begin has failed; to try it again would not help. */
function refused(job: BatchJob, { status }: JobStep, world: JobWorld, message: string): JobStep {
  const { retry: _, ...spec } = job.spec;
  const failed: ApplicationView = {
    ...{ name: "", uid: "", kind: "", run: status.run ?? 1, attempt: status.attempt ?? 0, isGoing: false },
    claim: world.claim?.since ?? "",
    observation: { phase: "failed", message },
  };
  const step = nextStep({ ...job, spec, status }, { ...world, applications: [failed] });
  const { application: _none, ...rest } = step.status;
  return { ...step, status: rest };
}

/** Writes down how it stands; `false` if the job has changed meanwhile. */
async function tell(
  job: BatchJob,
  { status, message }: JobStep,
  client: Client,
  clock: Context["clock"],
): Promise<boolean> {
  const { generation = 1 } = job.metadata;
  const isOverNow = isFinal(status.phase);
  const condition = {
    type: "Progressing",
    status: isOverNow ? ("False" as const) : ("True" as const),
    reason: status.phase ?? "Ready",
    message,
    observedGeneration: generation,
  };
  const conditions = [...withCondition(status.conditions ?? [], condition, clock)];
  const next = { ...status, observedGeneration: generation, conditions };
  if (JSON.stringify(next) === JSON.stringify(job.status)) return true;
  try {
    await client.status.update(BatchJob, { ...job, status: next });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function create(
  job: BatchJob,
  object: KubernetesObject,
  { run, attempt }: { readonly run: number; readonly attempt: number },
  claim: Claim,
  client: Client,
  options: JobControllerOptions,
): Promise<void> {
  const adapter = adapterOf(job, options) as ApplicationAdapter;
  const annotations = {
    ...object.metadata.annotations,
    [annotation.job]: keyText(keyOf(job)),
    [annotation.claim]: claim.since,
    [annotation.run]: String(run),
    [annotation.attempt]: String(attempt),
  };
  const owned = withController({ ...object, metadata: { ...object.metadata, annotations } }, job);
  // One that is there was made before somebody died; there will be word of it.
  await client.create(adapter.resource, owned).catch(unlessThere);
}

async function remove(
  job: BatchJob,
  name: string,
  client: Client,
  { adapters, cache }: JobControllerOptions,
): Promise<void> {
  const key = { namespace: job.metadata.namespace, name };
  for (const { resource } of adapters) {
    if (!cache.informer(resource).get(key)) continue;
    await client.delete(resource, key, { propagationPolicy: "Background" }).catch(unlessGone);
  }
}

/** Lets executors into their slots that wait at the gate. */
async function putInPlace(
  job: BatchJob,
  claim: Claim,
  client: Client,
  { cache, placing, placement }: JobControllerOptions,
): Promise<void> {
  if (placement.type !== "gate") return;
  const [testbed] = keysIn(claim.testbed);
  const { fresh } = assign(claim.slots, executorsOf(job, cache));
  await Promise.all(
    fresh.map(async (assignment) => {
      const node = slotObject(claim.testbed, assignment.slot, cache)?.spec.nodeName;
      if (!testbed || node === undefined || !isGated(assignment.pod)) return;
      const ghost = cache
        .informer(coreV1.Pod)
        .get({ namespace: testbed.namespace, name: ghostName(testbed.name, assignment.slot) });
      await place({ client, testbed: claim.testbed, placing, assignment, node, ghost });
    }),
  );
}
