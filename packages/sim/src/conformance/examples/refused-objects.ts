/** Objects of other kinds that cannot be. */
import {
  appsV1,
  batchV1,
  coordinationV1,
  coreV1,
  discoveryV1,
  type Kind,
  policyV1,
  rbacV1,
  schedulingV1,
  storageV1,
} from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import { container, type Example, selector, template } from "./example.ts";

const metadata = { name: "it" };
const job = (spec: JsonObject, pod: JsonObject = {}) => ({
  metadata,
  spec: { template: { spec: { restartPolicy: "Never", containers: [container], ...pod } }, ...spec },
});

const objects: readonly [title: string, kind: Kind, object: JsonObject][] = [
  ["jobs: no template", batchV1.Job, { metadata, spec: {} }],
  [
    "jobs: numbers",
    batchV1.Job,
    job({ parallelism: -1, completions: -1, backoffLimit: -1, activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1 }),
  ],
  ["jobs: restarts", batchV1.Job, job({}, { restartPolicy: "Always" })],
  ["jobs: restarts that are none", batchV1.Job, job({}, { restartPolicy: "Perhaps" })],
  ["jobs: a selector of their own", batchV1.Job, job({ selector })],
  ["jobs: a selector by hand that selects nothing", batchV1.Job, job({ manualSelector: true, selector })],
  ["jobs: mode", batchV1.Job, job({ completionMode: "Some" })],
  ["jobs: too many indexes", batchV1.Job, job({ completionMode: "Indexed", completions: 200000, parallelism: 200000 })],
  ["jobs: limits for each of no indexes", batchV1.Job, job({ backoffLimitPerIndex: 1, maxFailedIndexes: 1 })],
  [
    "jobs: policy of failures",
    batchV1.Job,
    job(
      {
        podFailurePolicy: {
          rules: [
            { action: "Ignore" },
            { action: "Some", onPodConditions: [{ type: "a b" }] },
            { action: "FailIndex", onExitCodes: { operator: "In", values: [] } },
            { action: "FailJob", onExitCodes: { operator: "NotIn", values: [0, 2, 1], containerName: "nobody" } },
          ],
        },
      },
      { restartPolicy: "OnFailure" },
    ),
  ],
  ["jobs: policy of success", batchV1.Job, job({ successPolicy: { rules: [{ succeededIndexes: "5-1" }] } })],
  ["jobs: policy of replacement", batchV1.Job, job({ podReplacementPolicy: "Some", managedBy: "a b" })],
  [
    "jobs: replacement against failures",
    batchV1.Job,
    job({
      podReplacementPolicy: "TerminatingOrFailed",
      podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
    }),
  ],
  [
    "jobs: the pods of the template",
    batchV1.Job,
    job({}, { containers: [{ name: "C", image: "" }], nodeSelector: { "a b": "" } }),
  ],
  [
    "jobs: a name that is too long for pods",
    batchV1.Job,
    { ...job({ completionMode: "Indexed", completions: 10 }), metadata: { name: "j".repeat(62) } },
  ],
  [
    "cron jobs",
    batchV1.CronJob,
    {
      metadata: { name: "c".repeat(53) },
      spec: {
        schedule: "* * * *",
        timeZone: "Local",
        concurrencyPolicy: "Some",
        startingDeadlineSeconds: -1,
        successfulJobsHistoryLimit: -1,
        jobTemplate: job({}, { restartPolicy: "Always" }),
      },
    },
  ],
  ["deployments: no selector", appsV1.Deployment, { metadata, spec: { template } }],
  ["deployments: an empty selector", appsV1.Deployment, { metadata, spec: { selector: {}, template } }],
  [
    "deployments: a selector of others",
    appsV1.Deployment,
    { metadata, spec: { selector: { matchLabels: { a: "c" } }, template } },
  ],
  [
    "deployments: numbers",
    appsV1.Deployment,
    {
      metadata,
      spec: {
        replicas: -1,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        progressDeadlineSeconds: 0,
        selector,
        template,
      },
    },
  ],
  [
    "deployments: strategy",
    appsV1.Deployment,
    { metadata, spec: { strategy: { type: "Recreate", rollingUpdate: {} }, selector, template } },
  ],
  [
    "deployments: nothing may be missing or over",
    appsV1.Deployment,
    { metadata, spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } }, selector, template } },
  ],
  [
    "deployments: restarts",
    appsV1.Deployment,
    { metadata, spec: { selector, template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } } },
  ],
  [
    "replica sets",
    appsV1.ReplicaSet,
    { metadata, spec: { replicas: -1, selector: { matchLabels: { x: "y" } }, template } },
  ],
  [
    "stateful sets",
    appsV1.StatefulSet,
    { metadata, spec: { podManagementPolicy: "Some", updateStrategy: { type: "Some" }, selector, template } },
  ],
  [
    "daemon sets",
    appsV1.DaemonSet,
    {
      metadata,
      spec: {
        updateStrategy: { type: "Some" },
        selector,
        template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 1 } },
      },
    },
  ],
  [
    "nodes: taints",
    coreV1.Node,
    {
      metadata,
      spec: {
        taints: [
          { key: "a b", effect: "NoSchedule" },
          { key: "a", effect: "Some" },
          { key: "b", effect: "NoSchedule" },
          { key: "b", effect: "NoSchedule" },
        ],
        podCIDRs: ["x"],
      },
    },
  ],
  ["namespaces", coreV1.Namespace, { metadata: { name: "a.b" }, spec: { finalizers: ["mine"] } }],
  ["priorities: those of the system", schedulingV1.PriorityClass, { metadata: { name: "system-it" }, value: 1 }],
  ["priorities: too high", schedulingV1.PriorityClass, { metadata, value: 1000000001, preemptionPolicy: "Some" }],
  ["config maps", coreV1.ConfigMap, { metadata, data: { "a b": "", c: "" }, binaryData: { c: "" } }],
  ["secrets: what their type needs", coreV1.Secret, { metadata, type: "kubernetes.io/tls", data: { "..": "" } }],
  [
    "services: ports",
    coreV1.Service,
    { metadata, spec: { ports: [{ port: 0 }, { port: 80, protocol: "tcp", targetPort: "-", nodePort: 30000 }] } },
  ],
  ["services: none", coreV1.Service, { metadata, spec: {} }],
  ["services: names", coreV1.Service, { metadata: { name: "1.2" }, spec: { ports: [{ port: 80 }] } }],
  ["services: types", coreV1.Service, { metadata, spec: { type: "Some", ports: [{ port: 80 }] } }],
  [
    "services: outside",
    coreV1.Service,
    { metadata, spec: { type: "ExternalName", externalName: "A b", clusterIP: "10.96.0.20" } },
  ],
  ["services: an address that is none", coreV1.Service, { metadata, spec: { clusterIP: "x", ports: [{ port: 80 }] } }],
  [
    "services: an address out of range",
    coreV1.Service,
    { metadata, spec: { clusterIP: "10.1.1.1", ports: [{ port: 80 }] } },
  ],
  [
    "leases",
    coordinationV1.Lease,
    { metadata, spec: { leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: "" } },
  ],
  ["events: of another namespace", coreV1.Event, { metadata, involvedObject: { namespace: "other" } }],
  [
    "budgets",
    policyV1.PodDisruptionBudget,
    { metadata, spec: { minAvailable: "150%", maxUnavailable: -1, selector: { matchLabels: { "a b": "c" } } } },
  ],
  [
    "quotas",
    coreV1.ResourceQuota,
    { metadata, spec: { hard: { pods: "-1", gpu: "1" }, scopes: ["BestEffort", "NotBestEffort", "Some"] } },
  ],
  [
    "ranges of limits",
    coreV1.LimitRange,
    {
      metadata,
      spec: {
        limits: [
          { type: "Container", min: { cpu: "2" }, max: { cpu: "1" }, default: { cpu: "3" } },
          { type: "Container" },
          { type: "some" },
        ],
      },
    },
  ],
  [
    "claims",
    coreV1.PersistentVolumeClaim,
    { metadata, spec: { accessModes: ["Some"], resources: { requests: { storage: "0" } } } },
  ],
  ["roles", rbacV1.Role, { metadata, rules: [{ verbs: [] }, { verbs: ["get"], nonResourceURLs: ["/"] }] }],
  [
    "bindings of roles",
    rbacV1.RoleBinding,
    {
      metadata,
      roleRef: { apiGroup: "x", kind: "Some", name: "" },
      subjects: [
        { kind: "User", name: "" },
        { kind: "ServiceAccount", name: "A" },
        { kind: "Some", name: "x" },
      ],
    },
  ],
  [
    "slices of endpoints",
    discoveryV1.EndpointSlice,
    {
      metadata,
      addressType: "IPv4",
      endpoints: [{ addresses: ["x", "127.0.0.1"] }],
      ports: [{ name: "A B", protocol: "tcp" }],
    },
  ],
  [
    "classes of storage",
    storageV1.StorageClass,
    { metadata, provisioner: "", reclaimPolicy: "Some", volumeBindingMode: "Other" },
  ],
];

export const refusedObjects: readonly Example[] = objects.map(([title, kind, object]) => ({ title, kind, object }));
