/**
 * Carries Schedulings out: claims jobs and slots for them, in order, and lets go what has ended.
 *
 * All Schedulings of a testbed that are not over are looked at together, the oldest first, and nobody else hands out its slots: so two of them
 * never count on the same one. A claim is one write, on the job: all of its slots, or none.
 */
import {
  type Cache,
  type Client,
  type ControllerOptions,
  coreV1,
  type EventRecorder,
  isConflict,
  isNotFound,
  keyOf,
  keyText,
  kubernetesTime,
  microTime,
  type ObjectKey,
  onUpdate,
  type ReconcileContext,
  type Request,
  type Result,
  watch,
  withCondition,
} from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";
import { may, SEE } from "../install/rights.ts";
import { claimOf, type Ledger } from "../ledger/ledger.ts";
import { Lull } from "../lull.ts";
import { annotation } from "../names.ts";
import { compare } from "../order.ts";
import { Pace } from "../pace.ts";
import { nodeMatters } from "../slot/controller.ts";
import { keysIn, slotsOf, slotsOn, testbedKey } from "../slot/world.ts";
import { together } from "../together.ts";
import { isSame } from "../writes.ts";
import {
  type Grant,
  NOTHING_RESERVED,
  type Pool,
  plan,
  type Reserved,
  reservedBy,
  type Wait,
  type Wish,
  wishesOf,
} from "./plan.ts";
import { LazyPool } from "./pool.ts";
import {
  entriesOf,
  hasStarted,
  holderOf,
  isOnlyFurther,
  isOver,
  type Progress,
  phaseOf,
  progressOf,
} from "./progress.ts";
import { isGhostThere, jobMoved, slotMoved } from "./waking.ts";

/** Schedulings that are not over. */
const BY_TESTBED = "berth.dev/testbed";
const BY_JOB = "berth.dev/job";
/** Jobs by the Scheduling that has them. */
export const BY_HOLDER = "berth.dev/scheduling";

export interface SchedulingControllerOptions {
  readonly cache: Cache;
  readonly ledger: Ledger;
  readonly events: EventRecorder;
}

/** Has to be called before the caches start. */
export function indexForSchedulings(cache: Cache): void {
  cache
    .informer(Scheduling)
    .addIndex(BY_TESTBED, (scheduling) => (scheduling.status?.completionTime ? [] : [testbedOf(scheduling)]))
    .addIndex(BY_JOB, (scheduling) => wishesOf(scheduling).map(({ job }) => job));
  cache.informer(BatchJob).addIndex(BY_HOLDER, (job) => [holderOf(job) ?? ""]);
}

export const schedulingRights = [
  may(SEE, Scheduling),
  may(["update"], Scheduling, "status"),
  may([...SEE, "patch"], BatchJob),
  may(SEE, Testbed),
  may(SEE, Slot),
  may(SEE, coreV1.Node),
  may(SEE, coreV1.Pod),
];

export function schedulingController(options: SchedulingControllerOptions): ControllerOptions<Testbed> {
  const { cache } = options;
  const schedulings = cache.informer(Scheduling);
  const pace = new Pace();
  const lull = new Lull();
  const concerned = (job: BatchJob): ObjectKey[] => {
    const key = keyText(keyOf(job));
    const holder = keysIn(holderOf(job)).flatMap((each) => schedulings.get(each) ?? []);
    const testbeds = [...schedulings.byIndex(BY_JOB, key), ...holder].map(testbedOf);
    // Whoever waits for the slots that it has, or had until now, is concerned as well.
    return [claimOf(job)?.testbed, ...testbeds].flatMap(keysIn);
  };
  return {
    name: "scheduling",
    for: Testbed,
    watches: [
      watch(Scheduling, (scheduling) => keysIn(testbedOf(scheduling))),
      watch(BatchJob, concerned, { predicates: [onUpdate(jobMoved)] }),
      // What is over in a moment is not told by the slot: so those are asked who know of it first.
      watch(coreV1.Node, ({ metadata }) => slotsOn(metadata.name ?? "", cache).map(testbedKey), {
        predicates: [nodeMatters],
      }),
      watch(Slot, (slot) => [testbedKey(slot)], { predicates: [onUpdate(slotMoved)] }),
      watch(coreV1.Pod, ({ metadata }) => keysIn(metadata.annotations?.[annotation.testbed]), {
        predicates: [isGhostThere],
      }),
    ],
    reconcile: async (request, context) => {
      const delay = pace.delay(keyText(request), context.clock);
      if (delay > 0) return { requeueAfter: delay };
      const onSize = (size: number) => pace.done(keyText(request), size, context.clock);
      return reconcile(request, context, options, lull, onSize);
    },
  };
}

