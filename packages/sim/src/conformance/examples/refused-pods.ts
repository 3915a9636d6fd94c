/** Pods that cannot be. */
import { coreV1 } from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import { container, type Example } from "./example.ts";

const pod = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [container], ...spec },
});
const one = (more: JsonObject, spec: JsonObject = {}) => pod({ ...spec, containers: [{ ...container, ...more }] });
const term = (expression: JsonObject) =>
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
      },
    },
  });

const pods: readonly [title: string, object: JsonObject][] = [
  ["no name", pod({}, { name: "" })],
  ["a name with capitals", pod({}, { name: "Pod" })],
  ["a name that is too long", pod({}, { name: "p".repeat(254) })],
  ["labels", pod({}, { labels: { "-a": "b", a: "b c" } })],
  ["annotations", pod({}, { annotations: { "a/b/c": "" } })],
  ["finalizers", pod({}, { finalizers: ["mine"] })],
  ["owners", pod({}, { ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "" }] })],
  ["no containers", { metadata: { name: "p" }, spec: {} }],
  ["a container without name and image", pod({ containers: [{}] })],
  ["the name of a container", one({ name: "C" })],
  ["two containers of a name", pod({ containers: [container, container], initContainers: [container] })],
  ["an image with spaces", one({ image: " busybox" })],
  ["a policy for images", one({ imagePullPolicy: "Sometimes" })],
  ["restarts", pod({ restartPolicy: "Sometimes" })],
  ["a negative request", one({ resources: { requests: { cpu: "-1" } } })],
  [
    "more requested than allowed",
    one({ resources: { requests: { cpu: "2", memory: "2Gi" }, limits: { cpu: "1", memory: "1Gi" } } }),
  ],
  ["unknown resources", one({ resources: { requests: { gpu: "1", "-x/y": "1" } } })],
  ["half of a device", one({ resources: { limits: { "example.com/gpu": "500m" } } })],
  ["devices requested but not limited", one({ resources: { requests: { "example.com/gpu": "1" } } })],
  [
    "fewer devices than allowed",
    one({ resources: { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } } }),
  ],
  ["big pages alone", one({ resources: { limits: { "hugepages-2Mi": "2Mi" } } })],
  [
    "ports",
    one({
      ports: [
        { containerPort: 0 },
        { containerPort: 70000, name: "Too_Long_A_Name_For_A_Port" },
        { containerPort: 80, protocol: "tcp", hostPort: -1 },
      ],
    }),
  ],
  [
    "ports of a name",
    one({
      ports: [
        { containerPort: 80, name: "a" },
        { containerPort: 81, name: "a" },
      ],
    }),
  ],
  [
    "ports of the host, twice",
    one({
      ports: [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostPort: 80 },
      ],
    }),
  ],
  ["ports of the host that are others", one({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true })],
  [
    "variables",
    one({
      env: [
        { name: "" },
        { name: "a=b" },
        { name: "A", value: "b", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "B", valueFrom: { fieldRef: { fieldPath: "status.phase" } } },
        { name: "C", valueFrom: {} },
      ],
    }),
  ],
  [
    "variables from elsewhere",
    one({
      envFrom: [
        { prefix: "a=" },
        { configMapRef: { name: "" } },
        { configMapRef: { name: "a" }, secretRef: { name: "b" } },
      ],
    }),
  ],
  [
    "mounts",
    one(
      {
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "w", mountPath: "/v", subPath: "../x" },
          { name: "w", mountPath: "" },
        ],
      },
      { volumes: [{ name: "w", emptyDir: {} }] },
    ),
  ],
  [
    "volumes",
    pod({
      volumes: [
        { name: "" },
        { name: "a", emptyDir: { sizeLimit: "-1" } },
        { name: "A", hostPath: { path: "" } },
        { name: "b", secret: {} },
        { name: "c", configMap: { name: "x", items: [{ key: "", path: "../y" }], defaultMode: 4096 } },
      ],
    }),
  ],
  [
    "volumes that are two things, and of one name",
    pod({
      volumes: [
        { name: "a", emptyDir: {}, hostPath: { path: "/" } },
        { name: "b", emptyDir: {} },
        { name: "b", emptyDir: {} },
      ],
    }),
  ],
  [
    "probes",
    one({
      livenessProbe: {},
      readinessProbe: { httpGet: { port: 0 }, periodSeconds: -1 },
      startupProbe: { exec: {}, tcpSocket: { port: "" }, successThreshold: 2 },
    }),
  ],
  ["hooks", one({ lifecycle: { preStop: {}, postStart: { exec: { command: [] } } } })],
  [
    "rights",
    one({
      securityContext: {
        runAsUser: -1,
        privileged: true,
        allowPrivilegeEscalation: false,
        capabilities: { add: ["CAP_SYS_ADMIN"] },
      },
    }),
  ],
  ["the node of a selector", pod({ nodeSelector: { "a b": "c d" } })],
  ["the name of a node", pod({ nodeName: "N" })],
  ["deadlines", pod({ activeDeadlineSeconds: 0 })],
  [
    "tolerations",
    pod({
      tolerations: [
        { key: "a b", operator: "Exists", value: "x" },
        { operator: "Equal" },
        { key: "a", effect: "Sometimes" },
        { key: "a", effect: "NoSchedule", tolerationSeconds: 1 },
        { key: "a", operator: "Like", value: "b" },
      ],
    }),
  ],
  ["expressions: nothing to compare with", term({ key: "a", operator: "In" })],
  ["expressions: more than can be compared with", term({ key: "a", operator: "Exists", values: ["b"] })],
  ["expressions: operator", term({ key: "a", operator: "Like", values: ["b"] })],
  ["expressions: key", term({ key: "", operator: "Exists" })],
  [
    "terms: none",
    pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } }),
  ],
  [
    "terms: fields",
    pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchFields: [{ key: "spec.x", operator: "In", values: ["a"] }] },
              { matchFields: [{ key: "metadata.name", operator: "Exists" }] },
              { matchFields: [{ key: "metadata.name", operator: "In", values: ["a", "b"] }] },
            ],
          },
        },
      },
    }),
  ],
  [
    "terms: weight",
    pod({
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }] },
      },
    }),
  ],
  [
    "affinity to pods",
    pod({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "" },
            {
              topologyKey: "a",
              namespaces: ["N"],
              labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
            },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: "a" } }],
        },
      },
    }),
  ],
  [
    "spread",
    pod({
      topologySpreadConstraints: [
        { maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Perhaps" },
        { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 },
        { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "ScheduleAnyway" },
      ],
    }),
  ],
  ["gates", pod({ schedulingGates: [{ name: "a b" }, { name: "a" }, { name: "a" }] })],
  ["gates and a node", pod({ nodeName: "n", schedulingGates: [{ name: "a" }] })],
  ["gates without a name", pod({ schedulingGates: [{ name: "" }] })],
  ["preemption", pod({ preemptionPolicy: "Perhaps" })],
  ["names in the network", pod({ hostname: "A", subdomain: "B.c", dnsPolicy: "Else" })],
  ["servers of names", pod({ dnsPolicy: "None", dnsConfig: { nameservers: ["x"] } })],
  ["who runs it", pod({ serviceAccountName: "A b" })],
  ["containers that look into it", pod({ ephemeralContainers: [{ name: "e", image: "x" }] })],
  [
    "a container that runs first and has probes",
    pod({ initContainers: [{ name: "i", image: "x", readinessProbe: { exec: { command: ["a"] } } }] }),
  ],
  ["systems", pod({ os: { name: "dos" } })],
  ["readiness", pod({ readinessGates: [{ conditionType: "a b" }] })],
  ["secrets for images", pod({ imagePullSecrets: [{ name: "" }], hostAliases: [{ ip: "x", hostnames: ["A_b"] }] })],
  ["what everything needs", pod({ overhead: { cpu: "-1" } })],
];

export const refusedPods: readonly Example[] = pods.map(([title, object]) => ({ title, kind: coreV1.Pod, object }));
