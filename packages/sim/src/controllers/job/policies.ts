/** Which failures count, and which successes are enough: `podFailurePolicy` and `successPolicy`. Pure. */
import type { batchV1, coreV1 } from "@berth/kube";
import { IndexSet } from "./indexes.ts";
import { isNumber } from "./job-facts.ts";

/** What a failed pod means to its Job. */
export interface FailureVerdict {
  readonly counts: boolean;
  readonly action?: "Count" | "FailIndex" | "FailJob" | "Ignore";
  /** Why the whole Job fails, if it does. */
  readonly failJob?: string;
}

const COUNTS: FailureVerdict = { counts: true };

export function failureVerdict(policy: batchV1.PodFailurePolicy | null | undefined, pod: coreV1.Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const why = rule.onExitCodes ? byExitCode(pod, rule.onExitCodes) : byCondition(pod, rule.onPodConditions ?? []);
    if (why === undefined) continue;
    if (rule.action === "Ignore") return { counts: false, action: rule.action };
    if (rule.action !== "FailJob") return { counts: true, action: rule.action };
    return { counts: true, action: rule.action, failJob: `${why} matching FailJob rule at index ${index}` };
  }
  return COUNTS;
}

function byExitCode(
  { metadata, status }: coreV1.Pod,
  { containerName, operator, values }: batchV1.PodFailurePolicyOnExitCodesRequirement,
): string | undefined {
  for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (containerName && containerName !== name)) continue;
    if (values.includes(code) !== (operator === "In")) continue;
    return `Container ${name} for pod ${metadata.namespace}/${metadata.name} failed with exit code ${code}`;
  }
  return undefined;
}

function byCondition(
  { metadata, status }: coreV1.Pod,
  patterns: readonly batchV1.PodFailurePolicyOnPodConditionsPattern[],
): string | undefined {
  const found = status?.conditions?.find((condition) =>
    patterns.some(({ type, status: is = "True" }) => type === condition.type && is === condition.status),
  );
  return found && `Pod ${metadata.namespace}/${metadata.name} has condition ${found.type}`;
}

/** Why what has succeeded is enough; `undefined` if it is not. */
export function enoughSucceeded(
  policy: batchV1.SuccessPolicy | null | undefined,
  completions: number,
  succeeded: IndexSet,
): string | undefined {
  if (succeeded.size === 0) return undefined;
  const met = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return isNumber(succeededCount) && succeeded.size >= succeededCount;
    const wanted = IndexSet.parse(succeededIndexes, completions);
    if (wanted.size === 0) return false;
    const overlap = wanted.overlap(succeeded);
    return overlap === wanted.size || (isNumber(succeededCount) && overlap >= succeededCount);
  });
  return met === -1 ? undefined : `Matched rules at index ${met}`;
}