type Context = Pick<ReconcileContext, "client" | "clock">;

async function reconcile(
  key: Request,
  context: Context,
  options: SchedulingControllerOptions,
  lull: Lull,
  onSize: (size: number) => void,
): Promise<Result | undefined> {
  const { cache } = options;
  const { clock } = context;
  const testbed = keyText(key);
  const all = cache.informer(Scheduling).byIndex(BY_TESTBED, testbed).toSorted(byAge);
  const exists = cache.informer(Testbed).get(key) !== undefined;
  onSize(slotsOf(key, cache).length + all.reduce((sum, each) => sum + (each.status?.jobs?.length ?? 0), 0));
  const pool = new LazyPool(key, cache, options.ledger);
  let reserved: Reserved = NOTHING_RESERVED;
  let next = Number.POSITIVE_INFINITY;
  const exclusive = all.filter(({ spec }) => spec.exclusive);
  for (const scheduling of all) {
    const owner = ownerOf(exclusive, options);
    const scene = { exists, pool, reserved, owner, testbed, context, options, lull };
    const wakeAt = await carryOut(scheduling, scene, (kept) => {
      reserved = kept;
    });
    next = Math.min(next, wakeAt);
  }
  const inMs = next - clock.now();
  return Number.isFinite(inMs) ? { requeueAfter: Math.max(0, inMs) } : undefined;
}

interface Scene {
  readonly exists: boolean;
  readonly pool: Pool;
  readonly reserved: Reserved;
  /** An exclusive Scheduling that has begun. */
  readonly owner: string | undefined;
  readonly testbed: string;
  readonly context: Context;
  readonly options: SchedulingControllerOptions;
  readonly lull: Lull;
}

/** How long a cache has to hear of the change that was in our way. Not every change brings us here by itself. */
export const CATCH_UP_MS = 100;

/** Does what can be done for one Scheduling; gives the time at which it has to be looked at again. */
async function carryOut(scheduling: Scheduling, scene: Scene, keep: (reserved: Reserved) => void): Promise<number> {
  const { client, clock } = scene.context;
  const now = clock.now();
  const wishes = wishesOf(scheduling);
  const progress = progressIn(scheduling, wishes, scene, now);
  const { grants, waits } = decide(scheduling, progress, scene);
  const granted = new Set<string>();
  let missed = false;
  await together(grants, async (grant) => {
    if (await claim(scheduling, grant, scene)) granted.add(grant.job);
    else missed = true;
  });
  await together(waits, async ({ job }) => {
    if (!(await enqueue(scheduling, job, scene))) missed = true;
  });
  const kept = reservedBy(keyText(keyOf(scheduling)), wishes, { grants, waits }, scene.reserved);
  // Who wants to be alone keeps everything: otherwise those who come later would never let it in.
  keep(scheduling.spec.exclusive ? { ...kept, all: kept.all ?? keyText(keyOf(scheduling)) } : kept);
  const after = granted.size === 0 ? progress : progressIn(scheduling, wishes, scene, now);
  const { isOver: isOverNow, inMs } = await tell(scheduling, wishes, after, waits, scene, now);
  if (isOverNow) return Number.POSITIVE_INFINITY; // what is left to do then, also to let its jobs go, is done in ended.ts
  await together(after.release, async (job) => {
    if (!(await release(client, jobIn(scene.options.cache, job)))) missed = true;
  });
  if (missed) return now + CATCH_UP_MS;
  const missing = progress.waiting.some(
    ({ obstacle, hopeless }) => obstacle?.startsWith("there is no such job") && !hopeless,
  );
  return Math.min(now + inMs, missing ? now + 5000 : Number.POSITIVE_INFINITY);
}

