/** Objects as programs write them, held to the generated types; the type checker does most of the testing. */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Kind, KubernetesObject, ObjectOf } from "../objects/meta.ts";
import * as kinds from "./index.ts";
import { appsV1, type autoscalingV1, batchV1, coordinationV1, coreV1, type policyV1, rbacV1 } from "./index.ts";

const template = {
  metadata: { labels: { app: "web" } },
  spec: {
    restartPolicy: "Never",
    nodeSelector: { zone: "a" },
    tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
    containers: [
      {
        name: "main",
        image: "example.org/web:1",
        imagePullPolicy: "IfNotPresent",
        env: [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: { requests: { cpu: "500m", memory: "1Gi" }, limits: { "example.org/gpu": "1" } },
        readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
      },
    ],
  },
} satisfies coreV1.PodTemplateSpec;

describe("types", () => {
  it("fit a Pod", () => {
    const pod: coreV1.Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: template.spec };
    expectTypeOf(pod.status?.phase).toEqualTypeOf<
      "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown" | undefined
    >();
    expectTypeOf(pod.spec?.containers[0]?.resources?.requests).toEqualTypeOf<Record<string, string> | undefined>();
  });

  it("fit a Deployment, with types of other group-versions and our own", () => {
    const deployment: appsV1.Deployment = {
      metadata: { name: "web", namespace: "default" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
        template: { ...template, spec: { ...template.spec, restartPolicy: "Always" } },
      },
    };
    expectTypeOf(deployment.spec?.template.spec).toEqualTypeOf<coreV1.PodSpec | undefined>();
  });

  it("fit a Job, a Lease, a ClusterRole, and what is sent to subresources", () => {
    const job: batchV1.Job = {
      metadata: { generateName: "job-" },
      spec: { completionMode: "Indexed", completions: 2, backoffLimit: 0, template },
    };
    const lease = {
      metadata: { name: "leader" },
      spec: { holderIdentity: "me", renewTime: "2026-01-01T00:00:00.000000Z" },
    } satisfies coordinationV1.Lease;
    const role = {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    } satisfies rbacV1.ClusterRole;
    const sent: [policyV1.Eviction, autoscalingV1.Scale, coreV1.Binding] = [
      { metadata: { name: "web" }, deleteOptions: { preconditions: { uid: "1" } } },
      { metadata: { name: "web" }, spec: { replicas: 5 } },
      { metadata: { name: "web" }, target: { kind: "Node", name: "node-0" } },
    ];
    expectTypeOf([job, lease, role, ...sent]).toExtend<KubernetesObject[]>();
  });

  it("refuse what the server would refuse", () => {
    // @ts-expect-error: a pod has containers
    ({ metadata: {}, spec: {} }) satisfies coreV1.Pod;
    // @ts-expect-error: there is no such policy
    ({ containers: [], restartPolicy: "Sometimes" }) satisfies coreV1.PodSpec;
    // @ts-expect-error: a misspelt field
    ({ metadata: {}, spec: { holder: "me" } }) satisfies coordinationV1.Lease;
    // @ts-expect-error: quantities are texts
    ({ requests: { cpu: 1 } }) satisfies coreV1.ResourceRequirements;
  });
});

describe("values", () => {
  it("say where the objects of a type are", () => {
    expect(coreV1.Pod).toMatchObject({ group: "", version: "v1", apiVersion: "v1", plural: "pods", namespaced: true });
    expect(coreV1.Node).toMatchObject({ kind: "Node", plural: "nodes", namespaced: false });
    expect(rbacV1.ClusterRole).toMatchObject({
      ...{ group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" },
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", plural: "clusterroles", namespaced: false },
    });
    expectTypeOf<ObjectOf<typeof coreV1.Pod>>().toEqualTypeOf<coreV1.Pod>();
    expectTypeOf(batchV1.Job).toExtend<Kind<batchV1.Job>>();
    expectTypeOf(coordinationV1.Lease).toExtend<Kind>();
  });

  it("are each of a kind of their own, by the name that they have", () => {
    const values = Object.values(kinds).flatMap((module) => Object.entries<Kind>(module));
    for (const [name, { kind }] of values) expect(kind).toBe(name);
    expect(new Set(values.map(([, { apiVersion, plural }]) => `${apiVersion} ${plural}`)).size).toBe(values.length);
    expect(Object.keys(appsV1)).toEqual(["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]);
  });
});
