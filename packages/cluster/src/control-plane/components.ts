/** The control plane's components: pure rules from what a cluster is to the command lines that make it. */
import type { Binaries } from "../binaries/binaries.ts";
import type { ClusterPlaces } from "../places.ts";
import type { ComponentSpec } from "../process/component.ts";
import type { KeyPair } from "./pki.ts";

export interface ControlPlane {
  readonly binaries: Binaries;
  readonly places: ClusterPlaces;
  /** The address the API server listens on: loopback, or the bridge if real nodes must reach it. */
  readonly address: string;
  readonly ports: {
    readonly etcdHealth: number;
    readonly apiServer: number;
    readonly controllerManager: number;
    readonly kwok: number;
  };
  readonly pki: {
    readonly authority: string;
    readonly server: KeyPair;
    readonly admin: KeyPair;
    readonly serviceAccount: { readonly publicKey: string; readonly privateKey: string };
  };
  /** The audit policy's file; without one there is no audit log. */
  readonly auditPolicy?: string | undefined;
  /** How many KWOK nodes there will be about; decides how often each of them sends a heartbeat. */
  readonly kwokNodes: number;
}

export function apiServerUrl({ address, ports }: Pick<ControlPlane, "address" | "ports">): string {
  return `https://${address}:${ports.apiServer}`;
}

export function etcd({ binaries, places, ports }: ControlPlane): ComponentSpec {
  const health = `http://127.0.0.1:${ports.etcdHealth}`;
  return {
    name: "etcd",
    command: [
      binaries.etcd,
      `--data-dir=${places.etcd}`,
      // A socket in the cluster's folder, which is closed to others: whoever writes to etcd commands the cluster, and a
      // port on loopback is everybody's on this machine. Certificates would do as well, and make every start slower.
      `--listen-client-urls=${ETCD_SOCKET}`,
      `--advertise-client-urls=${ETCD_SOCKET}`,
      "--listen-peer-urls=unix://etcd-peer.sock:0",
      `--listen-metrics-urls=${health}`,
      // Alone it has nobody to wait for before it elects itself; the usual second would be lost at every start.
      "--heartbeat-interval=10",
      "--election-timeout=100",
      // Survives the death of etcd, which is what we test; only the death of the machine could lose a write.
      "--unsafe-no-fsync",
      "--quota-backend-bytes=8589934592",
      "--log-level=warn",
    ],
    health: `${health}/health`,
  };
}

/** Relative to the folder that components run in: a socket's path must be short. */
const ETCD_SOCKET = "unix://etcd.sock:0"; // etcd wants a port, which is part of the file's name here

export function apiServer(plane: ControlPlane): ComponentSpec {
  const { binaries, places, ports, pki, address, auditPolicy } = plane;
  return {
    name: "kube-apiserver",
    command: [
      binaries["kube-apiserver"],
      `--etcd-servers=${ETCD_SOCKET}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${ports.apiServer}`,
      `--tls-cert-file=${pki.server.certificate}`,
      `--tls-private-key-file=${pki.server.key}`,
      `--client-ca-file=${pki.authority}`,
      "--authorization-mode=Node,RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${pki.serviceAccount.publicKey}`,
      `--service-account-signing-key-file=${pki.serviceAccount.privateKey}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      "--allow-privileged=true",
      "--endpoint-reconciler-type=none",
      "--kubelet-preferred-address-types=InternalIP,Hostname",
      // With these it may ask kubelets for logs and for a shell.
      `--kubelet-client-certificate=${pki.admin.certificate}`,
      `--kubelet-client-key=${pki.admin.key}`,
      "--profiling=false",
      ...(auditPolicy
        ? [
            `--audit-policy-file=${auditPolicy}`,
            `--audit-log-path=${places.audit}`,
            "--audit-log-maxsize=0", // one file, however long: whoever counts requests wants all of them
          ]
        : []),
    ],
    health: `${apiServerUrl(plane)}/readyz`,
  };
}

export function controllerManager({ binaries, places, ports, pki, kwokNodes }: ControlPlane): ComponentSpec {
  return {
    name: "kube-controller-manager",
    command: [
      binaries["kube-controller-manager"],
      ...credentials(places),
      `--kubeconfig=${places.kubeconfig}`,
      `--service-account-private-key-file=${pki.serviceAccount.privateKey}`,
      `--root-ca-file=${pki.authority}`,
      "--use-service-account-credentials",
      "--leader-elect=false",
      // It annotates every node anew whenever the cluster grows past a power of two, as advice for kubelets' caches.
      "--controllers=*,-ttl-controller",
      "--bind-address=127.0.0.1",
      `--secure-port=${ports.controllerManager}`,
      `--node-monitor-grace-period=${heartbeats(kwokNodes).graceSeconds}s`,
      // The usual 20 requests a second would be the only thing that a measurement measures.
      "--kube-api-qps=1000",
      "--kube-api-burst=2000",
      "--profiling=false",
      `--flex-volume-plugin-dir=${places.folder}/volume-plugins`, // it would make the usual folder if there is none
    ],
    health: `https://127.0.0.1:${ports.controllerManager}/healthz`,
  };
}

/** `name` is the component's; `config` the file that `schedulerConfig` describes. */
export function scheduler(
  { binaries, places }: Pick<ControlPlane, "binaries" | "places">,
  name: string,
  port: number,
  config: string,
): ComponentSpec {
  return {
    name,
    command: [
      binaries["kube-scheduler"],
      ...credentials(places),
      `--config=${config}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
    ],
    health: `https://127.0.0.1:${port}/healthz`,
  };
}

/** Any part of a KubeSchedulerConfiguration: profiles, extenders, back-off … */
export type SchedulerConfiguration = Readonly<Record<string, unknown>>;

/** Completes a scheduler's configuration with what every scheduler of ours needs. What is given wins. */
export function schedulerConfig(kubeconfig: string, given: SchedulerConfiguration = {}): SchedulerConfiguration {
  return {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    leaderElection: { leaderElect: false },
    ...given,
    // The default of 50 requests a second would otherwise decide every measurement.
    clientConnection: { qps: 5000, burst: 5000, ...(given.clientConnection as object | undefined), kubeconfig },
  };
}

export function kwok({ binaries, places, ports, kwokNodes }: ControlPlane, stages: string): ComponentSpec {
  return {
    name: "kwok",
    command: [
      binaries.kwok,
      `--kubeconfig=${places.kubeconfig}`,
      `--config=${stages}`,
      // Not all nodes: it would take over the real ones too.
      "--manage-all-nodes=false",
      "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
      `--node-lease-duration-seconds=${heartbeats(kwokNodes).leaseSeconds}`,
      "--cidr=10.240.0.0/12",
      `--server-address=127.0.0.1:${ports.kwok}`,
    ],
    health: `http://127.0.0.1:${ports.kwok}/healthz`,
  };
}

/**
 * How often nodes say that they are alive. Kubernetes' own figures up to 100 nodes; more nodes speak less often, so
 * that the heartbeats of a large idle cluster stay at some ten a second, and are given longer before they count as lost.
 */
export function heartbeats(kwokNodes: number): { leaseSeconds: number; graceSeconds: number } {
  const leaseSeconds = Math.max(40, Math.ceil(kwokNodes * 0.4));
  return { leaseSeconds, graceSeconds: Math.ceil(leaseSeconds * 1.25) };
}

function credentials({ kubeconfig }: ClusterPlaces): string[] {
  return [`--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`];
}
