/** What every cluster has from its first moment: Kubernetes' own namespaces and priorities, and the service by which pods find the API. */
import { coreV1, isAlreadyExists, schedulingV1 } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import type { Component, Surroundings } from "./component.ts";

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

export class Bootstrap implements Component {
  readonly #api: LocalApi;

  constructor({ server }: Surroundings) {
    this.#api = new LocalApi(server, "system:apiserver");
  }

  start(): void {
    for (const name of NAMESPACES) this.#ensure(() => this.#api.create(coreV1.Namespace, { metadata: { name } }));
    for (const priority of PRIORITIES) this.#ensure(() => this.#api.create(schedulingV1.PriorityClass, priority));
    this.#ensure(() => this.#api.create(coreV1.Service, kubernetesService));
  }

  stop(): void {}

  #ensure(create: () => unknown): void {
    try {
      create();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

/** Of what a cluster, or a node, cannot do without. Nobody else's can be as high. */
const PRIORITIES: readonly schedulingV1.PriorityClass[] = [
  {
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  },
  {
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  },
];

const kubernetesService: coreV1.Service = {
  metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
  spec: {
    type: "ClusterIP",
    clusterIP: "10.96.0.1",
    clusterIPs: ["10.96.0.1"],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    sessionAffinity: "None",
    ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
  },
};
