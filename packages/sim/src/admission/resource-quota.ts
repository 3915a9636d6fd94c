/** Nothing comes to be for which a namespace has no quota left. */
import { type coreV1, LabelSelector, Quantity } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import type { Resource, WriteContext } from "../api/resource.ts";
import type { Admission } from "../api/write.ts";
import type { Loose, LooseObject } from "../kinds/common/loose.ts";
import { quantityOf } from "../kinds/common/quantities.ts";
import type { Amounts } from "../kinds/pod/pod-resources.ts";
import { qosClass } from "../kinds/pod/qos.ts";
import type { Pod } from "../kinds/pod/types.ts";
import { unsaid, usageOf } from "./quota-usage.ts";
import { isPods, refused } from "./refused.ts";

type ResourceQuota = LooseObject<coreV1.ResourceQuota>;
type Scope = Loose<coreV1.ScopedResourceSelectorRequirement>;

const QUOTAS = { group: "", plural: "resourcequotas" };
/** What is told of is not counted. */
const UNCOUNTED = new Set(["/events"]);
/** What can come to use more than it did. */
const GROWING = new Set(["/services", "/persistentvolumeclaims"]);

export const resourceQuota: Admission = {
  validate: (object, resource, context, operation, before) => {
    const { namespace } = object.metadata;
    if (namespace === undefined || UNCOUNTED.has(resource.storage)) return;
    if (operation === "update" && !GROWING.has(resource.storage)) return;
    for (const quota of quotasOf(namespace, context)) check(quota, object, before, resource, context);
  },
};

/** In the order of their names. */
function quotasOf(namespace: string, { lookup }: WriteContext): ResourceQuota[] {
  const quotas: ResourceQuota[] = [...lookup.list(QUOTAS, namespace)];
  return quotas.length < 2
    ? quotas
    : quotas.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

function check(
  quota: ResourceQuota,
  object: AnyObject,
  before: AnyObject | undefined,
  resource: Resource,
  context: WriteContext,
): void {
  const hard = quota.spec?.hard ?? {};
  const scopes = scopesOf(quota);
  if (!isInScopes(object, resource, scopes)) return;
  const usage = before ? growth(usageOf(object, resource), usageOf(before, resource)) : usageOf(object, resource);
  if (isPods(resource)) {
    const missing = unsaid(object, Object.keys(hard));
    if (missing) throw refused(object, resource, `failed quota: ${quota.metadata.name}: must specify ${missing}`);
  }
  const counted = [...usage.keys()].filter((name) => Object.hasOwn(hard, name) && !usage.get(name)?.isZero).sort();
  if (counted.length === 0) return;
  const used = total(resource, object.metadata.namespace, scopes, context);
  const of = (amounts: Amounts, name: string) => amounts.get(name) ?? Quantity.zero;
  const exceeded = counted.filter((name) => of(used, name).plus(of(usage, name)).compare(quantityOf(hard[name])) > 0);
  if (exceeded.length === 0) return;
  const list = (amountOf: (name: string) => unknown) => exceeded.map((name) => `${name}=${amountOf(name)}`).join(",");
  const requested = `requested: ${list((name) => usage.get(name))}`;
  const present = `used: ${list((name) => of(used, name))}, limited: ${list((name) => hard[name])}`;
  throw refused(object, resource, `exceeded quota: ${quota.metadata.name}, ${requested}, ${present}`);
}

/** What is used more than before. */
function growth(after: Amounts, before: Amounts): Amounts {
  const more = [...after].map(([name, amount]) => [name, amount.minus(before.get(name) ?? Quantity.zero)] as const);
  return new Map(more.filter(([, amount]) => amount.compare(Quantity.zero) > 0));
}

/** What there is already. */
function total(
  resource: Resource,
  namespace: string | undefined,
  scopes: readonly Scope[],
  { lookup }: WriteContext,
): Amounts {
  const sum: Amounts = new Map();
  for (const object of lookup.list(resource, namespace)) {
    if (!isInScopes(object, resource, scopes)) continue;
    for (const [name, amount] of usageOf(object, resource)) sum.set(name, sum.get(name)?.plus(amount) ?? amount);
  }
  return sum;
}

function scopesOf({ spec = {} }: ResourceQuota): Scope[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" }));
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Only pods can be told apart; a quota with scopes counts nothing else. */
function isInScopes(object: AnyObject, resource: Resource, scopes: readonly Scope[]): boolean {
  if (scopes.length === 0) return true;
  return isPods(resource) && scopes.every((scope) => isInScope(object, scope));
}

function isInScope({ spec = {} }: Pod, { scopeName, operator, values = [] }: Scope): boolean {
  const isTerminating = spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
  switch (scopeName) {
    case "Terminating":
      return isTerminating;
    case "NotTerminating":
      return !isTerminating;
    case "BestEffort":
      return qosClass(spec) === "BestEffort";
    case "NotBestEffort":
      return qosClass(spec) !== "BestEffort";
    case "PriorityClass": {
      const labels = spec.priorityClassName ? { PriorityClass: spec.priorityClassName } : {};
      const expression = { key: "PriorityClass", operator: operator ?? "", values };
      return LabelSelector.fromSpec({ matchExpressions: [expression] }).matches(labels);
    }
    case "CrossNamespacePodAffinity":
      return looksElsewhere(spec);
    default:
      return false;
  }
}

/** Whether a pod wants, or shuns, the company of pods of other namespaces. */
function looksElsewhere({ affinity }: NonNullable<Pod["spec"]>): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((each) => {
    const terms = [
      ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm ?? {}),
    ];
    return terms.some(({ namespaces, namespaceSelector }) => namespaces?.length || namespaceSelector);
  });
}
