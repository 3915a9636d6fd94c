/** The roles that every cluster begins with, as far as somebody who uses one meets them. */

export interface BootstrapRole {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The label of roles whose rules are also this one's. */
  readonly aggregates?: string;
  readonly rules?: readonly object[];
}

export interface BootstrapBinding {
  /** Of the binding, and of the cluster role. */
  readonly name: string;
  readonly subjects: readonly object[];
}

const READ = ["get", "list", "watch"];
const WRITE = ["create", "update", "patch", "delete", "deletecollection"];
const READ_WRITE = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const READ_UPDATE = [...READ, "update", "patch"];
const RBAC = "rbac.authorization.k8s.io";

const rule = (verbs: readonly string[], apiGroups: readonly string[], ...resources: string[]) => ({
  verbs,
  apiGroups,
  // Sorted, as Kubernetes writes its own.
  resources: resources.sort(),
});
const named = (verbs: readonly string[], group: string, resource: string, ...resourceNames: string[]) => ({
  ...rule(verbs, [group], resource),
  resourceNames,
});
const urls = (...nonResourceURLs: string[]) => ({ verbs: ["get"], nonResourceURLs: nonResourceURLs.sort() });
const EVENTS = rule(["create", "patch", "update"], ["", "events.k8s.io"], "events");
const aggregateTo = (role: string) => ({ [`${RBAC}/aggregate-to-${role}`]: "true" });

const VIEW = [
  rule(
    READ,
    [""],
    "pods",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
    "services",
    "services/status",
    "endpoints",
    "persistentvolumeclaims",
    "persistentvolumeclaims/status",
    "configmaps",
  ),
  rule(
    READ,
    [""],
    "limitranges",
    "resourcequotas",
    "bindings",
    "pods/status",
    "resourcequotas/status",
    "namespaces/status",
    "replicationcontrollers/status",
    "pods/log",
  ),
  rule(READ, [""], "namespaces"),
  rule(READ, ["", "events.k8s.io"], "events"),
  rule(READ, ["discovery.k8s.io"], "endpointslices"),
  rule(
    READ,
    ["apps"],
    "controllerrevisions",
    "statefulsets",
    "statefulsets/status",
    "statefulsets/scale",
    "daemonsets",
    "daemonsets/status",
    "deployments",
    "deployments/status",
    "deployments/scale",
    "replicasets",
    "replicasets/status",
    "replicasets/scale",
  ),
  rule(READ, ["autoscaling"], "horizontalpodautoscalers", "horizontalpodautoscalers/status"),
  rule(READ, ["batch"], "jobs", "cronjobs", "cronjobs/status", "jobs/status"),
  rule(READ, ["policy"], "poddisruptionbudgets", "poddisruptionbudgets/status"),
  rule(READ, ["networking.k8s.io"], "networkpolicies", "ingresses", "ingresses/status"),
  rule(READ, ["resource.k8s.io"], "resourceclaims", "resourceclaims/status", "resourceclaimtemplates"),
];

const EDIT = [
  rule(READ, [""], "pods/attach", "pods/proxy", "pods/exec", "pods/portforward", "secrets", "services/proxy"),
  rule(["impersonate"], [""], "serviceaccounts"),
  rule(WRITE, [""], "pods", "pods/attach", "pods/proxy", "pods/exec", "pods/portforward"),
  rule(["create"], [""], "pods/eviction"),
  rule(
    WRITE,
    [""],
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
    "services",
    "services/proxy",
    "persistentvolumeclaims",
    "configmaps",
    "secrets",
  ),
  rule(["create"], [""], "serviceaccounts/token"),
  rule(WRITE, ["", "events.k8s.io"], "events"),
  rule(
    WRITE,
    ["apps"],
    "statefulsets",
    "statefulsets/scale",
    "daemonsets",
    "deployments",
    "deployments/scale",
    "deployments/rollback",
    "replicasets",
    "replicasets/scale",
  ),
  rule(WRITE, ["autoscaling"], "horizontalpodautoscalers"),
  rule(WRITE, ["batch"], "jobs", "cronjobs"),
  rule(WRITE, ["policy"], "poddisruptionbudgets"),
  rule(WRITE, ["networking.k8s.io"], "networkpolicies", "ingresses"),
  rule(READ_WRITE, ["coordination.k8s.io"], "leases"),
  rule(WRITE, ["resource.k8s.io"], "resourceclaims", "resourceclaimtemplates"),
];

const ADMIN = [
  rule(["create"], ["authorization.k8s.io"], "localsubjectaccessreviews"),
  rule(READ_WRITE, [RBAC], "roles", "rolebindings"),
];

