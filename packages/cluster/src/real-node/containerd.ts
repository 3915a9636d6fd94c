/** A real node's containerd: what it is told, and how it is reached. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ComponentSpec } from "../process/component.ts";
import type { NodeAddresses } from "./network.ts";
import { sandboxImage } from "./node-images.ts";

/** Below the node's own /run: a short path, as a socket's must be, and gone with the node. */
export const CONTAINERD_SOCKET = "/run/containerd/containerd.sock";

const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
export const CNI_PLUGINS = ["bridge", "host-local", "loopback"];

/** Writes the configuration into the node's folder. `enter` is the command that enters the node's namespaces. */
export function containerdComponent(
  node: string,
  folder: string,
  enter: readonly [string, ...string[]],
  addresses: NodeAddresses,
): ComponentSpec {
  const cni = join(folder, "cni");
  mkdirSync(cni, { recursive: true });
  writeFileSync(join(cni, "10-bridge.conflist"), JSON.stringify(cniConfig(folder, addresses), null, 2));
  const config = join(folder, "containerd.toml");
  writeFileSync(
    config,
    `version = 2
root = "${join(folder, "containerd")}"
state = "/run/containerd"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[metrics]
  address = "${addresses.node}:1338"
[plugins."io.containerd.internal.v1.opt"]
  path = "${join(folder, "opt")}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${sandboxImage.name}"
  # A virtual machine or container may lack the right to protect processes from the memory killer; runc would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder()}"
    conf_dir = "${cni}"
`,
  );
  return {
    name: `containerd-${node}`,
    command: [...enter, "containerd", "--config", config],
    health: `http://${addresses.node}:1338/v1/metrics`,
  };
}

function cniConfig(folder: string, { podSubnet, podGateway }: NodeAddresses): object {
  return {
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "pods",
        isGateway: true,
        ipMasq: false, // pods are reached, and seen, under their own addresses
        ipam: {
          type: "host-local",
          dataDir: join(folder, "addresses"),
          ranges: [[{ subnet: podSubnet, gateway: podGateway }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
      { type: "loopback" },
    ],
  };
}

/** The arguments of `ctr` that make an archive's image known to this containerd. */
export function importCommand(archive: string): string[] {
  return ["ctr", "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", "images", "import", archive];
}

/** Where the distribution has put the CNI plug-ins; `undefined` if there are none. */
export function cniFolder(): string | undefined {
  return CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(join(folder, plugin))));
}
