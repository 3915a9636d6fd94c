/** What every cluster has from its first moment: Kubernetes' own namespaces, and the service by which pods find the API. */
import { coreV1, isAlreadyExists } from "@berth/kube";
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
