/**
 * A real node: a kubelet with a containerd of its own, on this machine.
 *
 * Each node lives in its own network, mount and host-name namespaces, kept open by a process that does nothing. So
 * every node has the usual ports and paths to itself, and what it mounts or configures ends with its processes.
 */
import { execFile, execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import type { Binaries } from "./binaries.ts";
import { cgroupProcesses, createCgroup, removeCgroups } from "./cgroups.ts";
import { poll } from "./clock.ts";
import { type ComponentSpec, killComponent, listComponents, startComponent, waitUntilReady } from "./component.ts";
import { ClusterError } from "./errors.ts";
import { type ImageSource, isStaticProgram, writeImage } from "./image.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { addressesOf, connectNode, type NodeAddresses, removeNetwork } from "./network.ts";
import { Authority } from "./pki.ts";
import type { ClusterPlaces } from "./places.ts";
import { killUntilGone } from "./processes.ts";

/** A small Linux in one program: shell, sleep, wget, httpd and some three hundred more. */
const BUSYBOX = "/bin/busybox";

/** Real nodes come with it as an image, so that there is something to run. */
function busyboxImage(): ImageSource {
  const commands = execFileSync(BUSYBOX, ["--list"], { encoding: "utf8" }).split("\n");
  const links = commands.filter((command) => command !== "" && command !== "busybox");
  return { name: "berth.dev/busybox", binary: BUSYBOX, links, entrypoint: ["/bin/sh"] };
}

/** What holds a pod's namespaces open. Ends when asked, which a first process does only if it says so. */
const sandboxImage: ImageSource = {
  name: "berth.dev/pause",
  binary: BUSYBOX,
  entrypoint: [BUSYBOX, "sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 1000000 & wait; done"],
};

const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const CNI_PLUGINS = ["bridge", "host-local", "loopback"];
const PROGRAMS = ["containerd", "containerd-shim-runc-v2", "ctr", "runc", "ip", "nsenter", "unshare", "mount", "tar"];

export interface RealNodeContext {
  readonly cluster: string;
  readonly places: ClusterPlaces;
  readonly binaries: Binaries;
  readonly server: string;
  /** "10.201": see network.ts. */
  readonly network: string;
  readonly signal?: AbortSignal | undefined;
}

export interface RealNodeOptions {
  readonly name: string;
  /** From 1; decides the node's addresses. */
  readonly index: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Rejects, with what to do, a machine that cannot run real nodes. Changes nothing. */
export function requireRealNodeSupport(): void {
  if (process.geteuid?.() !== 0) {
    throw new ClusterError("BERTH_CLUSTER_NOT_ROOT", "real nodes need root: they make namespaces, mounts and cgroups");
  }
  const missing = PROGRAMS.filter((program) => !findProgram(program));
  if (!cniFolder()) missing.push(`CNI plugins (${CNI_PLUGINS.join(", ")})`);
  if (!existsSync(BUSYBOX) || !isStaticProgram(BUSYBOX)) missing.push(`a static ${BUSYBOX}`);
  if (missing.length > 0) {
    throw new ClusterError(
      "BERTH_CLUSTER_TOOLS_MISSING",
      `real nodes need ${missing.join(", ")}; on Debian and Ubuntu: ` +
        "apt-get install containerd runc containernetworking-plugins busybox-static iproute2 util-linux",
    );
  }
}

/** Starts a node and returns once its kubelet runs; the node is Ready in the API a moment later. */
export async function startRealNode(context: RealNodeContext, options: RealNodeOptions): Promise<void> {
  const { places, signal } = context;
  const { name, index } = options;
  const folder = join(places.nodes, name);
  const addresses = addressesOf(context.network, index);
  mkdirSync(folder, { recursive: true });
  const cgroup = createCgroup(places.tag, name);

  const holder = await startHolder(places, name, signal);
  connectNode(places.tag, index, holder, addresses);
  enter(holder, [
    `hostname ${name}`,
    "mount --make-rshared /", // among this node's own mounts only: the namespace was cut off from the machine's
    "mount -t tmpfs tmpfs /run", // containerd's and runc's usual places, without meeting another node's
    "mount -t tmpfs tmpfs /var/log", // the kubelet puts links there
  ]);

  const containerd = containerdComponent(folder, holder, name, addresses);
  await waitUntilReady(places, startComponent(places, containerd), signal);
  await loadImage(context, name, sandboxImage);
  await loadImage(context, name, busyboxImage());

  const kubelet = await kubeletComponent(context, options, folder, holder, addresses, cgroup);
  await waitUntilReady(places, startComponent(places, kubelet), signal);
}

/** Ends a node's processes and removes what it left on this machine. Its Node object is somebody else's business. */
export async function stopRealNode(
  { places }: Pick<RealNodeContext, "places">,
  name: string,
  index: number,
): Promise<void> {
  const ours = listComponents(places).filter((component) => componentsOf(name).includes(component.name));
  for (const component of ours) await killComponent(component);
  await killUntilGone(() => cgroupProcesses(places.tag, name));
  await removeCgroups(places.tag, name);
  removeNetwork(places.tag, index);
  for (const component of ours) rmSync(join(places.components, `${component.name}.json`), { force: true });
  rmSync(join(places.nodes, name), { recursive: true, force: true });
}

/** Makes an image known to a node's containerd. */
export async function loadImage(
  { places }: Pick<RealNodeContext, "places">,
  node: string,
  image: ImageSource,
): Promise<void> {
  const holder = listComponents(places).find((component) => component.name === `holder-${node}`)?.process;
  if (!holder) throw new ClusterError("BERTH_CLUSTER_NODE_UNKNOWN", `there is no real node "${node}"`);
  const archive = join(places.nodes, node, `image-${image.name.replaceAll(/[^a-z0-9.-]/gi, "_")}.tar`);
  try {
    await writeImage(image, archive);
    const ctr = ["ctr", "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", "images", "import", archive];
    await promisify(execFile)("nsenter", [...intoNode(holder.pid), ...ctr]);
  } finally {
    rmSync(archive, { force: true });
  }
}

/** In the order in which they are ended: whoever could start another one first. */
function componentsOf(node: string): string[] {
  return [`kubelet-${node}`, `containerd-${node}`, `holder-${node}`];
}

/** Below the node's own /run: a short path, as a socket's must be, and gone with the node. */
const CONTAINERD_SOCKET = "/run/containerd/containerd.sock";

async function startHolder(places: ClusterPlaces, node: string, signal?: AbortSignal): Promise<number> {
  const holder = startComponent(places, {
    name: `holder-${node}`,
    command: ["unshare", "--net", "--mount", "--uts", "--ipc", "sleep", "infinity"],
    health: null,
  });
  const pid = holder.process?.pid ?? 0;
  const separated = await poll(() => inOwnNamespaces(pid) || undefined, { timeoutMs: 10_000, intervalMs: 5, signal });
  if (!separated) {
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_DIED", `no namespaces of its own could be made for node ${node}`);
  }
  return pid;
}

function inOwnNamespaces(pid: number): boolean {
  try {
    const own = (kind: string) => readlinkSync(`/proc/${pid}/ns/${kind}`) !== readlinkSync(`/proc/self/ns/${kind}`);
    // unshare becomes `sleep` when it has set everything up, mount propagation included.
    return own("net") && own("mnt") && own("uts") && readlinkSync(`/proc/${pid}/exe`).endsWith("sleep");
  } catch {
    return false;
  }
}

function intoNode(holder: number): string[] {
  return ["-t", String(holder), "--net", "--mount", "--uts", "--ipc"];
}

function enter(holder: number, script: string[]): void {
  execFileSync("nsenter", [...intoNode(holder), "sh", "-ec", script.join("\n")], { stdio: "pipe" });
}

function containerdComponent(folder: string, holder: number, node: string, addresses: NodeAddresses): ComponentSpec {
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
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${sandboxImage.name}:latest"
  # A virtual machine or container may lack the right to protect processes from the memory killer; runc would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder()}"
    conf_dir = "${cni}"
`,
  );
  return {
    name: `containerd-${node}`,
    command: ["nsenter", ...intoNode(holder), "containerd", "--config", config],
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

async function kubeletComponent(
  { cluster, places, binaries, server }: RealNodeContext,
  { name, labels }: RealNodeOptions,
  folder: string,
  holder: number,
  { node: address }: NodeAddresses,
  cgroup: string,
): Promise<ComponentSpec> {
  const authority = await Authority.open(places.pki);
  const user = await authority.issue(`kubelet-${name}`, {
    commonName: `system:node:${name}`,
    organization: "system:nodes",
    addresses: [address, name],
  });
  const kubeconfig = join(folder, "kubeconfig");
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
      cgroupRoot: cgroup,
      failCgroupV1: false,
      failSwapOn: false,
      localStorageCapacityIsolation: false,
      podLogsDir: join(folder, "logs"),
      resolvConf: "",
      // This machine's disk is not the node's to worry about.
      evictionHard: { "memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
      imageGCHighThresholdPercent: 100,
      nodeStatusUpdateFrequency: "5s",
      syncFrequency: "10s",
      shutdownGracePeriod: "0s",
    }),
  );
  return {
    name: `kubelet-${name}`,
    command: [
      "nsenter",
      ...intoNode(holder),
      binaries.kubelet,
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      `--node-ip=${address}`,
      `--root-dir=${join(folder, "kubelet")}`,
      `--node-labels=${Object.entries(labels)
        .map((pair) => pair.join("="))
        .join(",")}`,
    ],
    health: `http://${address}:10248/healthz`,
  };
}

function cniFolder(): string | undefined {
  return CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(join(folder, plugin))));
}

function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
