/** Where preemption does the least harm. Pure. */
import { pick, type Random } from "@berth/kube";
import type { PodInfo } from "../pod-info.ts";
import type { Candidate } from "./candidate.ts";
import { startOf } from "./importance.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** In this order: the next only decides between those that are equal so far. Less is better. */
function criteria(now: number): readonly ((candidate: Candidate) => number)[] {
  return [
    ({ violations }) => violations,
    ({ victims }) => victims[0]?.priority ?? 0,
    // None counts as less than nothing, so that fewer are never worse.
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + MAX_INT32 + 1, 0),
    ({ victims }) => victims.length,
    ({ victims }) => -earliestStart(victims, now),
  ];
}

/** Of those with the highest priority. */
function earliestStart(victims: readonly PodInfo[], now: number): number {
  const highest = Math.max(...victims.map(({ priority }) => priority));
  return Math.min(...victims.filter(({ priority }) => priority === highest).map((pod) => startOf(pod, now)));
}

/** Those that are equal in everything. */
export function bestCandidates(candidates: readonly Candidate[], now: number): readonly Candidate[] {
  let best = candidates;
  for (const harm of criteria(now)) {
    if (best.length <= 1) return best;
    const harms = best.map(harm);
    const least = harms.reduce((a, b) => Math.min(a, b));
    best = best.filter((_, index) => harms[index] === least);
  }
  return best;
}

/** @param random - Decides between those that are equal in everything. */
export function pickCandidate(candidates: readonly Candidate[], now: number, random: Random): Candidate | undefined {
  const best = bestCandidates(candidates, now);
  return best.length <= 1 ? best[0] : pick(random, best);
}
