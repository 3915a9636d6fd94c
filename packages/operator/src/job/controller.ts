/**
 * Runs jobs: makes the application of each run, follows it to its end, and puts its executors into their slots. What comes next
 * in the life of a job is worked out in lifecycle.ts, who goes where in placement/assign.ts; this file looks, writes and acts.
 */
import {
  type Cache,
  type Client,
  type ControllerOptions,
  coreV1,
  type EventRecorder,
  findCondition,
  isNotFound,
  type KubernetesObject,
  keyOf,
  keyText,
  type ObjectKey,
  onUpdate,
  type Reader,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
  withCondition,
  withController,
} from "@berth/kube";
import { applicationKindOf, BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import type { ApplicationAdapter, Placement, RunOrder } from "../apps/application.ts";
import { may, SEE } from "../install/rights.ts";
import type { Claim, Ledger } from "../ledger/ledger.ts";
import { Lull } from "../lull.ts";
import { annotation } from "../names.ts";
import { Pace } from "../pace.ts";
import type { Seating } from "../placement/seating.ts";
import { keysIn, slotAt, slotsOn } from "../slot/world.ts";
import { texts } from "../testbed/slots.ts";
import { isSame, unlessGone, unlessThere } from "../writes.ts";
import { type ApplicationView, isFinal, type JobStep, type JobWorld, nextStep } from "./lifecycle.ts";
import { reasonsThatChanged } from "./reasons.ts";
import { applicationMoved, executorMoved } from "./waking.ts";
import { adapterOf, executorsOf, worldOf } from "./world.ts";

export interface JobControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly events: EventRecorder;
  readonly seating: Seating;
  /** For the kinds of applications that this cluster can run. */
  readonly adapters: readonly ApplicationAdapter[];
  readonly placement: Placement;
  /** Asks the API server itself. */
  readonly reader: Reader;
}

export const jobRights = [
  may(SEE, BatchJob),
  may(["update"], BatchJob, "status"),
  may(SEE, coreV1.Node),
  may(SEE, Scheduling),
  may(SEE, Testbed),
  may(SEE, Slot),
  may([...SEE, "patch", "delete"], coreV1.Pod),
];

export function jobController(options: JobControllerOptions): ControllerOptions<BatchJob> {
  const { adapters } = options;
  const lull = new Lull();
  const pace = new Pace({ eachMs: EXECUTORS_EACH_MS });
  const ofAnnotation = ({ metadata }: KubernetesObject) => keysIn(metadata.annotations?.[annotation.job]);
  return {
    for: BatchJob,
    watches: [
      watch(coreV1.Pod, ofAnnotation, { predicates: [onUpdate(executorMoved)] }),
      ...adapters.map((adapter) =>
        watch(adapter.resource, ofAnnotation, { predicates: [onUpdate(applicationMoved(adapter))] }),
      ),
      // A slot has come that was waited for.
      watch(Slot, (slot) => keysIn(holderOfSlot(slot, options.ledger))),
      watch(coreV1.Node, (node) => jobsOn(node, options), { predicates: [({ type }) => type === "delete"] }),
      watch(Scheduling, reasonsThatChanged()),
    ],
    reconcile: async (request, context) => {
      const delay = pace.delay(keyText(request), context.clock);
      if (delay > 0) return { requeueAfter: delay };
      return reconcile(request, context, options, lull, pace);
    },
  };
}

type Context = Pick<ReconcileContext, "client" | "clock">;

/** With so many executors it is too much to look at all of them whenever anything happens to one: then so many in a millisecond. */
const MANY = 32;
/** How long something has to last to be worth a line, if it is likely to be something else in a moment; executors take longer to start. */
const LULL_MS = 1000;
const START_MS = 3000;
const EXECUTORS_EACH_MS = 2;

async function reconcile(
  request: Request,
  { client, clock }: Context,
  options: JobControllerOptions,
  lull: Lull,
  pace: Pace,
): Promise<Result | undefined> {
  const job = await client.find(BatchJob, request);
  if (!job || job.metadata.deletionTimestamp !== undefined) return undefined; // its application goes with it
  const world = worldOf(job, clock.now(), options);
  const size = world.claim?.slots.length ?? 0;
  if (size > MANY) pace.done(keyText(request), size, clock);
  if (await isBehind(job, world, options)) return { requeueAfter: CATCH_UP_MS };
  let step = nextStep(job, world);
  const order = step.action.type === "create" ? orderOf(job, step, world.claim, options) : undefined;
  const rendered = order && adapterOf(job, options)?.render(order);
  const problem = rendered && "problem" in rendered ? rendered.problem.message : missing(job, step, order, options);
  if (problem !== undefined) step = refused(job, step, world, problem);
  const say = () => tell(job, step, client, clock, options.events);
  if (order && rendered && "object" in rendered && step.action.type === "create") {
    // There is more to say in a moment, when it is there; if it cannot be, then this.
    await create(job, rendered.object, step.action, world.claim as Claim, client, options).catch(async (error) => {
      await say();
      throw error;
    });
    return { requeue: true };
  }
  const lasts = lullFor(job, step.status, size);
  const left = lasts > 0 ? lull.left(keyText(request), clock.now(), lasts) : 0;
  if (left === 0) {
    lull.over(keyText(request));
    if (!(await say())) return { requeue: true };
  }
  if (step.action.type === "remove") await remove(job, step.action.name, client, options);
  const wakeAt = [
    left > 0 ? clock.now() + left : Number.POSITIVE_INFINITY,
    step.action.type === "wait" ? step.action.until : Number.POSITIVE_INFINITY,
    world.claim && !isFinal(step.status.phase)
      ? await options.seating.seat(
          job,
          world.claim,
          executorsOf(job, step.status.run, options.cache),
          client,
          clock.now(),
        )
      : Number.POSITIVE_INFINITY,
  ];
  const inMs = Math.min(...wakeAt) - clock.now();
  return Number.isFinite(inMs) ? { requeueAfter: Math.max(0, inMs) } : undefined;
}

