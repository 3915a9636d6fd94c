/** What a namespace's ranges of limits say of each pod, container and claim: what is usual, and what is too much. */
import type { coreV1, Quantity } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import type { Resource, WriteContext } from "../api/resource.ts";
import type { Admission } from "../api/write.ts";
import type { Loose, LooseObject } from "../kinds/common/loose.ts";
import { own } from "../kinds/common/maps.ts";
import { quantityOf, type ResourceList } from "../kinds/common/quantities.ts";
import { type Amounts, containerTotals, isPodResource, type Side } from "../kinds/pod/pod-resources.ts";
import type { Container, Pod } from "../kinds/pod/types.ts";
import { isPods, refused } from "./refused.ts";

type LimitRange = LooseObject<coreV1.LimitRange>;
type Limit = Loose<coreV1.LimitRangeItem>;
type Claim = LooseObject<coreV1.PersistentVolumeClaim>;

const ANNOTATION = "kubernetes.io/limit-ranger";

export const limitRanger: Admission = {
  admit: (object, resource, context, operation) => {
    if (operation !== "create" || !isPods(resource)) return;
    for (const range of rangesOf(object, context)) complete(object, range);
  },
  validate: (object, resource, context, operation) => {
    if (isPods(resource) ? operation !== "create" : resource.storage !== "/persistentvolumeclaims") return;
    for (const { spec } of rangesOf(object, context)) {
      const problems = (spec?.limits ?? []).flatMap((limit) => problemsOf(object, limit, resource));
      if (problems.length === 0) continue;
      throw refused(object, resource, problems.length === 1 ? (problems[0] as string) : `[${problems.join(", ")}]`);
    }
  },
};

/** In the order of their names. */
function rangesOf({ metadata }: AnyObject, { lookup }: WriteContext): LimitRange[] {
  const ranges: LimitRange[] = [...lookup.list({ group: "", plural: "limitranges" }, metadata.namespace)];
  return ranges.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

/** Gives containers what is usual, and says so. */
function complete({ spec = {}, metadata }: Pod, { spec: range }: LimitRange): void {
  const [requests, limits]: ResourceList[] = [{}, {}];
  for (const { type, defaultRequest, default: usual } of range?.limits ?? []) {
    if (type !== "Container") continue;
    Object.assign(requests as ResourceList, defaultRequest);
    Object.assign(limits as ResourceList, usual);
  }
  const notes: string[] = [];
  for (const [what, containers] of [
    ["container", spec.containers],
    ["init container", spec.initContainers],
  ] as const) {
    for (const container of containers ?? []) {
      const filledLimits = fill(container, "limits", limits as ResourceList);
      const filledRequests = fill(container, "requests", requests as ResourceList);
      if (filledRequests) notes.push(`${filledRequests} request for ${what} ${container.name}`);
      if (filledLimits) notes.push(`${filledLimits} limit for ${what} ${container.name}`);
    }
  }
  if (notes.length === 0) return;
  metadata.annotations = { ...metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}` };
}

/** The names of what was missing. */
function fill(container: Container, side: Side, usual: ResourceList): string {
  const missing = Object.keys(usual).filter((name) => own(container.resources?.[side], name) === undefined);
  if (missing.length === 0) return "";
  const added = Object.fromEntries(missing.map((name) => [name, usual[name] as string]));
  container.resources = { ...container.resources, [side]: { ...container.resources?.[side], ...added } };
  return missing.sort().join(", ");
}

function problemsOf(object: AnyObject, limit: Limit, { plural }: Resource): string[] {
  if (plural === "persistentvolumeclaims") {
    if (limit.type !== "PersistentVolumeClaim") return [];
    const claim: Claim = object;
    const requests = amountsOf(claim.spec?.resources?.requests);
    return [...each(limit, "min", requests, new Map()), ...each(limit, "maxRequest", requests, new Map())];
  }
  const { spec = {} } = object as Pod;
  const check = (requests: Amounts, limits: Amounts) =>
    (["min", "max", "maxLimitRequestRatio"] as const).flatMap((rule) => each(limit, rule, requests, limits));
  if (limit.type === "Container") {
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      check(amountsOf(resources?.requests), amountsOf(resources?.limits)),
    );
  }
  if (limit.type !== "Pod") return [];
  const [requests, limits] = [containerTotals(spec, "requests"), containerTotals(spec, "limits")];
  for (const [side, amounts] of [
    ["requests", requests],
    ["limits", limits],
  ] as const) {
    const list = spec.resources?.[side];
    for (const name in list) if (isPodResource(name)) amounts.set(name, quantityOf(list[name]));
  }
  return check(requests, limits);
}

function amountsOf(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, quantityOf(text)]));
}

type Rule = "min" | "max" | "maxRequest" | "maxLimitRequestRatio";

function each(limit: Limit, rule: Rule, requests: Amounts, limits: Amounts): string[] {
  const list = limit[rule === "maxRequest" ? "max" : rule] ?? {};
  return Object.keys(list).flatMap((name) => {
    const bound = list[name] as string;
    return problem(rule, name, limit.type ?? "", bound, requests.get(name), limits.get(name)) ?? [];
  });
}

function problem(
  rule: Rule,
  name: string,
  type: string,
  bound: string,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string | undefined {
  const edge = quantityOf(bound);
  const usage = (word: string) => `${word} ${name} usage per ${type} is ${bound}`;
  switch (rule) {
    case "min":
      if (!request) return `${usage("minimum")}.  No request is specified`;
      if (request.compare(edge) < 0) return `${usage("minimum")}, but request is ${request}`;
      return limit && limit.compare(edge) < 0 ? `${usage("minimum")}, but limit is ${limit}` : undefined;
    case "max":
      if (!limit) return `${usage("maximum")}.  No limit is specified`;
      if (limit.compare(edge) > 0) return `${usage("maximum")}, but limit is ${limit}`;
      return request && request.compare(edge) > 0 ? `${usage("maximum")}, but request is ${request}` : undefined;
    case "maxRequest":
      if (!request) return `${usage("maximum")}.  No request is specified`;
      return request.compare(edge) > 0 ? `${usage("maximum")}, but request is ${request}` : undefined;
    case "maxLimitRequestRatio": {
      const ratio = `${name} max limit to request ratio per ${type} is ${bound}`;
      if (!request || request.isZero) return `${ratio}, but no request is specified or request is 0`;
      if (!limit || limit.isZero) return `${ratio}, but no limit is specified or limit is 0`;
      const provided = limit.toNumber() / request.toNumber();
      return provided > edge.toNumber() ? `${ratio}, but provided ratio is ${provided.toFixed(6)}` : undefined;
    }
  }
}