function progressIn(scheduling: Scheduling, wishes: readonly Wish[], scene: Scene, now: number): Progress {
  const { cache } = scene.options;
  const ours = cache.informer(BatchJob).byIndex(BY_HOLDER, keyText(keyOf(scheduling)));
  const mayTakeFrom = (holder: string) => mayTake(scheduling, holder, scene);
  return progressOf({ scheduling, wishes, jobOf: (key) => jobIn(cache, key), ours, mayTakeFrom, now });
}

/**
 * Whether a Scheduling may have a job that another one has in its queue. Only who is exclusive may: the other one waits for it to end,
 * so to wait for the other one would be to wait for ever.
 */
function mayTake(scheduling: Scheduling, holder: string, { owner, options }: Scene): boolean {
  if (!scheduling.spec.exclusive) return false;
  if (owner === keyText(keyOf(scheduling))) return true;
  const [other] = keysIn(holder).flatMap((key) => options.cache.informer(Scheduling).get(key) ?? []);
  return other !== undefined && byAge(scheduling, other) < 0 && !(other.spec.exclusive && hasBegun(other, options));
}

/** A job as it is known. */
function jobIn(cache: Cache, text: string): BatchJob | undefined {
  const [key] = keysIn(text);
  return key && cache.informer(BatchJob).get(key);
}

/** What can start, and why the rest cannot. */
function decide(
  scheduling: Scheduling,
  { waiting }: Progress,
  scene: Scene,
): { grants: readonly Grant[]; waits: readonly Wait[] } {
  const blocked: Wait[] = waiting.flatMap(({ wish, obstacle }) =>
    obstacle === undefined ? [] : [{ job: wish.job, reason: "JobUnavailable", message: obstacle }],
  );
  const open = waiting.filter(({ obstacle }) => obstacle === undefined).map(({ wish }) => wish);
  if (open.length === 0) return { grants: [], waits: blocked };
  if (!scene.exists) {
    const message = `there is no testbed ${scene.testbed}`;
    return {
      grants: [],
      waits: [...blocked, ...open.map(({ job }) => ({ job, reason: "NoSuchSlot" as const, message }))],
    };
  }
  const others = scheduling.spec.exclusive ? othersOn(scheduling, scene) : [];
  const { grants, waits } = plan({ wishes: open, pool: scene.pool, reserved: reservedFor(scheduling, scene), others });
  return { grants, waits: [...waits, ...blocked] };
}

/** What others keep from a Scheduling. Who has the testbed to itself goes before those who are older, too: they wait for it to end. */
function reservedFor(scheduling: Scheduling, { owner, reserved }: Scene): Reserved {
  if (owner === undefined) return reserved;
  return owner === keyText(keyOf(scheduling)) ? NOTHING_RESERVED : { ...reserved, all: owner };
}

/** Jobs of others that have slots of the testbed. */
function othersOn(scheduling: Scheduling, { testbed, options: { ledger, cache } }: Scene): string[] {
  const own = keyText(keyOf(scheduling));
  return ledger.claimsOn(testbed).flatMap(({ job }) => {
    const found = jobIn(cache, job);
    return found && holderOf(found) !== own ? [job] : [];
  });
}

/** The exclusive Scheduling that has the testbed to itself: from its first claim to its end, also between two jobs. */
function ownerOf(exclusive: readonly Scheduling[], options: SchedulingControllerOptions): string | undefined {
  const owner = exclusive.find((scheduling) => hasBegun(scheduling, options));
  return owner && keyText(keyOf(owner));
}

function hasBegun(scheduling: Scheduling, { cache }: SchedulingControllerOptions): boolean {
  const ours = cache.informer(BatchJob).byIndex(BY_HOLDER, keyText(keyOf(scheduling)));
  return ours.some(({ spec }) => spec.creationRequest) || (scheduling.status?.jobs ?? []).some(hasStarted);
}

/** Claims a job and its slots. Whether that has succeeded: if somebody has changed the job, it is looked at again. */
async function claim(
  scheduling: Scheduling,
  { job, slots }: Grant,
  { testbed, context, options }: Scene,
): Promise<boolean> {
  const known = jobIn(options.cache, job);
  const [bed] = keysIn(testbed);
  if (!known || !bed) return false;
  if (!slots.every((slot) => options.ledger.isFree(testbed, slot, job))) return false;
  const spec = {
    activeScheduling: { name: scheduling.metadata.name, namespace: scheduling.metadata.namespace },
    creationRequest: { testbed: bed, slots: [...slots], claimTime: microTime(context.clock.now()) },
  };
  return patched(context.client, known, spec);
}

