/** Changes of objects that are there, as merge patches: some may be, some not. */
import {
  appsV1,
  batchV1,
  coordinationV1,
  coreV1,
  discoveryV1,
  policyV1,
  rbacV1,
  schedulingV1,
  storageV1,
} from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import { container, type Example, selector, template } from "./example.ts";

/** An object, and what is tried with it, one after the other. What is accepted is only pretended. */
export interface Changed extends Example {
  readonly changes: readonly [title: string, patch: JsonObject][];
}

/** Nobody schedules it, and nothing is added to it. */
const quiet = { schedulerName: "nobody", automountServiceAccountToken: false };
const required = (...nodeSelectorTerms: JsonObject[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const on = (key: string, ...values: string[]) => ({ key, operator: "In", values });

const pods: readonly Changed[] = [
  {
    title: "a pod",
    kind: coreV1.Pod,
    object: {
      metadata: { name: "it", labels: { l: "1" } },
      spec: {
        ...quiet,
        activeDeadlineSeconds: 100,
        containers: [container],
        initContainers: [{ name: "i", image: "x:1" }],
        tolerations: [{ key: "k", operator: "Exists" }],
        nodeSelector: { a: "b" },
        affinity: required({ matchExpressions: [on("a", "b")] }),
      },
    },
    changes: [
      ["nothing", {}],
      ["labels and annotations", { metadata: { labels: { l: "2" }, annotations: { a: "b" } } }],
      ["labels that are none", { metadata: { labels: { "a b": "c d" } } }],
      ["images", { spec: { containers: [{ ...container, image: "other" }] } }],
      ["no image", { spec: { containers: [{ name: "c", imagePullPolicy: "Always" }] } }],
      ["the image of a first one", { spec: { initContainers: [{ name: "i", image: "y:1" }] } }],
      ["a shorter deadline", { spec: { activeDeadlineSeconds: 50 } }],
      ["a longer deadline", { spec: { activeDeadlineSeconds: 150 } }],
      ["no deadline", { spec: { activeDeadlineSeconds: null } }],
      [
        "more tolerations",
        {
          spec: {
            tolerations: [
              { key: "k", operator: "Exists" },
              { key: "l", operator: "Exists" },
            ],
          },
        },
      ],
      ["other tolerations", { spec: { tolerations: [{ key: "l", operator: "Exists" }] } }],
      ["more containers", { spec: { containers: [container, { name: "d", image: "x" }] } }],
      ["other names of containers", { spec: { containers: [{ ...container, name: "d" }] } }],
      ["variables", { spec: { containers: [{ ...container, env: [{ name: "A", value: "b" }] }] } }],
      ["resources", { spec: { containers: [{ ...container, resources: { limits: { cpu: "1" } } }] } }],
      ["a gate", { spec: { schedulingGates: [{ name: "g" }] } }],
      ["more of a selector", { spec: { nodeSelector: { c: "d" } } }],
      ["another node", { spec: { nodeName: "n" } }],
      ["less affinity", { spec: { affinity: null } }],
      ["another priority", { spec: { priority: 5 } }],
      ["another grace", { spec: { terminationGracePeriodSeconds: 1 } }],
      ["another scheduler", { spec: { schedulerName: "somebody" } }],
      ["its status", { status: { phase: "Running" } }],
      ["its finalizers", { metadata: { finalizers: ["conformance.berth.dev/held"] } }],
    ],
  },
  {
    title: "a pod behind gates",
    kind: coreV1.Pod,
    object: {
      metadata: { name: "it" },
      spec: {
        ...quiet,
        containers: [container],
        schedulingGates: [{ name: "g" }, { name: "h" }],
        nodeSelector: { a: "b" },
        affinity: {
          nodeAffinity: {
            ...required({ matchExpressions: [on("a", "b")] }, { matchFields: [on("metadata.name", "n")] }).nodeAffinity,
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [on("p", "q")] } },
            ],
          },
        },
      },
    },
    changes: [
      ["all gates", { spec: { schedulingGates: null } }],
      ["one gate", { spec: { schedulingGates: [{ name: "h" }] } }],
      ["gates in another order", { spec: { schedulingGates: [{ name: "h" }, { name: "g" }] } }],
      ["another gate", { spec: { schedulingGates: [{ name: "g" }, { name: "i" }] } }],
      ["more of a selector", { spec: { nodeSelector: { c: "d" } } }],
      ["more of a selector, and no gates", { spec: { nodeSelector: { c: "d" }, schedulingGates: [] } }],
      ["another selector", { spec: { nodeSelector: { a: "c" } } }],
      ["less of a selector", { spec: { nodeSelector: null } }],
      [
        "terms with more expressions",
        {
          spec: {
            affinity: required(
              { matchExpressions: [on("a", "b"), on("c", "d")] },
              { matchFields: [on("metadata.name", "n")], matchExpressions: [on("c", "d")] },
            ),
          },
        },
      ],
      [
        "terms with other expressions",
        {
          spec: {
            affinity: required({ matchExpressions: [on("a", "c")] }, { matchFields: [on("metadata.name", "n")] }),
          },
        },
      ],
      ["fewer terms", { spec: { affinity: required({ matchExpressions: [on("a", "b")] }) } }],
      [
        "more terms",
        {
          spec: {
            affinity: required(
              { matchExpressions: [on("a", "b")] },
              { matchFields: [on("metadata.name", "n")] },
              { matchExpressions: [on("c", "d")] },
            ),
          },
        },
      ],
      ["no terms", { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: null } } } }],
      [
        "other preferences",
        { spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: null } } } },
      ],
      ["no affinity", { spec: { affinity: null } }],
      [
        "affinity to pods",
        {
          spec: {
            affinity: {
              podAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a", labelSelector: {} }],
              },
            },
          },
        },
      ],
      ["a node", { spec: { nodeName: "n" } }],
      ["a node, and no gates", { spec: { nodeName: "n", schedulingGates: null } }],
      ["tolerations", { spec: { tolerations: [{ operator: "Exists" }] } }],
      ["resources", { spec: { containers: [{ ...container, resources: { requests: { cpu: "1" } } }] } }],
    ],
  },
  {
    title: "a pod behind a gate that may go anywhere",
    kind: coreV1.Pod,
    object: {
      metadata: { name: "it" },
      spec: { ...quiet, containers: [container], schedulingGates: [{ name: "g" }] },
    },
    changes: [
      ["a selector", { spec: { nodeSelector: { "kubernetes.io/hostname": "n" } } }],
      ["terms", { spec: { affinity: required({ matchFields: [on("metadata.name", "n")] }) } }],
      [
        "its node, its slot, and no gates",
        {
          metadata: { annotations: { "berth.dev/slot": "s" }, labels: { "berth.dev/slot": "s" } },
          spec: { schedulingGates: null, affinity: required({ matchFields: [on("metadata.name", "n")] }) },
        },
      ],
      [
        "preferences",
        {
          spec: {
            affinity: {
              nodeAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [
                  { weight: 1, preference: { matchExpressions: [on("p", "q")] } },
                ],
              },
            },
          },
        },
      ],
      [
        "distance to pods",
        {
          spec: {
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a", labelSelector: {} }],
              },
            },
          },
        },
      ],
    ],
  },
];

