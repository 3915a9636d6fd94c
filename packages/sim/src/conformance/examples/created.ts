/** One of each kind, mostly with no more than it needs: what the server makes of them. */
import {
  appsV1,
  autoscalingV2,
  batchV1,
  coordinationV1,
  coreV1,
  discoveryV1,
  eventsV1,
  type Kind,
  networkingV1,
  policyV1,
  rbacV1,
  schedulingV1,
  storageV1,
} from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import { container, type Example, HERE, selector, template } from "./example.ts";

const objects: readonly [title: string, kind: Kind, object: JsonObject][] = [
  ["a plain pod", coreV1.Pod, { metadata: { name: "p" }, spec: { containers: [container] } }],
  [
    "a pod with everything",
    coreV1.Pod,
    {
      metadata: { name: "p2", labels: { x: "y" } },
      spec: {
        initContainers: [{ name: "i", image: "x:1", restartPolicy: "Always" }],
        containers: [
          {
            ...container,
            image: "nginx:1.2",
            ports: [{ containerPort: 80 }],
            env: [
              { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "B", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
            ],
            resources: { limits: { cpu: "1000m", memory: "0.5Gi" }, requests: { cpu: 0.1 } },
            livenessProbe: { httpGet: { port: 80 } },
            readinessProbe: { grpc: { port: 8 } },
            lifecycle: { preStop: { httpGet: { port: 80 } } },
            volumeMounts: [{ name: "v", mountPath: "/v" }],
            securityContext: { runAsUser: 0 },
          },
        ],
        hostNetwork: true,
        volumes: [
          { name: "v" },
          { name: "cm", configMap: { name: "x" } },
          { name: "s", secret: { secretName: "x" } },
          { name: "h", hostPath: { path: "/x" } },
          { name: "d", downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "metadata.name" } }] } },
          { name: "pr", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
          { name: "img", image: { reference: "foo" } },
          { name: "e", emptyDir: { sizeLimit: "1024Mi" } },
          {
            name: "eph",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            },
          },
          { name: "pvc", persistentVolumeClaim: { claimName: "x" } },
          { name: "nfs", nfs: { server: "a", path: "/" } },
          { name: "csi", csi: { driver: "a.b" } },
        ],
        tolerations: [{ key: "a", operator: "Exists" }],
      },
    },
  ],
  [
    "a pod behind a gate",
    coreV1.Pod,
    {
      metadata: { generateName: "generated-" },
      spec: {
        schedulingGates: [{ name: "a.b/c" }],
        containers: [container],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "zone",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { q: "r" } },
            matchLabelKeys: ["x"],
          },
        ],
      },
    },
  ],
  [
    "a pod with resources of its own",
    coreV1.Pod,
    {
      metadata: { name: "p4" },
      spec: {
        resources: { limits: { cpu: "1", memory: "1Gi" } },
        containers: [container, { name: "d", image: "x", resources: { requests: { cpu: "100m" } } }],
      },
    },
  ],
  [
    "a job",
    batchV1.Job,
    { metadata: { name: "j" }, spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } },
  ],
  [
    "a job with indexes",
    batchV1.Job,
    {
      metadata: { name: "j2" },
      spec: {
        completions: 3,
        completionMode: "Indexed",
        backoffLimitPerIndex: 1,
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
        template: { metadata: { labels: { a: "b" } }, spec: { restartPolicy: "Never", containers: [container] } },
      },
    },
  ],
  [
    "a cron job",
    batchV1.CronJob,
    {
      metadata: { name: "cj" },
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } },
      },
    },
  ],
  ["a deployment", appsV1.Deployment, { metadata: { name: "d" }, spec: { selector, template } }],
  ["a replica set", appsV1.ReplicaSet, { metadata: { name: "rs" }, spec: { selector, template } }],
  [
    "a stateful set",
    appsV1.StatefulSet,
    {
      metadata: { name: "sts" },
      spec: {
        selector,
        template,
        serviceName: "x",
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
  ],
  ["a daemon set", appsV1.DaemonSet, { metadata: { name: "ds" }, spec: { selector, template } }],
  ["a replication controller", coreV1.ReplicationController, { metadata: { name: "rc" }, spec: { template } }],
  ["a template", coreV1.PodTemplate, { metadata: { name: "pt" }, template }],
  ["a service", coreV1.Service, { metadata: { name: "s1" }, spec: { ports: [{ port: 80 }] } }],
  [
    "a service at nodes' ports",
    coreV1.Service,
    {
      metadata: { name: "s2" },
      spec: {
        type: "NodePort",
        selector: { a: "b" },
        ports: [
          { port: 80, name: "a" },
          { port: 81, name: "b", targetPort: "http" },
        ],
      },
    },
  ],
  [
    "a service without an address",
    coreV1.Service,
    { metadata: { name: "s3" }, spec: { clusterIP: "None", selector: { a: "b" } } },
  ],
  [
    "a service without an address and selector",
    coreV1.Service,
    { metadata: { name: "s4" }, spec: { clusterIP: "None" } },
  ],
  [
    "a service outside",
    coreV1.Service,
    { metadata: { name: "s5" }, spec: { type: "ExternalName", externalName: "a.b" } },
  ],
  [
    "a service with a balancer",
    coreV1.Service,
    {
      metadata: { name: "s6" },
      spec: {
        type: "LoadBalancer",
        externalTrafficPolicy: "Local",
        sessionAffinity: "ClientIP",
        ports: [{ port: 80 }],
      },
    },
  ],
  ["a config map", coreV1.ConfigMap, { metadata: { name: "cm" }, data: { a: "b" } }],
  ["an empty config map", coreV1.ConfigMap, { metadata: { name: "cm2" } }],
  ["a secret", coreV1.Secret, { metadata: { name: "se" }, stringData: { a: "b" }, data: { c: "ZA==" } }],
  [
    "an event",
    coreV1.Event,
    {
      metadata: { name: "ev" },
      involvedObject: { namespace: HERE, name: "x", kind: "Pod" },
      reason: "r",
      message: "m",
    },
  ],
  [
    "an event by its new name",
    eventsV1.Event,
    {
      metadata: { name: "ev2" },
      regarding: { namespace: HERE, name: "x", kind: "Pod" },
      reason: "r",
      note: "m",
      type: "Normal",
      action: "a",
      reportingController: "a.b/c",
      reportingInstance: "i",
      eventTime: "2026-01-01T00:00:00.000000Z",
    },
  ],
  ["an account", coreV1.ServiceAccount, { metadata: { name: "sa" } }],
  [
    "a claim",
    coreV1.PersistentVolumeClaim,
    {
      metadata: { name: "pvc" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ],
  [
    "a volume",
    coreV1.PersistentVolume,
    {
      metadata: { name: "pv" },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/x" } },
    },
  ],
  ["a node", coreV1.Node, { metadata: { name: "nodex" }, status: { capacity: { cpu: "4", memory: "8Gi" } } }],
  ["a namespace", coreV1.Namespace, { metadata: { name: "nsx" } }],
  [
    "a range of limits",
    coreV1.LimitRange,
    { metadata: { name: "lr" }, spec: { limits: [{ type: "Container", max: { cpu: "2" }, min: { memory: "1Mi" } }] } },
  ],
  ["a quota", coreV1.ResourceQuota, { metadata: { name: "rq" }, spec: { hard: { pods: "10" } } }],
  [
    "endpoints",
    coreV1.Endpoints,
    { metadata: { name: "ep" }, subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] },
  ],
  [
    "a slice of endpoints",
    discoveryV1.EndpointSlice,
    { metadata: { name: "eps" }, addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{ port: 80 }] },
  ],
  ["a priority", schedulingV1.PriorityClass, { metadata: { name: "pc" }, value: 5 }],
  ["a lease", coordinationV1.Lease, { metadata: { name: "le" }, spec: { holderIdentity: "x" } }],
  ["a budget", policyV1.PodDisruptionBudget, { metadata: { name: "pdb" }, spec: { minAvailable: 1, selector } }],
  [
    "a role",
    rbacV1.Role,
    { metadata: { name: "ro" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  ["a role of the cluster", rbacV1.ClusterRole, { metadata: { name: "cro" } }],
  [
    "a binding of a role",
    rbacV1.RoleBinding,
    {
      metadata: { name: "rob" },
      roleRef: { kind: "Role", name: "ro" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "ServiceAccount", name: "u", namespace: "x" },
      ],
    },
  ],
  [
    "an ingress",
    networkingV1.Ingress,
    {
      metadata: { name: "ing" },
      spec: {
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "x", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  ],
  [
    "a policy of the network",
    networkingV1.NetworkPolicy,
    { metadata: { name: "np" }, spec: { podSelector: {}, egress: [{ ports: [{ port: 80 }] }] } },
  ],
  [
    "an autoscaler",
    autoscalingV2.HorizontalPodAutoscaler,
    {
      metadata: { name: "hpa" },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" }, behavior: {} },
    },
  ],
  ["a class of storage", storageV1.StorageClass, { metadata: { name: "sc" }, provisioner: "a.b/c" }],
];

export const created: readonly Example[] = objects.map(([title, kind, object]) => ({ title, kind, object }));
