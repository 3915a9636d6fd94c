/** Nobody gives others rights that they have not themselves, by a role or by a binding, unless they may do just that. */
import { rbacV1 } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import { textAt } from "../api/reading.ts";
import { forbidden } from "../api/refusal.ts";
import type { Resource, Rules, WriteContext } from "../api/resource.ts";
import { authorize, covers, type Rule, readRules, rulesFor } from "./rbac.ts";
import { MASTERS } from "./users.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLES = new Set(["roles", "clusterroles"]);
const BINDINGS = new Set(["rolebindings", "clusterrolebindings"]);

/** The rules of roles and bindings, with this one before them. */
export function withoutEscalation(resource: Resource): Resource {
  const { group, plural, rules } = resource;
  if (group !== GROUP || !(ROLES.has(plural) || BINDINGS.has(plural))) return resource;
  const checked: Rules = {
    ...rules,
    prepareForCreate(object, context) {
      check(object, resource, context);
      rules.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, before, context) {
      check(object, resource, context);
      rules.prepareForUpdate?.(object, before, context);
    },
  };
  return { ...resource, rules: checked };
}

function check(object: AnyObject, resource: Resource, context: WriteContext): void {
  const { user, lookup } = context;
  if (user.groups.includes(MASTERS)) return;
  const { name = "", namespace = "" } = object.metadata;
  const bound = BINDINGS.has(resource.plural) ? roleOf(object) : undefined;
  const wanted = bound
    ? { verb: "bind", resource: bound.plural, name: bound.name }
    : { verb: "escalate", resource: resource.plural, name };
  if (authorize({ user, group: GROUP, namespace, ...wanted }, lookup).allowed) return;
  const role = bound ? lookup.get<AnyObject>(bound, bound.name, bound.namespaced ? namespace : undefined) : object;
  const missing = missingRights(readRules(role ?? { metadata: {} }), rulesFor(user, namespace, lookup));
  if (missing.length === 0) return;
  const groups = `[${user.groups.map((group) => JSON.stringify(group)).join(" ")}]`;
  const who = `user ${JSON.stringify(user.username)} (groups=${groups})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.join("\n")}`;
  throw forbidden(resource, name, why);
}

function roleOf(binding: AnyObject) {
  const kind = textAt(binding, "roleRef", "kind") === "ClusterRole" ? rbacV1.ClusterRole : rbacV1.Role;
  return { ...kind, name: textAt(binding, "roleRef", "name") };
}

/** What some rules allow and others do not, in the words of the real server. */
export function missingRights(wanted: readonly Rule[], held: readonly Rule[]): string[] {
  const missing = new Map<string, { readonly part: Rule; readonly verbs: string[] }>();
  for (const part of wanted.flatMap(parts)) {
    if (held.some((rule) => includes(rule, part))) continue;
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames, part.nonResourceURLs]);
    const known = missing.get(key);
    if (known) known.verbs.push(...part.verbs);
    else missing.set(key, { part, verbs: [...part.verbs] });
  }
  return [...missing.values()].map(({ part, verbs }) => ruleText({ ...part, verbs })).sort();
}

/** A rule as many rules, each of which says one thing. */
function parts({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): Rule[] {
  const nothing = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  const names = resourceNames.length > 0 ? resourceNames.map((name) => [name]) : [[]];
  return verbs.flatMap((verb) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        names.map((name) => ({
          ...nothing,
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: name,
        })),
      ),
    ),
    ...nonResourceURLs.map((url) => ({ ...nothing, verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

/** Whether a rule allows all that a part does. */
function includes(rule: Rule, part: Rule): boolean {
  const has = (list: readonly string[], wanted: readonly string[]) =>
    list.includes("*") || wanted.every((each) => list.includes(each));
  if (!has(rule.verbs, part.verbs)) return false;
  const [url] = part.nonResourceURLs;
  if (url !== undefined) return rule.nonResourceURLs.some((each) => covers(each, url));
  const [resource = ""] = part.resources;
  const subresource = resource.split("/")[1];
  const isMeant = has(rule.resources, [resource]) || (subresource && rule.resources.includes(`*/${subresource}`));
  const named =
    rule.resourceNames.length === 0 || (part.resourceNames.length > 0 && has(rule.resourceNames, part.resourceNames));
  return has(rule.apiGroups, part.apiGroups) && Boolean(isMeant) && named;
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): string {
  const lists: [string, readonly string[]][] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  const texts = lists
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:[${list.map((each) => JSON.stringify(each)).join(" ")}]`);
  return `{${texts.join(", ")}}`;
}
