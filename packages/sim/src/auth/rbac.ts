/** Role-based access control: which rules hold for a user, by the roles and bindings that are stored, and what they allow. */
import { rbacV1 } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import { itemsAt, textAt, textsAt } from "../api/reading.ts";
import type { Lookup, User } from "../api/resource.ts";
import { type Attributes, type Decision, isPath } from "./attributes.ts";
import { asServiceAccount, MASTERS } from "./users.ts";

/** One rule of a role. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Everybody in system:masters may do everything; others what some rule that holds for them allows. */
export function authorize(attributes: Attributes, lookup: Lookup): Decision {
  const { user } = attributes;
  if (user.groups.includes(MASTERS)) return { allowed: true, reason: "" };
  const namespace = isPath(attributes) ? "" : (attributes.namespace ?? "");
  const errors: string[] = [];
  for (const { rules, source } of grants(user, namespace, lookup, errors)) {
    if (rules.some((rule) => allows(rule, attributes)))
      return { allowed: true, reason: `RBAC: allowed by ${source()}` };
  }
  const problems = [...new Set(errors)];
  const list = problems.length > 1 ? `[${problems.join(", ")}]` : (problems[0] ?? "");
  return { allowed: false, reason: list && `RBAC: ${list}` };
}

/** All rules that hold for a user in a namespace. */
export function rulesFor(user: User, namespace: string, lookup: Lookup, errors: string[] = []): Rule[] {
  return [...grants(user, namespace, lookup, errors)].flatMap(({ rules }) => rules);
}

interface Grant {
  readonly rules: readonly Rule[];
  /** By whose word. */
  source(): string;
}

function* grants(user: User, namespace: string, lookup: Lookup, errors: string[]): Generator<Grant> {
  for (const binding of lookup.list<AnyObject>(rbacV1.ClusterRoleBinding)) {
    const subject = subjectFor(user, binding, "");
    if (!subject) continue;
    const rules = rulesOf(binding, undefined, lookup, errors);
    yield { rules, source: () => sourceText("ClusterRoleBinding", binding, subject) };
  }
  if (namespace === "") return;
  for (const binding of lookup.list<AnyObject>(rbacV1.RoleBinding, namespace)) {
    const subject = subjectFor(user, binding, namespace);
    if (!subject) continue;
    const rules = rulesOf(binding, namespace, lookup, errors);
    yield { rules, source: () => sourceText("RoleBinding", binding, subject) };
  }
}

/** By which of its subjects a binding holds for a user. */
function subjectFor(user: User, binding: AnyObject, namespace: string): Record<string, unknown> | undefined {
  return itemsAt(binding, "subjects").find((subject) => {
    const name = textAt(subject, "name");
    switch (subject.kind) {
      case "User":
        return user.username === name;
      case "Group":
        return user.groups.includes(name);
      case "ServiceAccount": {
        const account = asServiceAccount(user.username);
        const home = textAt(subject, "namespace") || namespace;
        return account?.name === name && account.namespace === home;
      }
      default:
        return false;
    }
  });
}

function rulesOf(binding: AnyObject, namespace: string | undefined, lookup: Lookup, errors: string[]): readonly Rule[] {
  const [kind, name] = [textAt(binding, "roleRef", "kind"), textAt(binding, "roleRef", "name")];
  const role =
    kind === "ClusterRole"
      ? lookup.get<AnyObject>(rbacV1.ClusterRole, name)
      : lookup.get<AnyObject>(rbacV1.Role, name, namespace ?? "");
  if (role) return readRules(role);
  errors.push(`${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`);
  return [];
}

/** Roles are read on every request, and change next to never. */
const known = new WeakMap<AnyObject, readonly Rule[]>();

/** What a role says; nothing that is no rule. */
export function readRules(role: AnyObject): readonly Rule[] {
  let rules = known.get(role);
  if (!rules) {
    rules = itemsAt(role, "rules").map((rule) => ({
      verbs: textsAt(rule, "verbs"),
      apiGroups: textsAt(rule, "apiGroups"),
      resources: textsAt(rule, "resources"),
      resourceNames: textsAt(rule, "resourceNames"),
      nonResourceURLs: textsAt(rule, "nonResourceURLs"),
    }));
    known.set(role, rules);
  }
  return rules;
}

/** Whether a rule allows something. */
export function allows(rule: Rule, attributes: Attributes): boolean {
  if (!matches(rule.verbs, attributes.verb)) return false;
  if (isPath(attributes)) return rule.nonResourceURLs.some((url) => covers(url, attributes.path));
  const { group, resource, subresource = "", name = "" } = attributes;
  return (
    matches(rule.apiGroups, group) &&
    rule.resources.some((each) => meansResource(each, resource, subresource)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

function matches(allowed: readonly string[], wanted: string): boolean {
  return allowed.includes("*") || allowed.includes(wanted);
}

/** "pods", "pods/log", "*", and for one subresource of everything its name after "*" and a slash. */
function meansResource(rule: string, resource: string, subresource: string): boolean {
  if (rule === "*" || rule === (subresource ? `${resource}/${subresource}` : resource)) return true;
  return subresource !== "" && rule === `*/${subresource}`;
}

/** Whether a path is meant by one that may end in "*". */
export function covers(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.replace(/\*+$/, "")));
}

function sourceText(kind: string, binding: AnyObject, subject: Record<string, unknown>): string {
  const { name, namespace } = binding.metadata;
  const bindingName = namespace ? `${name}/${namespace}` : `${name}`;
  const role = `${textAt(binding, "roleRef", "kind")} ${JSON.stringify(textAt(binding, "roleRef", "name"))}`;
  const home = subject.kind === "ServiceAccount" ? `/${textAt(subject, "namespace")}` : "";
  const who = `${subject.kind} ${JSON.stringify(textAt(subject, "name") + home)}`;
  return `${kind} ${JSON.stringify(bindingName)} of ${role} to ${who}`;
}
