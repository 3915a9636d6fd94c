/** How objects end: at once, after a notice, or when nobody holds on to them any more. Pure. */
import { kubernetesTime } from "@berth/kube";
import { invalidObject } from "./field-errors.ts";
import { type AnyObject, isObject } from "./json.ts";
import { dryRun } from "./parameters.ts";
import { badRequest, conflict } from "./refusal.ts";
import type { Resource, WriteContext } from "./resource.ts";

/** Who waits for whom when owners go: the owner for its dependents, nobody, or the dependents stay behind. */
export type Propagation = "Foreground" | "Background" | "Orphan";

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: Propagation;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/** The options of a delete request, which stand in its body or in its query. */
export function deleteOptions(body: unknown, query: Readonly<Record<string, unknown>>): DeleteOptions {
  if (body !== undefined && !isObject(body)) throw badRequest("the body of a delete request must be DeleteOptions");
  const given: Record<string, unknown> = body === undefined ? fromQuery(query) : { ...body };
  const options = given as DeleteOptions;
  const { gracePeriodSeconds: grace, propagationPolicy: policy, preconditions } = options;
  if (grace !== undefined && !Number.isInteger(grace)) throw badRequest("gracePeriodSeconds must be a whole number");
  if (preconditions !== undefined && !isObject(preconditions)) throw badRequest("preconditions must be an object");
  if (policy !== undefined && !["Foreground", "Background", "Orphan"].includes(policy)) {
    const supported = '"Background", "Foreground", "Orphan"';
    throw invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
      {
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`,
        field: "propagationPolicy",
      },
    ]);
  }
  dryRun(options.dryRun, "DeleteOptions");
  return options;
}

function fromQuery({
  gracePeriodSeconds,
  propagationPolicy,
  orphanDependents,
  dryRun: asked,
}: Readonly<Record<string, unknown>>) {
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds: Number(gracePeriodSeconds) }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents: String(orphanDependents) === "true" }),
    ...(asked !== undefined && { dryRun: Array.isArray(asked) ? asked : [asked] }),
  };
}

/** What becomes of the object: it is gone, having become this before, it is marked and waits, or all is as it was. */
export type Ending =
  | { readonly outcome: "removed"; readonly object: AnyObject }
  | { readonly outcome: "marked"; readonly object: AnyObject }
  | { readonly outcome: "unchanged"; readonly object: AnyObject };

export function ending(
  before: AnyObject,
  resource: Resource,
  options: DeleteOptions,
  now: number,
  context: WriteContext,
): Ending {
  checkPreconditions(before, resource, options);
  const { metadata } = before;
  const { rules } = resource;
  const finalizers = finalizersFor(metadata.finalizers ?? [], options);
  const grace = rules.gracePeriod?.(before, options.gracePeriodSeconds) ?? 0;
  const known = metadata.deletionGracePeriodSeconds;
  const marked: AnyObject = { ...before, metadata: { ...metadata } };
  if (finalizers.length > 0) marked.metadata.finalizers = finalizers;
  else delete marked.metadata.finalizers;
  rules.prepareForDelete?.(marked, context);
  const canGo = grace === 0 && finalizers.length === 0 && !rules.remains?.(marked);
  // Kinds that give notice are marked even if there is none to give, and only then removed.
  if (canGo && !rules.gracePeriod) return { outcome: "removed", object: before };
  const outcome = canGo ? "removed" : "marked";
  if (metadata.deletionTimestamp !== undefined) {
    const shorter = known !== undefined && grace < known;
    if (!shorter && finalizers.length === (metadata.finalizers?.length ?? 0))
      return { outcome: canGo ? "removed" : "unchanged", object: before };
    if (shorter) {
      const since = Date.parse(metadata.deletionTimestamp) - known * 1000;
      marked.metadata.deletionTimestamp = kubernetesTime(since + grace * 1000);
      marked.metadata.deletionGracePeriodSeconds = grace;
    }
    return { outcome, object: marked };
  }
  marked.metadata.deletionTimestamp = kubernetesTime(now + grace * 1000);
  // Of a kind with finalizers of its own no notice is noted, not even none.
  if (!rules.remains) marked.metadata.deletionGracePeriodSeconds = grace;
  // Whoever controls the object has something else to do now.
  if (metadata.generation) marked.metadata.generation = metadata.generation + 1;
  return { outcome, object: marked };
}

/** Whether an object that was marked has nothing left to wait for. */
export function isOver({ metadata }: AnyObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    !metadata.finalizers?.length &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0
  );
}

function finalizersFor(present: readonly string[], { propagationPolicy, orphanDependents }: DeleteOptions): string[] {
  const policy =
    propagationPolicy ?? (orphanDependents === true ? "Orphan" : orphanDependents === false ? "Background" : undefined);
  if (policy === undefined) return [...present];
  const others = present.filter((each) => each !== FOREGROUND && each !== ORPHAN);
  if (policy === "Foreground") return [...others, FOREGROUND];
  return policy === "Orphan" ? [...others, ORPHAN] : others;
}

function checkPreconditions({ metadata }: AnyObject, resource: Resource, { preconditions = {} }: DeleteOptions): void {
  const { name = "", uid, resourceVersion } = metadata;
  for (const [field, wanted, present] of [
    ["UID", preconditions.uid, uid],
    ["ResourceVersion", preconditions.resourceVersion, resourceVersion],
  ]) {
    if (wanted === undefined || wanted === present) continue;
    const since = field === "UID" ? "deleted and then recreated" : "modified";
    const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${present}). The object might have been ${since}`;
    // The one refusal of this reason that names the kind and not the resource.
    throw conflict({ group: resource.group, plural: resource.kind }, name, why);
  }
}
