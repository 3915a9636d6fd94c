/**
 * What a kube-scheduler hears that asks us about executors: where their slot is, and whose place it is to give them. Pure, but for
 * what `Seats` remembers.
 *
 * An executor comes here with its slot written on it, so there is always an answer, and never a "not yet": a pod that was
 * refused would wait for minutes until kube-scheduler asks again.
 */
import type { coreV1 } from "@berth/kube";
import { label } from "../names.ts";
import type { ExtenderArgs, FilterResult, PreemptionArgs, PreemptionResult } from "./extender-messages.ts";

/** Where an executor was told to go. */
export interface Seat {
  readonly slot: number;
  readonly node: string;
  /** Who keeps the place. */
  readonly ghost: coreV1.Pod | undefined;
}

/** What the extender knows of the cluster. */
export interface Seats {
  /** `undefined` if a pod was told nothing, or its slot is gone. */
  of(pod: coreV1.Pod): Seat | undefined;
  /** A ghost or an executor, by its uid. */
  tenant(uid: string): coreV1.Pod | undefined;
  /** Takes note that a ghost was told to go. Whether that is news: not if it was told a moment ago, and may be gone by now. */
  tellToGo(uid: string): boolean;
}

/**
 * Only the node of the slot will do. The others are refused for good: if it were only for now, kube-scheduler would look for
 * somebody to evict there.
 */
export function filtered({ Pod: pod, NodeNames: names }: ExtenderArgs, seats: Seats): FilterResult {
  if (!names) return { Error: "Berth's extender wants names of nodes: set nodeCacheCapable" };
  const seat = seats.of(pod);
  const why = seat ? `its slot ${seat.slot} is on ${seat.node}` : "it has no slot of Berth's";
  const [open, refused]: [string[], Record<string, string>] = [[], {}];
  for (const name of names) {
    if (name === seat?.node) open.push(name);
    else refused[name] = why;
  }
  return { NodeNames: open, FailedAndUnresolvableNodes: refused };
}

/**
 * The ghost of the slot makes way, and nobody else. If it is not there, those whom kube-scheduler would evict have taken its
 * place: they may go, unless they hold slots themselves.
 *
 * A ghost is named once. kube-scheduler may ask again before it has heard that the ghost is gone, would then look for it in vain,
 * and would never try that executor again: it waits for the end of somebody who has ended. If nobody is named it waits for news, and
 * there will be some; and if the ghost should still be there after a while, the operator sends it away itself.
 */
export function victims({ Pod: pod, NodeNameToMetaVictims: proposed }: PreemptionArgs, seats: Seats): PreemptionResult {
  const seat = seats.of(pod);
  const there = seat && proposed?.[seat.node];
  if (!seat || !there) return { NodeNameToMetaVictims: {} };
  const { ghost } = seat;
  if (ghost?.spec?.nodeName === seat.node && ghost.metadata.deletionTimestamp === undefined) {
    const { uid = "" } = ghost.metadata;
    if (!seats.tellToGo(uid)) return { NodeNameToMetaVictims: {} };
    const only = [{ UID: uid }];
    return { NodeNameToMetaVictims: { [seat.node]: { Pods: only, NumPDBViolations: 0 } } };
  }
  const squatters = there.Pods ?? [];
  const harmless = squatters.length > 0 && squatters.every(({ UID }) => !holdsSlot(seats.tenant(UID)));
  return { NodeNameToMetaVictims: harmless ? { [seat.node]: there } : {} };
}

function holdsSlot(pod: coreV1.Pod | undefined): boolean {
  return pod?.metadata.labels?.[label.role] !== undefined;
}
