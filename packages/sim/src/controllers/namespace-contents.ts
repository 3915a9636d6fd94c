/** Puts into every namespace what pods expect there: a service account to run as, and the certificate to trust. */
import { coreV1, type Kind, type KubernetesObject } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "./component.ts";

const ACCOUNT = "default";
const CERTIFICATE = "kube-root-ca.crt";

export interface NamespaceContentsOptions {
  /** The certificate of the cluster's authority, in PEM. Default: none. */
  readonly rootCertificate?: string;
}

export class NamespaceContents implements Component {
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  readonly #certificate: string;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings, { rootCertificate = "" }: NamespaceContentsOptions = {}) {
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:service-account-controller");
    this.#bench = new Workbench(surroundings, (namespace) => this.#fill(namespace));
    this.#certificate = rootCertificate;
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Namespace, ({ type, object }) => {
        if (type !== "DELETED") this.#bench.add(object.metadata.name ?? "");
      }),
      this.#refillFrom(coreV1.ServiceAccount, ACCOUNT),
      this.#refillFrom(coreV1.ConfigMap, CERTIFICATE),
    ];
    for (const { metadata } of this.#api.list(coreV1.Namespace)) this.#fill(metadata.name ?? "");
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  /** What is taken out is put in again. */
  #refillFrom(kind: Kind<KubernetesObject>, name: string): () => void {
    return this.#api.onChange(kind, ({ type, object }) => {
      if (object.metadata.name === name && type !== "ADDED") this.#bench.add(object.metadata.namespace ?? "");
    });
  }

  #fill(namespace: string): void {
    const found = this.#api.get(coreV1.Namespace, { name: namespace });
    if (!found || found.metadata.deletionTimestamp !== undefined) return;
    if (!this.#api.get(coreV1.ServiceAccount, { namespace, name: ACCOUNT })) {
      this.#api.create(coreV1.ServiceAccount, { metadata: { namespace, name: ACCOUNT } });
    }
    const data = { "ca.crt": this.#certificate };
    const present = this.#api.get(coreV1.ConfigMap, { namespace, name: CERTIFICATE });
    if (!present) {
      const annotations = {
        "kubernetes.io/description":
          "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
      };
      this.#api.create(coreV1.ConfigMap, { metadata: { namespace, name: CERTIFICATE, annotations }, data });
    } else if (present.data?.["ca.crt"] !== this.#certificate) {
      this.#api.update(coreV1.ConfigMap, { ...present, data });
    }
  }
}
