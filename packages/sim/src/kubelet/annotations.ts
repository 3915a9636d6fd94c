/**
 * What a pod's annotations say about its run; they mean the same to KWOK's nodes in `@berth/cluster`, so that a pod
 * behaves alike on both:
 *
 *   berth.dev/start-delay        how long from bound to Running                (300ms, 2s, 1m30s …)
 *   berth.dev/run-time           how long from Running to its end
 *   berth.dev/exit-code          with which its containers end                 (default 0; any other number: it fails)
 *   berth.dev/termination-delay  how long it takes to stop when it is deleted  (the pod's grace period is the limit)
 */
import type { coreV1 } from "@berth/kube";

/** What the annotations ask for; what is left out is for others to decide. */
export interface PodBehaviour {
  readonly startDelayMs?: number;
  readonly runMs?: number;
  readonly exitCode?: number;
  readonly terminationDelayMs?: number;
  /** What is wrong with them, for people. Such a pod fails at once. */
  readonly problem?: string;
}

const NOTHING: PodBehaviour = {};
const DURATION =
  /^(\d{1,6}(?:\.\d{1,9})?h)?(\d{1,7}(?:\.\d{1,9})?m)?(\d{1,9}(?:\.\d{1,9})?s)?(\d{1,9}(?:\.\d{1,9})?ms)?$/;
const EXIT_CODE = /^\d{1,3}$/;

/** Reads what a pod's annotations say. */
export function behaviourOf({ metadata: { annotations } }: coreV1.Pod): PodBehaviour {
  if (!annotations) return NOTHING;
  const behaviour: { -readonly [K in keyof PodBehaviour]: PodBehaviour[K] } = {};
  const read = (name: string, pattern: RegExp, what: string, use: (text: string) => number): number | undefined => {
    const text = annotations[`berth.dev/${name}`];
    if (!text) return undefined;
    if (pattern.test(text)) return use(text);
    behaviour.problem = `berth.dev/${name}: ${JSON.stringify(text)} is not ${what}`;
    return undefined;
  };
  const duration = (name: string) => read(name, DURATION, "a duration such as 300ms, 2s or 1m30s", milliseconds);
  const startDelayMs = duration("start-delay");
  const runMs = duration("run-time");
  const terminationDelayMs = duration("termination-delay");
  const exitCode = read("exit-code", EXIT_CODE, "an exit code such as 0 or 137", Number);
  if (startDelayMs !== undefined) behaviour.startDelayMs = startDelayMs;
  if (runMs !== undefined) behaviour.runMs = runMs;
  if (terminationDelayMs !== undefined) behaviour.terminationDelayMs = terminationDelayMs;
  if (exitCode !== undefined) behaviour.exitCode = exitCode;
  return behaviour;
}

const UNITS = [3_600_000, 60_000, 1000, 1];

function milliseconds(text: string): number {
  const parts = DURATION.exec(text)?.slice(1) ?? [];
  return parts.reduce((sum, part, index) => sum + Number.parseFloat(part ?? "0") * (UNITS[index] ?? 0), 0);
}