/** How long a cache has to hear what the API server knows. */
const CATCH_UP_MS = 200;

/**
 * Whether there is an application that we have not heard of yet, as a new leader may not of what the old one did last. To take it
 * for deleted would be to fail the job.
 */
async function isBehind(job: BatchJob, { applications }: JobWorld, options: JobControllerOptions): Promise<boolean> {
  const { application, phase } = job.status ?? {};
  const adapter = adapterOf(job, options);
  if (!application || !adapter || isFinal(phase) || applications.some(({ uid }) => uid === application.uid))
    return false;
  const key = { namespace: job.metadata.namespace, name: application.name };
  return (await options.reader.find(adapter.resource, key))?.metadata.uid === application.uid;
}

function holderOfSlot({ metadata, spec }: Slot, ledger: Ledger): string | undefined {
  return ledger.holderOf(keyText({ namespace: metadata.namespace, name: spec.testbed }), spec.position);
}

/** Jobs that have slots on a node. */
function jobsOn({ metadata }: coreV1.Node, { cache, ledger }: JobControllerOptions): ObjectKey[] {
  return slotsOn(metadata.name ?? "", cache).flatMap((slot) => keysIn(holderOfSlot(slot, ledger)));
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
  const [first] = claim.slots.map((slot) => slotAt(claim.testbed, slot, options.cache));
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

/** How long it has to have been so to be worth a line, in milliseconds; 0 if it is worth one at once. */
function lullFor(job: BatchJob, after: NonNullable<BatchJob["status"]>, size: number): number {
  const { phase } = job.status ?? {};
  // Somebody may want it at once, unless it has been let go already.
  if (phase === undefined && after.phase === "Ready" && after.run === undefined) return LULL_MS;
  // The more executors there are, the longer it takes until they have come, and the larger is what is written.
  if (isMinor(job, after)) return LULL_MS + 5 * size;
  const isBeginning = phase !== after.phase && (after.phase === "Submitted" || after.phase === "Scheduled");
  // What the run before has come to is not to be taken for this one's.
  return isBeginning && !isFinal(phase) ? START_MS + 2 * size : 0;
}

/** Whether nothing but the number of executors is new: of many that come one after the other, not each is worth a line. */
function isMinor({ status: before = {} }: BatchJob, after: NonNullable<BatchJob["status"]>): boolean {
  const { executors, conditions: _, observedGeneration: __, ...rest } = before;
  const { executors: now, conditions: _after, observedGeneration: __after, ...others } = after;
  return executors !== undefined && !isSame(executors, now) && isSame(rest, others);
}

/** Writes down how it stands; `false` if the job has changed meanwhile. */
async function tell(
  job: BatchJob,
  { status, message }: JobStep,
  client: Client,
  clock: Context["clock"],
  events: EventRecorder,
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
  if (isSame(next, job.status)) return true;
  try {
    await client.status.update(BatchJob, { ...job, status: next });
    const reason = newsIn(job.status, next, message);
    if (reason !== undefined) {
      const type = status.phase === "Failed" || status.retryTime !== undefined ? "Warning" : "Normal";
      events.event(job, { reason, note: message, type });
    }
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Another phase, another reason to wait, or the last executor has come; that others have is not worth a line each. */
function newsIn(
  before: BatchJob["status"],
  after: NonNullable<BatchJob["status"]>,
  message: string,
): string | undefined {
  const { phase = "Ready" } = after;
  if (before?.phase !== phase) return before === undefined && phase === "Ready" ? undefined : phase;
  if (phase === "Running") return isComplete(after) && !isComplete(before) ? "Placed" : undefined;
  const isOther = findCondition(before?.conditions ?? [], "Progressing")?.message !== message;
  return phase === "InQueue" && isOther ? phase : undefined;
}

function isComplete({ executors }: NonNullable<BatchJob["status"]>): boolean {
  return executors !== undefined && executors.placed === executors.requested;
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
