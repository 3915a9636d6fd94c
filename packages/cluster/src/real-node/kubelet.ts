/** A real node's kubelet: who it is, and what it is told. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { writeKubeconfig } from "../control-plane/kubeconfig.ts";
import { Authority } from "../control-plane/pki.ts";
import type { ComponentSpec } from "../process/component.ts";
import { CONTAINERD_SOCKET } from "./containerd.ts";

/**
 * Where the kubelet finds its folder: below the node's own /run, since it makes sockets in there, whose paths must be short. Somebody's home
 * may be anything but.
 */
export const KUBELET_ROOT = "/run/berth/kubelet";

export interface KubeletOptions {
  readonly cluster: string;
  /** The API server's URL. */
  readonly server: string;
  /** The folder of the cluster's authority. */
  readonly pki: string;
  readonly binary: string;
  readonly node: string;
  /** The node's folder. */
  readonly folder: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Below which it puts its pods. */
  readonly cgroup: string;
  /** The command that enters the node's namespaces. */
  readonly enter: readonly [string, ...string[]];
}

/** Issues the kubelet's certificate and writes its configuration into the node's folder. */
export async function kubeletComponent(options: KubeletOptions): Promise<ComponentSpec> {
  const { node, folder, address } = options;
  const authority = await Authority.open(options.pki);
  const user = await authority.issue(`kubelet-${node}`, {
    commonName: `system:node:${node}`,
    organization: "system:nodes",
    addresses: [address, node],
  });
  const kubeconfig = join(folder, "kubeconfig");
  const { cluster, server } = options;
  writeKubeconfig(kubeconfig, { cluster, server, authority: authority.certificate, user });

  const config = join(folder, "kubelet.yaml");
  writeFileSync(
    config,
    stringify({
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      address,
      healthzBindAddress: address,
      authentication: { anonymous: { enabled: false }, x509: { clientCAFile: authority.certificate } },
      authorization: { mode: "Webhook" },
      tlsCertFile: user.certificate,
      tlsPrivateKeyFile: user.key,
      containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
      cgroupDriver: "cgroupfs",
      cgroupRoot: options.cgroup,
      failCgroupV1: false,
      failSwapOn: false,
      localStorageCapacityIsolation: false,
      podLogsDir: join(folder, "logs"),
      volumePluginDir: join(folder, "volume-plugins"),
      resolvConf: "",
      // This machine's disk is not the node's to worry about.
      evictionHard: { "memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
      imageGCHighThresholdPercent: 100,
      nodeStatusUpdateFrequency: "5s",
      syncFrequency: "10s",
      shutdownGracePeriod: "0s",
    }),
  );
  const labels = Object.entries(options.labels).map((pair) => pair.join("="));
  return {
    name: `kubelet-${node}`,
    command: [
      ...options.enter,
      options.binary,
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${node}`,
      `--node-ip=${address}`,
      `--root-dir=${KUBELET_ROOT}`,
      `--node-labels=${labels.join(",")}`,
    ],
    health: `http://${address}:10248/healthz`,
  };
}
