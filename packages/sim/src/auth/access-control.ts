/** The part of a cluster that makes the roles it begins with, and keeps up those that are made of other roles. */
import { LabelSelector, type LabelSelectorSpec, rbacV1 } from "@berth/kube";
import { equal } from "../api/json.ts";
import { LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "../controllers/component.ts";
import { Workbench } from "../controllers/component.ts";
import { bootstrapBindings, bootstrapRoles } from "./bootstrap-roles.ts";

const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
const API_GROUP = "rbac.authorization.k8s.io";

export class AccessControl implements Component {
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  #stopListening: () => void = () => {};

  constructor(surroundings: Surroundings) {
    this.#api = new LocalApi(surroundings.server, "system:apiserver");
    this.#bench = new Workbench(surroundings, (name) => this.#aggregate(name));
  }

  start(): void {
    this.#stopListening = this.#api.onChange(rbacV1.ClusterRole, () => this.#addAggregated());
    for (const { name, labels, aggregates, rules } of bootstrapRoles) {
      if (this.#api.get(rbacV1.ClusterRole, { name, namespace: "" })) continue;
      this.#api.create(rbacV1.ClusterRole, {
        metadata: { name, labels: { ...LABELS, ...labels }, annotations: ANNOTATIONS },
        ...(aggregates !== undefined && {
          aggregationRule: {
            clusterRoleSelectors: [{ matchLabels: { [`${API_GROUP}/aggregate-to-${aggregates}`]: "true" } }],
          },
        }),
        rules: [...(rules ?? [])] as rbacV1.PolicyRule[],
      });
    }
    for (const { name, subjects } of bootstrapBindings) {
      if (this.#api.get(rbacV1.ClusterRoleBinding, { name, namespace: "" })) continue;
      this.#api.create(rbacV1.ClusterRoleBinding, {
        metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
        roleRef: { apiGroup: API_GROUP, kind: "ClusterRole", name },
        subjects: [...subjects] as rbacV1.Subject[],
      });
    }
  }

  stop(): void {
    this.#stopListening();
    this.#bench.stop();
  }

  /** Any role may be part of any other; there are few that are made of others. */
  #addAggregated(): void {
    for (const role of this.#api.list(rbacV1.ClusterRole)) {
      if (role.aggregationRule) this.#bench.add(role.metadata.name as string);
    }
  }

  #aggregate(name: string): void {
    const role = this.#api.get(rbacV1.ClusterRole, { name, namespace: "" });
    if (!role?.aggregationRule) return;
    const rules: rbacV1.PolicyRule[] = [];
    for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
      for (const part of this.#api.list(rbacV1.ClusterRole)) {
        if (part.metadata.name === name || !selects(selector, part)) continue;
        for (const rule of part.rules ?? []) if (!rules.some((each) => equal(each, rule))) rules.push(rule);
      }
    }
    if (!equal(rules, role.rules ?? [])) this.#api.update(rbacV1.ClusterRole, { ...role, rules });
  }
}

function selects(selector: LabelSelectorSpec, { metadata }: rbacV1.ClusterRole): boolean {
  try {
    return LabelSelector.from(selector).matches(metadata.labels);
  } catch {
    return false; // a selector that is none selects nothing
  }
}
