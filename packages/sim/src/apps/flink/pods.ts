/** What Flink makes in a cluster, in native mode: the JobManager's Deployment, and TaskManagers' pods. Pure. */
import type { appsV1, coreV1 } from "@berth/kube";
import { listOr, mergedTemplates, templateOf } from "../pod-template.ts";
import { resourcesOf } from "./conf.ts";
import { componentLabels, FLINK_CONTAINER, type FlinkDeployment } from "./deployment.ts";

const ENTRYPOINT = ["/docker-entrypoint.sh"];
const CONF_DIRECTORY = "/opt/flink/conf";

export function jobManagerDeployment(flink: FlinkDeployment): appsV1.Deployment {
  const { metadata, spec } = flink;
  const { name = "", namespace = "default", uid = "", generation = 1 } = metadata;
  const template = templateOf(mergedTemplates(spec.podTemplate, spec.jobManager?.podTemplate), FLINK_CONTAINER);
  const labels = componentLabels(name, "jobmanager");
  const annotations = { "flinkdeployment.flink.apache.org/generation": String(generation) };
  const target = spec.job ? "kubernetes-application" : "kubernetes-session";
  const container: coreV1.Container = {
    ...mainContainer(flink, template.container, "jobmanager"),
    command: ENTRYPOINT,
    args: ["bash", "-c", `kubernetes-jobmanager.sh ${target} `],
    ports: [
      ...listOr(template.container.ports),
      { name: "rest", containerPort: 8081, protocol: "TCP" },
      { name: "jobmanager-rpc", containerPort: 6123, protocol: "TCP" },
      { name: "blobserver", containerPort: 6124, protocol: "TCP" },
    ],
    env: [...listOr(template.container.env), fieldVariable("_POD_IP_ADDRESS", "status.podIP")],
    volumeMounts: [
      ...listOr(template.container.volumeMounts),
      { name: "user-artifacts-volume", mountPath: "/opt/flink/artifacts" },
      { name: "flink-config-volume", mountPath: CONF_DIRECTORY },
    ],
  };
  const { restartPolicy: _, ...podSpec } = template.spec;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace,
      labels,
      annotations,
      ownerReferences: [
        {
          apiVersion: "flink.apache.org/v1beta1",
          kind: "FlinkDeployment",
          name,
          uid,
          controller: false,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas: spec.jobManager?.replicas ?? 1,
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels: { ...template.labels, ...labels },
          annotations: { ...template.annotations, ...annotations },
        },
        spec: {
          ...podSpec,
          ...accountOf(flink),
          containers: [...template.containers, container],
          volumes: [
            ...listOr(template.spec.volumes),
            { name: "user-artifacts-volume", emptyDir: {} },
            configVolume(name),
          ],
        },
      },
    },
  };
}

/** @param owner - The JobManager's Deployment. */
export function taskManagerPod(flink: FlinkDeployment, owner: appsV1.Deployment, podName: string): coreV1.Pod {
  const { metadata, spec } = flink;
  const { name = "", namespace = "default" } = metadata;
  const template = templateOf(mergedTemplates(spec.podTemplate, spec.taskManager?.podTemplate), FLINK_CONTAINER);
  const container: coreV1.Container = {
    ...mainContainer(flink, template.container, "taskmanager"),
    command: ENTRYPOINT,
    args: ["bash", "-c", `kubernetes-taskmanager.sh -Dtaskmanager.resource-id=${podName}`],
    ports: [...listOr(template.container.ports), { name: "taskmanager-rpc", containerPort: 6122, protocol: "TCP" }],
    env: [
      ...listOr(template.container.env),
      fieldVariable("_POD_NODE_ID", "spec.nodeName"),
      { name: "FLINK_TM_JVM_MEM_OPTS", value: "" },
    ],
    volumeMounts: [
      ...listOr(template.container.volumeMounts),
      { name: "flink-config-volume", mountPath: CONF_DIRECTORY },
    ],
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podName,
      namespace,
      labels: { ...template.labels, ...componentLabels(name, "taskmanager") },
      ...(Object.keys(template.annotations).length > 0 && { annotations: template.annotations }),
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: owner.metadata.name ?? name,
          uid: owner.metadata.uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...template.spec,
      ...accountOf(flink),
      restartPolicy: "Never",
      containers: [...template.containers, container],
      volumes: [...listOr(template.spec.volumes), configVolume(name)],
    },
  };
}

function mainContainer(
  { spec }: FlinkDeployment,
  template: ReturnType<typeof templateOf>["container"],
  component: "jobmanager" | "taskmanager",
): coreV1.Container {
  const { requests, limits } = resourcesOf(spec, component);
  const { resources } = template;
  return {
    ...template,
    name: FLINK_CONTAINER,
    image: spec.image ?? template.image ?? "flink",
    imagePullPolicy: (spec.imagePullPolicy ?? template.imagePullPolicy ?? "IfNotPresent") as "IfNotPresent",
    resources: {
      ...resources,
      requests: { ...resources?.requests, ...requests },
      limits: { ...resources?.limits, ...limits },
    },
  };
}

function accountOf({ spec: { serviceAccount } }: FlinkDeployment) {
  return serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount, serviceAccount };
}

function configVolume(cluster: string): coreV1.Volume {
  return { name: "flink-config-volume", configMap: { name: `flink-config-${cluster}` } };
}

function fieldVariable(name: string, fieldPath: string): coreV1.EnvVar {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}
