/**
 * Which executor goes into which slot: the pods of a run and its slots go in, assignments come out. Pure; the gate and the
 * extender both ask here.
 *
 * All executors of a run are alike, so any of them may have any of the slots. What counts is that no slot has two, that who has
 * one keeps it, and that whoever asks again gets the same answer.
 */
import type { coreV1 } from "@berth/kube";
import { annotation } from "../names.ts";
import { compare } from "../order.ts";

export interface Assignment {
  readonly pod: coreV1.Pod;
  readonly slot: number;
}

export interface Assignments {
  /** Executors that have got their slot already, and still need it. */
  readonly placed: readonly Assignment[];
  /** Executors that get theirs now. */
  readonly fresh: readonly Assignment[];
  /** Executors for which there is no slot: more were made than asked for, or their predecessors are not gone yet. */
  readonly surplus: readonly coreV1.Pod[];
}

/**
 * @param slots - Those of the job.
 * @param pods - The executors of its present run, in any order.
 * @param entering - By uid: slots that are being written on executors in this moment.
 */
export function assign(
  slots: readonly number[],
  pods: readonly coreV1.Pod[],
  entering: ReadonlyMap<string, number> = NOBODY,
): Assignments {
  const placed: Assignment[] = [];
  const waiting: coreV1.Pod[] = [];
  const free = new Set(slots);
  for (const pod of pods) {
    if (isOver(pod)) continue;
    const slot = slotOf(pod) ?? entering.get(pod.metadata.uid ?? "");
    if (slot === undefined) waiting.push(pod);
    else {
      placed.push({ pod, slot });
      free.delete(slot);
    }
  }
  const [fresh, surplus]: [Assignment[], coreV1.Pod[]] = [[], []];
  const left = [...free].sort((a, b) => a - b);
  for (const pod of waiting.sort(byAge)) {
    // Who is about to go needs none; who has a node already was not put there by us.
    if (pod.metadata.deletionTimestamp !== undefined || pod.spec?.nodeName) continue;
    const slot = left.shift();
    if (slot === undefined) surplus.push(pod);
    else fresh.push({ pod, slot });
  }
  return { placed, fresh, surplus };
}

const NOBODY: ReadonlyMap<string, number> = new Map();

/** The slot that a pod was given. */
export function slotOf({ metadata }: coreV1.Pod): number | undefined {
  const text = metadata.annotations?.[annotation.slot];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Whether a pod has ended, and its slot is free again. One that is on its way out still is where it is. */
export function isOver({ status }: coreV1.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** The oldest first; of those that are as old, by index if they have one, and by name. */
function byAge({ metadata: a }: coreV1.Pod, { metadata: b }: coreV1.Pod): number {
  return (
    compare(a.creationTimestamp, b.creationTimestamp) ||
    indexIn(a.labels) - indexIn(b.labels) ||
    compare(a.name, b.name)
  );
}

const INDEXES = ["batch.kubernetes.io/job-completion-index", "spark-exec-id"];

function indexIn(labels: Readonly<Record<string, string>> = {}): number {
  const index = INDEXES.map((each) => Number(labels[each])).find(Number.isInteger);
  return index ?? Number.MAX_SAFE_INTEGER;
}
