/** Writes down what was decided in a turn: one Scheduling, which the operator carries out. */
import { createHash } from "node:crypto";
import { type Client, isAlreadyExists, isNotFound, retryOnConflict } from "@berth/kube";
import { type Decision, type Rejection, Scheduling } from "@berth/model";
import { GatewayError } from "../errors.ts";
import { annotation, label } from "../names.ts";
import type { World } from "../world.ts";
import type { Board } from "./board.ts";
import { decide, type Outcome } from "./decide.ts";

/** Which turn it is about. */
export interface TurnKey {
  readonly scheduler: string;
  readonly testbed: string;
  readonly after: number;
}

/** For how long a Scheduling of a turn is kept when it is over. */
const KEPT_SECONDS = 3600;
const LONGEST_REASON = 1024;
const LONGEST_REJECTIONS = 64 * 1024;

/**
 * Carries decisions out, once: the name of the Scheduling is that of the turn, so whoever sends them again, to whichever replica,
 * finds it there. Gives what was rejected.
 */
export async function carryOut(
  key: TurnKey,
  decisions: readonly Decision[],
  board: Board,
  world: World,
  client: Client,
): Promise<readonly Rejection[]> {
  if (decisions.length === 0) return [];
  const known = world.schedulings.get(world.key(nameOf(key)));
  if (known) return again(known, decisions);
  const outcome = decide(decisions, board);
  // First: who comes after a failure in between finds nobody to release, which is no error, and goes on from here.
  await Promise.all(outcome.releases.map((job) => releaseJob(job, world, client)));
  if (outcome.starts.length + outcome.releases.length === 0) return outcome.rejected;
  try {
    await client.create(Scheduling, schedulingOf(key, decisions, outcome, world.namespace));
    return outcome.rejected;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return again(await client.get(Scheduling, world.key(nameOf(key))), decisions);
  }
}

/** Takes a job out of the Scheduling that has it, which is what releases it. */
export async function releaseJob(job: string, world: World, client: Client): Promise<void> {
  const known = world.jobs.get(world.key(job));
  const name = known && world.holderOf(known);
  if (name === undefined) return;
  await retryOnConflict(async () => {
    const scheduling = await client.find(Scheduling, world.key(name));
    if (!scheduling || !wants(scheduling, job)) return;
    const { slotBased, queueBased, ...spec } = scheduling.spec;
    const without = <T extends { name: string }>(entries: T[]) => entries.filter((each) => each.name !== job);
    await client.update(Scheduling, {
      ...scheduling,
      spec: {
        ...spec,
        ...(slotBased && { slotBased: without(slotBased) }),
        ...(queueBased && { queueBased: without(queueBased) }),
      },
    });
  }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

function wants({ spec, status }: Scheduling, job: string): boolean {
  if (status?.completionTime !== undefined) return false;
  return [...(spec.slotBased ?? []), ...(spec.queueBased ?? [])].some(({ name }) => name === job);
}

function schedulingOf(
  key: TurnKey,
  decisions: readonly Decision[],
  { starts, rejected }: Outcome,
  namespace: string,
): Scheduling {
  const reasons = starts.flatMap(({ job, reason }) => (reason === undefined ? [] : [`${job}: ${reason}`]));
  return {
    apiVersion: "berth.dev/v1alpha1",
    kind: "Scheduling",
    metadata: {
      name: nameOf(key),
      namespace,
      labels: { [label.scheduler]: key.scheduler, [label.turn]: String(key.after) },
      annotations: {
        [annotation.decisions]: digestOf(decisions),
        [annotation.rejected]: rejectedText(rejected),
      },
    },
    spec: {
      testbed: { name: key.testbed },
      slotBased: starts.map(({ job, slots }) => ({ name: job, namespace: "", slots: [...slots] })),
      exclusive: false,
      ...(reasons.length > 0 && { reason: reasons.join("; ").slice(0, LONGEST_REASON) }),
      ttlSecondsAfterFinished: KEPT_SECONDS,
    },
  } as Scheduling;
}

/** What was rejected when the same was sent before. */
function again({ metadata }: Scheduling, decisions: readonly Decision[]): readonly Rejection[] {
  const { [annotation.decisions]: digest, [annotation.rejected]: rejected = "[]" } = metadata.annotations ?? {};
  if (digest !== digestOf(decisions)) {
    throw new GatewayError(
      "BERTH_TURN_DIFFERS",
      `${metadata.name} is there already, and was decided differently: a turn is decided once`,
    );
  }
  return JSON.parse(rejected) as Rejection[];
}

/** "fifo.main.17": there is no dot in the name of a scheduler, and none in a number, so no two turns have the same. */
function nameOf({ scheduler, testbed, after }: TurnKey): string {
  return `${scheduler}.${testbed}.${after}`;
}

function digestOf(decisions: readonly Decision[]): string {
  return createHash("sha256").update(JSON.stringify(decisions)).digest("hex").slice(0, 32);
}

/** Annotations have a limit; whoever has more rejected than fits has heard it once. */
function rejectedText(rejected: readonly Rejection[]): string {
  const text = JSON.stringify(rejected);
  return text.length > LONGEST_REJECTIONS ? "[]" : text;
}