const REVIEWS = [
  rule(["create"], ["authentication.k8s.io"], "tokenreviews"),
  rule(["create"], ["authorization.k8s.io"], "subjectaccessreviews"),
];

const SCHEDULER = [
  EVENTS,
  rule(["create"], ["coordination.k8s.io"], "leases"),
  named(["get", "list", "update", "watch"], "coordination.k8s.io", "leases", "kube-scheduler"),
  rule(READ, [""], "nodes"),
  rule(["delete", "get", "list", "watch"], [""], "pods"),
  rule(["create"], [""], "pods/binding", "bindings"),
  rule(["patch", "update"], [""], "pods/status"),
  rule(READ, [""], "services", "replicationcontrollers", "persistentvolumeclaims", "persistentvolumes", "namespaces"),
  rule(READ, ["apps"], "replicasets", "statefulsets"),
  rule(READ, ["policy"], "poddisruptionbudgets"),
  rule(READ, ["storage.k8s.io"], "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"),
  ...REVIEWS,
];

const VOLUMES = [
  rule(READ_UPDATE, [""], "persistentvolumes", "persistentvolumeclaims"),
  rule(READ, ["storage.k8s.io"], "storageclasses"),
];

const CONTROLLER_MANAGER = [
  EVENTS,
  rule(["create"], ["coordination.k8s.io"], "leases"),
  named(["get", "update"], "coordination.k8s.io", "leases", "kube-controller-manager"),
  rule(["create"], [""], "secrets", "serviceaccounts", "serviceaccounts/token"),
  rule(["delete"], [""], "secrets"),
  rule(["get"], [""], "namespaces", "secrets", "serviceaccounts", "configmaps"),
  rule(["update"], [""], "secrets", "serviceaccounts"),
  rule(["list", "watch"], ["*"], "*"),
  ...REVIEWS,
];

const HEALTH = ["/healthz", "/livez", "/readyz"];

export const bootstrapRoles: readonly BootstrapRole[] = [
  { name: "admin", aggregates: "admin" },
  {
    name: "cluster-admin",
    rules: [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ],
  },
  { name: "edit", aggregates: "edit", labels: aggregateTo("admin") },
  { name: "system:aggregate-to-admin", labels: aggregateTo("admin"), rules: ADMIN },
  { name: "system:aggregate-to-edit", labels: aggregateTo("edit"), rules: EDIT },
  { name: "system:aggregate-to-view", labels: aggregateTo("view"), rules: VIEW },
  { name: "system:auth-delegator", rules: REVIEWS },
  {
    name: "system:basic-user",
    rules: [
      rule(["create"], ["authorization.k8s.io"], "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
      rule(["create"], ["authentication.k8s.io"], "selfsubjectreviews"),
    ],
  },
  {
    name: "system:discovery",
    rules: [urls("/api", "/api/*", "/apis", "/apis/*", ...HEALTH, "/openapi", "/openapi/*", "/version", "/version/")],
  },
  { name: "system:kube-controller-manager", rules: CONTROLLER_MANAGER },
  { name: "system:kube-scheduler", rules: SCHEDULER },
  {
    name: "system:monitoring",
    rules: [
      urls(...HEALTH, ...HEALTH.map((path) => `${path}/*`), "/metrics", "/metrics/slis"),
      rule(["get"], [""], "nodes/metrics"),
    ],
  },
  { name: "system:public-info-viewer", rules: [urls(...HEALTH, "/version", "/version/")] },
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      urls(
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/",
        "/openid/v1/jwks",
        "/openid/v1/jwks/",
      ),
    ],
  },
  { name: "system:volume-scheduler", rules: VOLUMES },
  { name: "view", aggregates: "view", labels: aggregateTo("edit") },
];

const groups = (...names: string[]) => names.map((name) => ({ apiGroup: RBAC, kind: "Group", name }));
const users = (...names: string[]) => names.map((name) => ({ apiGroup: RBAC, kind: "User", name }));

export const bootstrapBindings: readonly BootstrapBinding[] = [
  { name: "cluster-admin", subjects: groups("system:masters") },
  { name: "system:basic-user", subjects: groups("system:authenticated") },
  { name: "system:discovery", subjects: groups("system:authenticated") },
  { name: "system:kube-controller-manager", subjects: users("system:kube-controller-manager") },
  { name: "system:kube-scheduler", subjects: users("system:kube-scheduler") },
  { name: "system:monitoring", subjects: groups("system:monitoring") },
  { name: "system:public-info-viewer", subjects: groups("system:authenticated", "system:unauthenticated") },
  { name: "system:service-account-issuer-discovery", subjects: groups("system:serviceaccounts") },
  { name: "system:volume-scheduler", subjects: users("system:kube-scheduler") },
];
