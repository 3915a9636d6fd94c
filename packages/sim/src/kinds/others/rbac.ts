/** The rules of roles, and of who has them. */
import type { rbacV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { nameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkSubdomain } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { checkSelector, compiledSelector } from "../common/selectors.ts";
import { same } from "../common/semantic.ts";

type Role = LooseObject<rbacV1.ClusterRole>;
type Binding = LooseObject<rbacV1.RoleBinding>;

const GROUP = "rbac.authorization.k8s.io";

export const roleRules = rulesOfRoles(true);
export const clusterRoleRules = rulesOfRoles(false);
export const roleBindingRules = rulesOfBindings(true);
export const clusterRoleBindingRules = rulesOfBindings(false);

function rulesOfRoles(namespaced: boolean): Rules {
  return {
    names: "segment",
    validate: (role: Role, errors) => checkRole(role, namespaced, errors),
    validateUpdate: (role: Role, _before, errors) => checkRole(role, namespaced, errors),
  };
}

function checkRole({ rules, aggregationRule }: Role, namespaced: boolean, errors: FieldErrors): void {
  for (const [index, rule] of (rules ?? []).entries()) checkRule(rule, namespaced, `rules[${index}]`, errors);
  if (!aggregationRule || namespaced) return;
  const { clusterRoleSelectors: selectors = [] } = aggregationRule;
  const field = "aggregationRule.clusterRoleSelectors";
  if (selectors.length === 0) {
    errors.required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (const [index, selector] of selectors.entries()) {
    checkSelector(selector, `${field}[${index}]`, errors);
    if (!compiledSelector(selector)) errors.invalid(`${field}[${index}]`, null, "invalid label selector.");
  }
}

function checkRule(rule: Loose<rbacV1.PolicyRule>, namespaced: boolean, field: string, errors: FieldErrors): void {
  const { verbs, nonResourceURLs: urls = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!verbs?.length) errors.required(`${field}.verbs`, "verbs must contain at least one value");
  if (urls.length > 0) {
    const place = `${field}.nonResourceURLs`;
    if (namespaced) errors.invalid(place, urls, "namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.invalid(place, urls, "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (apiGroups.length === 0) {
    errors.required(`${field}.apiGroups`, "resource rules must supply at least one api group");
  }
  if (resources.length === 0) errors.required(`${field}.resources`, "resource rules must supply at least one resource");
}

function rulesOfBindings(namespaced: boolean): Rules {
  return {
    names: "segment",
    default: (binding: Binding) => {
      if (binding.roleRef) binding.roleRef.apiGroup ||= GROUP;
      for (const subject of binding.subjects ?? []) {
        if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= GROUP;
      }
    },
    validate: (binding: Binding, errors) => checkBinding(binding, namespaced, errors),
    validateUpdate: (binding: Binding, before: Binding, errors) => {
      checkBinding(binding, namespaced, errors);
      if (!same(binding.roleRef, before.roleRef)) errors.invalid("roleRef", binding.roleRef, "cannot change roleRef");
    },
  };
}

function checkBinding({ roleRef = {}, subjects = [] }: Binding, namespaced: boolean, errors: FieldErrors): void {
  const { apiGroup = "", kind = "", name } = roleRef;
  if (apiGroup !== GROUP) errors.notSupported("roleRef.apiGroup", apiGroup, [GROUP]);
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.includes(kind)) errors.notSupported("roleRef.kind", kind, kinds);
  if (!name) errors.required("roleRef.name");
  else for (const problem of nameProblems(name, "segment")) errors.invalid("roleRef.name", name, problem);
  for (const [index, subject] of subjects.entries()) checkSubject(subject, namespaced, `subjects[${index}]`, errors);
}

function checkSubject(
  { kind = "", name, apiGroup = "", namespace }: Loose<rbacV1.Subject>,
  namespaced: boolean,
  field: string,
  errors: FieldErrors,
): void {
  if (!name) errors.required(`${field}.name`);
  switch (kind) {
    case "ServiceAccount":
      if (name) checkSubdomain(name, `${field}.name`, errors);
      if (apiGroup) errors.notSupported(`${field}.apiGroup`, apiGroup, [""]);
      if (!namespaced && !namespace) errors.required(`${field}.namespace`);
      break;
    case "User":
    case "Group":
      if (apiGroup !== GROUP) errors.notSupported(`${field}.apiGroup`, apiGroup, [GROUP]);
      break;
    default:
      errors.notSupported(`${field}.kind`, kind, ["ServiceAccount", "User", "Group"]);
  }
}