const work = { containers: [container], restartPolicy: "Never" };

const jobs: readonly Changed[] = [
  {
    title: "a job",
    kind: batchV1.Job,
    object: {
      metadata: { name: "it" },
      // No pods: nothing but us changes it.
      spec: { parallelism: 0, completions: 4, template: { spec: { ...work, ...quiet } } },
    },
    changes: [
      ["parallelism", { spec: { parallelism: 2 } }],
      ["completions", { spec: { completions: 5 } }],
      ["deadlines and limits", { spec: { activeDeadlineSeconds: 5, ttlSecondsAfterFinished: 5, backoffLimit: 1 } }],
      ["to suspend", { spec: { suspend: true } }],
      ["its selector", { spec: { selector: { matchLabels: { a: "b" } } } }],
      ["its mode", { spec: { completionMode: "Indexed" } }],
      ["its pods", { spec: { template: { spec: { nodeSelector: { a: "b" } } } } }],
      [
        "its failures",
        { spec: { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "A" }] }] } } },
      ],
      ["who does it", { spec: { managedBy: "conformance.berth.dev/x" } }],
    ],
  },
  {
    title: "a job that is suspended",
    kind: batchV1.Job,
    object: { metadata: { name: "it" }, spec: { suspend: true, completions: 4, template: { spec: work } } },
    changes: [
      [
        "where its pods go",
        { spec: { template: { spec: { nodeSelector: { a: "b" }, affinity: { nodeAffinity: {} } } } } },
      ],
      [
        "tolerations and gates",
        { spec: { template: { spec: { tolerations: [{ operator: "Exists" }], schedulingGates: [{ name: "g" }] } } } },
      ],
      ["labels of pods", { spec: { template: { metadata: { labels: { l: "1" }, annotations: { a: "b" } } } } }],
      [
        "resources of pods",
        { spec: { template: { spec: { containers: [{ ...container, resources: { requests: { cpu: "1" } } }] } } } },
      ],
      ["images of pods", { spec: { template: { spec: { containers: [{ ...container, image: "other" }] } } } }],
      ["to go on", { spec: { suspend: false } }],
    ],
  },
  {
    title: "a job with indexes",
    kind: batchV1.Job,
    object: {
      metadata: { name: "it" },
      spec: { suspend: true, completionMode: "Indexed", completions: 3, parallelism: 3, template: { spec: work } },
    },
    changes: [
      ["as many as at once", { spec: { completions: 5, parallelism: 5 } }],
      ["more than at once", { spec: { completions: 5 } }],
      ["a limit for each", { spec: { backoffLimitPerIndex: 1 } }],
    ],
  },
];