/** Takes a job that has to wait for slots, so that everybody sees who has it; `false` if it has to be tried again. */
async function enqueue(scheduling: Scheduling, job: string, { context, options }: Scene): Promise<boolean> {
  const known = jobIn(options.cache, job);
  if (!known || known.spec.activeScheduling || known.metadata.deletionTimestamp !== undefined) return true;
  const { name, namespace } = scheduling.metadata;
  return patched(context.client, known, { activeScheduling: { name, namespace } });
}

/** Lets a job go: nobody has it, and it has no slots. `false` if it has to be tried again. */
export async function release(client: Client, job: BatchJob | undefined): Promise<boolean> {
  return !job || patched(client, job, { activeScheduling: null, creationRequest: null });
}

/** Changes a job as it is known; `false` if it is not so any more. */
async function patched(client: Client, job: BatchJob, spec: object): Promise<boolean> {
  const { resourceVersion } = job.metadata;
  try {
    await client.patch(BatchJob, keyOf(job), { merge: { metadata: { resourceVersion }, spec } });
    return true;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}

/** How long jobs have to have come so far to be worth a line, if they are likely to come further in a moment. */
const LULL_MS = 1000;

/** What was told of a Scheduling: whether it is over, and in how many milliseconds there may be more to tell. */
interface Told {
  readonly isOver: boolean;
  readonly inMs: number;
}

/** Writes down how it stands. */
async function tell(
  scheduling: Scheduling,
  wishes: readonly Wish[],
  progress: Progress,
  waits: readonly Wait[],
  { context: { client, clock }, options: { events }, lull }: Scene,
  now: number,
): Promise<Told> {
  const key = keyText(keyOf(scheduling));
  const entries = entriesOf(scheduling, wishes, progress, waits);
  const hopeless = progress.waiting.filter((each) => each.hopeless).length;
  const phase = phaseOf(entries, hopeless);
  const over = phase === "Completed" || phase === "Failed";
  const { generation = 1 } = scheduling.metadata;
  const waiting = entries.find((entry) => !isOver(entry) && entry.message !== undefined);
  const condition = {
    type: "Progressing",
    status: over ? ("False" as const) : ("True" as const),
    reason: phase,
    message: over
      ? `${entries.filter((entry) => entry.phase === "Completed").length} of ${entries.length} jobs have completed`
      : waiting
        ? `${waiting.name}: ${waiting.message}`
        : `${entries.filter(isOver).length} of ${entries.length} jobs have ended`,
    observedGeneration: generation,
  };
  const before = scheduling.status ?? {};
  const status: NonNullable<Scheduling["status"]> = {
    phase,
    jobs: entries,
    startTime: before.startTime ?? kubernetesTime(now),
    ...(over && { completionTime: kubernetesTime(now) }),
    observedGeneration: generation,
    conditions: [...withCondition(before.conditions ?? [], condition, clock)],
  };
  if (!isSame(status, before)) {
    const inMs = isOnlyFurther(before, status) ? lull.left(key, now, LULL_MS) : 0;
    if (inMs > 0) return { isOver: false, inMs };
    lull.over(key);
    try {
      await client.status.update(Scheduling, { ...scheduling, status });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      return { isOver: false, inMs: CATCH_UP_MS };
    }
    if (phase !== before.phase) {
      events.event(scheduling, {
        reason: phase,
        note: condition.message,
        type: phase === "Failed" ? "Warning" : "Normal",
      });
    }
  }
  return { isOver: over, inMs: Number.POSITIVE_INFINITY };
}

function testbedOf({ metadata, spec }: Scheduling): string {
  return keyText({ namespace: spec.testbed.namespace || metadata.namespace, name: spec.testbed.name });
}

function byAge({ metadata: a }: Scheduling, { metadata: b }: Scheduling): number {
  return (
    compare(a.creationTimestamp, b.creationTimestamp) || compare(a.namespace, b.namespace) || compare(a.name, b.name)
  );
}
