/** What the job controller sees of the cluster: gathered from caches, without a request. */
import { type Cache, coreV1, type KubernetesObject, keyOf, keyText } from "@berth/kube";
import { applicationKindOf, type BatchJob, Scheduling } from "@berth/model";
import type { ApplicationAdapter } from "../apps/application.ts";
import type { Claim, Ledger } from "../ledger/ledger.ts";
import { annotation, label } from "../names.ts";
import { isOver, slotOf } from "../placement/assign.ts";
import { entryFor, holderOf } from "../scheduling/progress.ts";
import { keysIn, slotAt, slotsOn } from "../slot/world.ts";
import type { ApplicationView, JobWorld } from "./lifecycle.ts";

const BY_JOB = "berth.dev/job";

/** What jobs are looked at by. */
export interface Surroundings {
  readonly cache: Cache;
  readonly ledger: Ledger;
  /** For the kinds of applications that this cluster can run. */
  readonly adapters: readonly ApplicationAdapter[];
}

/** Has to be called before the caches start. */
export function indexForJobs({ cache, adapters }: Pick<Surroundings, "cache" | "adapters">): void {
  const jobOf = ({ metadata }: KubernetesObject) => keysIn(metadata.annotations?.[annotation.job]).map(keyText);
  cache.informer(coreV1.Pod).addIndex(BY_JOB, jobOf);
  for (const { resource } of adapters) cache.informer(resource).addIndex(BY_JOB, jobOf);
}

export function adapterOf(job: BatchJob, { adapters }: Pick<Surroundings, "adapters">): ApplicationAdapter | undefined {
  return adapters.find(({ kind }) => kind === applicationKindOf(job));
}

export function worldOf(job: BatchJob, now: number, surroundings: Surroundings): JobWorld {
  const { cache, ledger, adapters } = surroundings;
  const key = keyText(keyOf(job));
  const claim = ledger.claimOf(key);
  const applications = adapters.flatMap((adapter) =>
    cache
      .informer(adapter.resource)
      .byIndex(BY_JOB, key)
      .map((object) => viewOf(object, adapter)),
  );
  // Its application may be there before anybody has said so.
  const ours = claim && applications.find((each) => each.claim === claim.since);
  const executors = executorsOf(job, ours?.run ?? job.status?.run, cache);
  const placed = executors.filter((pod) => slotOf(pod) !== undefined);
  return {
    claim,
    applications,
    executors: { placed: placed.length, running: placed.filter(({ status }) => status?.phase === "Running").length },
    places: placed.map((pod) => slotOf(pod) as number).sort((a, b) => a - b),
    nodeOf: (slot) => claim && slotAt(claim.testbed, slot, cache)?.spec.nodeName,
    lost: claim ? lostSlots(claim, cache) : [],
    survivesLoss: adapterOf(job, surroundings)?.survivesLoss ?? false,
    waitsFor: claim ? undefined : reasonToWait(job, cache),
    neighbours: () => (claim ? neighboursOf(key, claim, cache, ledger) : []),
    now,
  };
}

/** What a job sees of an application. */
export function viewOf(object: KubernetesObject, adapter: ApplicationAdapter): ApplicationView {
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

/** The executors of a run that have not ended. */
export function executorsOf(job: BatchJob, number: number | undefined, cache: Cache): coreV1.Pod[] {
  const run = String(number ?? "");
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
  const nodes = new Set(slots.flatMap((slot) => slotAt(testbed, slot, cache)?.spec.nodeName ?? []));
  const others = new Set<string>();
  for (const { metadata, spec } of [...nodes].flatMap((node) => slotsOn(node, cache))) {
    const of = keyText({ namespace: metadata.namespace, name: spec.testbed });
    const holder = ledger.holderOf(of, spec.position);
    if (holder !== undefined && holder !== key) others.add(holder);
  }
  return [...others].sort();
}

/** Slots whose node is gone: whoever was in them is gone as well, and nobody can come after. */
function lostSlots({ testbed, slots }: Claim, cache: Cache): string[] {
  return slots.flatMap((slot) => {
    const name = slotAt(testbed, slot, cache)?.spec.nodeName;
    if (name === undefined || cache.informer(coreV1.Node).get({ name })) return [];
    return [`slot ${slot} is gone with its node ${name}`];
  });
}

/** What the Scheduling that has a job says of it. */
function reasonToWait(job: BatchJob, cache: Cache): string | undefined {
  const [key] = keysIn(holderOf(job));
  const scheduling = key && cache.informer(Scheduling).get(key);
  const message = scheduling && entryFor(scheduling, keyText(keyOf(job)))?.message;
  return message === undefined ? undefined : `waits for its turn in ${holderOf(job)}: ${message}`;
}
