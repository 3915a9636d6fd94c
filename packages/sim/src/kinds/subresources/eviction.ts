/** "pods/eviction": a pod is asked to go, if those who count on it can spare it. */
import type { SubresourceCall, SubresourceHandler } from "../../api/api-server.ts";
import { type DeleteOptions, deleteOptions } from "../../api/deletion.ts";
import { badRequest, conflict, forbidden, Refusal } from "../../api/refusal.ts";
import { schemaNamed } from "../../schema/builtin-schemas.ts";
import { compiledSelector } from "../common/selectors.ts";
import type { DisruptionBudget } from "../others/disruption-budget.ts";
import type { Pod } from "../pod/types.ts";
import { bodyOf, SUCCESS } from "./body.ts";
import { withCondition } from "./conditions.ts";

const BUDGETS = { group: "policy", plural: "poddisruptionbudgets" };
/** How many pods may be on their way out without the budget's controller having seen it. */
const MOST_DISRUPTED = 2000;

export const evictPod: SubresourceHandler = (call) => {
  const { object, context } = call;
  const pod: Pod = object;
  const eviction = bodyOf(call, "Eviction", schemaNamed("io.k8s.api.policy.v1.Eviction"));
  if (eviction.metadata.name !== pod.metadata.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const options = deleteOptions(eviction.deleteOptions ?? {}, {});
  const pretended = context.dryRun || (options.dryRun ?? []).length > 0;
  if (!isBeyondBudgets(pod)) {
    const budget = budgetOf(pod, context.lookup);
    if (budget && !isSpare(pod, budget)) takeFrom(budget, pod, call, pretended);
  }
  remove(call, options, pretended);
  return SUCCESS;
};

/** Nobody counts on a pod that has not begun, has ended, or is going. */
function isBeyondBudgets({ status = {}, metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ["Pending", "Succeeded", "Failed"].includes(status.phase ?? "");
}

function budgetOf({ metadata }: Pod, lookup: SubresourceCall["context"]["lookup"]): DisruptionBudget | undefined {
  const budgets: DisruptionBudget[] = [...lookup.list(BUDGETS, metadata.namespace)];
  const matching = budgets.filter(
    ({ spec = {} }) => spec.selector && compiledSelector(spec.selector)?.matches(metadata.labels),
  );
  if (matching.length < 2) return matching[0];
  const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  throw new Refusal(500, "", why);
}

/** A pod that is not ready is no loss, if the budget says so or has enough others. */
function isSpare({ status = {} }: Pod, { spec = {}, status: counts = {} }: DisruptionBudget): boolean {
  if (status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True")) return false;
  if (spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = counts;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function takeFrom(budget: DisruptionBudget, pod: Pod, { api, context }: SubresourceCall, pretended: boolean): void {
  const { metadata, status = {} } = budget;
  const { name = "" } = metadata;
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = status;
  if (observedGeneration < (metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const resource = { group: "policy", plural: "poddisruptionbudget" };
  if (disruptionsAllowed < 0) throw forbidden(resource, name, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > MOST_DISRUPTED) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden(resource, name, why);
  }
  if (disruptionsAllowed === 0) throw tooMany(reasonOf(budget), 0);
  const budgets = api.resources.findAny(BUDGETS);
  if (pretended || !budgets) return;
  const left = disruptionsAllowed - 1;
  const disrupted = { ...disruptedPods, [pod.metadata.name ?? ""]: context.time };
  const after: DisruptionBudget = { ...budget, metadata: { ...metadata } };
  after.status = { ...status, disruptionsAllowed: left, disruptedPods: disrupted };
  if (left === 0) after.status.conditions = withoutRoom(budget, context.time);
  api.commit(budget, after, budgets, context);
}

function withoutRoom({ status = {}, metadata }: DisruptionBudget, time: string) {
  const others = status.conditions?.filter(({ type }) => type !== "DisruptionAllowed") ?? [];
  const observedGeneration = metadata.generation ?? 0;
  const condition = { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", message: "" };
  return [...others, { ...condition, observedGeneration, lastTransitionTime: time }];
}

/** Why a budget allows nothing. */
function reasonOf({ metadata: { name }, status = {} }: DisruptionBudget): string {
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  const condition = status.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const { message, reason } = condition?.status === "False" ? condition : {};
  const budget = `The disruption budget ${name}`;
  const not = "does not allow evicting pods currently";
  if (message && reason === "SyncFailed") return `${budget} ${not} because it failed sync: ${message}`;
  if (currentHealthy <= desiredHealthy) {
    return `${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return message ? `${budget} ${not} (${reason}): ${message}` : `${budget} ${not}`;
}

function tooMany(message: string, retryAfterSeconds: number): Refusal {
  const why = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: "DisruptionBudget", message }];
  const details = { causes, ...(retryAfterSeconds > 0 && { retryAfterSeconds }) };
  return new Refusal(429, "TooManyRequests", why, { details });
}

/** Notes on the pod why it goes, and lets it go. */
function remove(
  { api, resource, object, caller, context }: SubresourceCall,
  options: DeleteOptions,
  pretended: boolean,
): void {
  const { preconditions = {} } = options;
  const { name = "", namespace, uid, resourceVersion } = object.metadata;
  for (const [field, wanted, present, since] of [
    ["UID", preconditions.uid, uid, "deleted and then recreated"],
    ["ResourceVersion", preconditions.resourceVersion, resourceVersion, "modified"],
  ]) {
    if (!wanted || wanted === present) continue;
    const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${present})`;
    throw conflict({ group: "", plural: "Pod" }, name, `${why}. The object might have been ${since}`);
  }
  if (!pretended) {
    const pod: Pod = object;
    const message = "Eviction API: evicting";
    const reason = "EvictionByEvictionAPI";
    const condition = { type: "DisruptionTarget", status: "True", reason, message };
    const status = { ...pod.status, conditions: withCondition(pod.status?.conditions, condition, context) };
    api.commit(object, { ...object, metadata: { ...object.metadata }, status }, resource, context);
  }
  const { preconditions: _, ...rest } = options;
  const body = { ...rest, ...(uid && { preconditions: { uid } }), ...(pretended && { dryRun: ["All"] }) };
  api.request({ verb: "delete", kind: resource, namespace, name, body }, caller);
}