const others: readonly Changed[] = [
  {
    title: "a deployment",
    kind: appsV1.Deployment,
    object: { metadata: { name: "it" }, spec: { replicas: 0, paused: true, selector, template } },
    changes: [
      ["replicas", { spec: { replicas: 3 } }],
      ["fewer than none", { spec: { replicas: -1 } }],
      ["its selector", { spec: { selector: { matchLabels: { x: "y" } } } }],
      ["its pods", { spec: { template: { spec: { containers: [{ ...container, image: "other" }] } } } }],
      ["its strategy", { spec: { strategy: { type: "Recreate", rollingUpdate: null } } }],
      ["the labels of its pods", { spec: { template: { metadata: { labels: { a: "c" } } } } }],
    ],
  },
  {
    title: "a stateful set",
    kind: appsV1.StatefulSet,
    object: { metadata: { name: "it" }, spec: { replicas: 0, serviceName: "s", selector, template } },
    changes: [
      ["replicas", { spec: { replicas: 3 } }],
      ["its service", { spec: { serviceName: "t" } }],
      ["its order", { spec: { podManagementPolicy: "Parallel" } }],
    ],
  },
  {
    title: "a config map",
    kind: coreV1.ConfigMap,
    object: { metadata: { name: "it" }, data: { a: "b" }, immutable: true },
    changes: [
      ["labels", { metadata: { labels: { l: "1" } } }],
      ["data", { data: { a: "c" } }],
      ["to be changed again", { immutable: false }],
    ],
  },
  {
    title: "a secret",
    kind: coreV1.Secret,
    object: { metadata: { name: "it" }, stringData: { a: "b" } },
    changes: [
      ["data", { stringData: { a: "c" } }],
      ["its type", { type: "other" }],
    ],
  },
  {
    title: "a service",
    kind: coreV1.Service,
    object: { metadata: { name: "it" }, spec: { ports: [{ port: 80 }] } },
    changes: [
      ["ports", { spec: { ports: [{ port: 81 }] } }],
      ["its address", { spec: { clusterIP: "10.96.77.77", clusterIPs: ["10.96.77.77"] } }],
      ["no address", { spec: { clusterIP: "None", clusterIPs: ["None"] } }],
      ["its type", { spec: { type: "NodePort" } }],
      ["to be outside", { spec: { type: "ExternalName", externalName: "example.com" } }],
    ],
  },
  {
    title: "a slice of endpoints",
    kind: discoveryV1.EndpointSlice,
    object: { metadata: { name: "it" }, addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] },
    changes: [
      ["addresses", { endpoints: [{ addresses: ["10.0.0.2"] }] }],
      ["its type", { addressType: "IPv6" }],
    ],
  },
  {
    title: "a lease",
    kind: coordinationV1.Lease,
    object: { metadata: { name: "it" }, spec: { holderIdentity: "a", leaseDurationSeconds: 5 } },
    changes: [
      ["who holds it", { spec: { holderIdentity: "b" } }],
      ["how long", { spec: { leaseDurationSeconds: 0 } }],
    ],
  },
  {
    title: "a budget",
    kind: policyV1.PodDisruptionBudget,
    object: { metadata: { name: "it" }, spec: { minAvailable: 1, selector } },
    changes: [
      ["how many", { spec: { minAvailable: "50%" } }],
      ["both", { spec: { maxUnavailable: 1 } }],
    ],
  },
  {
    title: "a binding of a role",
    kind: rbacV1.RoleBinding,
    object: { metadata: { name: "it" }, roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "User", name: "u" }] },
    changes: [
      ["whom", { subjects: [{ kind: "User", name: "v" }] }],
      ["which", { roleRef: { name: "s" } }],
    ],
  },
  {
    title: "a claim",
    kind: coreV1.PersistentVolumeClaim,
    object: {
      metadata: { name: "it" },
      spec: { storageClassName: "", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    changes: [
      ["labels", { metadata: { labels: { l: "1" } } }],
      ["more", { spec: { resources: { requests: { storage: "2Gi" } } } }],
      ["how it is used", { spec: { accessModes: ["ReadOnlyMany"] } }],
    ],
  },
];

/** Of the whole cluster: the name is completed by whoever uses them. */
const everywhere: readonly Changed[] = [
  {
    title: "a node",
    kind: coreV1.Node,
    object: { metadata: { name: "it" }, spec: { podCIDR: "10.1.0.0/24", unschedulable: true } },
    changes: [
      ["labels", { metadata: { labels: { l: "1" } } }],
      ["to be used", { spec: { unschedulable: false } }],
      ["taints", { spec: { taints: [{ key: "a", effect: "NoExecute" }] } }],
      ["taints that are none", { spec: { taints: [{ key: "a", effect: "Perhaps" }] } }],
      ["its range", { spec: { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24"] } }],
      ["who provided it", { spec: { providerID: "p" } }],
    ],
  },
  {
    title: "a priority",
    kind: schedulingV1.PriorityClass,
    object: { metadata: { name: "it" }, value: 5 },
    changes: [
      ["words", { description: "d" }],
      ["how high", { value: 6 }],
      ["whom it drives out", { preemptionPolicy: "Never" }],
    ],
  },
  {
    title: "a class of storage",
    kind: storageV1.StorageClass,
    object: { metadata: { name: "it" }, provisioner: "example.com/p" },
    changes: [
      ["growth", { allowVolumeExpansion: true }],
      ["who provides it", { provisioner: "example.com/q" }],
      ["what becomes of it", { reclaimPolicy: "Retain" }],
    ],
  },
  {
    title: "a namespace",
    kind: coreV1.Namespace,
    object: { metadata: { name: "it" } },
    changes: [
      ["labels", { metadata: { labels: { l: "1" } } }],
      ["its own label", { metadata: { labels: { "kubernetes.io/metadata.name": "x" } } }],
      ["its finalizers", { spec: { finalizers: [] } }],
    ],
  },
];

export const changedPods = pods;
export const changedJobs = jobs;
export const changedObjects = [...others, ...everywhere];
