/**
 * A real node: a kubelet with a containerd of its own, on this machine.
 *
 * Each node lives in its own network, mount and host-name namespaces, kept open by a process that does nothing. So
 * every node has the usual ports and paths to itself, and what it mounts or configures ends with its processes.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Binaries } from "./binaries.ts";
import { cgroupProcesses, createCgroup, removeCgroups } from "./cgroups.ts";
import { poll } from "./clock.ts";
import { findProgram, run, runSync } from "./command.ts";
import { type ComponentSpec, died, type Home, listComponents, startComponent, waitUntilReady } from "./component.ts";
import { ClusterError } from "./errors.ts";
import { type ImageSource, isStaticProgram, writeImage } from "./image.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { addressesOf, connectNode, type NodeAddresses, removeNetwork } from "./network.ts";
import { Authority } from "./pki.ts";
import type { ClusterPlaces } from "./places.ts";
import { isAlive, killUntilGone, markedBeside } from "./processes.ts";

/** A small Linux in one program: shell, sleep, wget, httpd and some three hundred more. */
const BUSYBOX = "/bin/busybox";

/** Real nodes come with it as an image, so that there is something to run. */
export function busyboxImage(): ImageSource {
  const commands = execFileSync(BUSYBOX, ["--list"], { encoding: "utf8" }).split("\n");
  const links = commands.filter((command) => command !== "" && command !== "busybox");
  return { name: "berth.dev/busybox", binary: BUSYBOX, links, entrypoint: ["/bin/sh"] };
}

/** What holds a pod's namespaces open. Ends when asked, which a first process does only if it says so. */
export const sandboxImage: ImageSource = {
  name: "berth.dev/pause",
  binary: BUSYBOX,
  entrypoint: [BUSYBOX, "sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 1000000 & wait; done"],
};

const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const CNI_PLUGINS = ["bridge", "host-local", "loopback"];
const PROGRAMS = ["containerd", "containerd-shim-runc-v2", "ctr", "runc", "ip", "nsenter", "unshare", "mount", "tar"];

export interface RealNodeContext extends Home {
  readonly cluster: string;
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
  /** Archives of the images that the node shall know, the two it needs itself among them. */
  readonly archives: readonly string[];
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
  const folder = nodeFolder(places, name);
  const addresses = addressesOf(context.network, index);
  const cgroup = createCgroup(places.tag, name);

  const holder = await startHolder(context, name);
  connectNode(places, index, holder, addresses);
  enter(places, holder, ownFileSystem(places.folder));

  const containerd = containerdComponent(folder, holder, name, addresses);
  await waitUntilReady(places, await startComponent(context, containerd), signal);
  for (const archive of options.archives) await importImage(context, name, archive);

  const kubelet = await kubeletComponent(context, options, folder, holder, addresses, cgroup);
  await waitUntilReady(places, await startComponent(context, kubelet), signal);
}

/** Ends a node's processes and removes what it left on this machine. Its Node object is somebody else's business. */
export async function stopRealNode({ places }: Home, name: string, index: number): Promise<void> {
  const holder = findHolder(places, name);
  await killUntilGone(() => [
    ...(holder ? markedBeside(places.folder, holder) : []), // kubelet, containerd, its shims; the holder is one of them
    ...cgroupProcesses(places.tag, name),
  ]);
  await removeCgroups(places.tag, name);
  removeNetwork(places, index);
  for (const component of componentsOf(name)) rmSync(join(places.components, `${component}.json`), { force: true });
  rmSync(nodeFolder(places, name), { recursive: true, force: true });
}

/** Makes archives of images, and removes them when `use` is done with them. Every node has the first two. */
export async function withImages<T>(
  { places, signal }: Pick<RealNodeContext, "places" | "signal">,
  images: readonly ImageSource[],
  use: (archives: readonly string[]) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(places.folder, "images-"));
  try {
    const archives = images.map((_, index) => join(scratch, `${index}.tar`));
    for (const [index, image] of images.entries()) {
      await writeImage(image, archives[index] as string, (program, args) => run(places.folder, program, args, signal));
    }
    return await use(archives);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Makes an image known to a node's containerd. */
export async function importImage(
  { places, signal }: Pick<RealNodeContext, "places" | "signal">,
  node: string,
  archive: string,
): Promise<void> {
  const holder = findHolder(places, node);
  if (!holder) throw new ClusterError("BERTH_CLUSTER_NODE_UNKNOWN", `there is no real node "${node}"`);
  const ctr = ["ctr", "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", "images", "import", archive];
  await run(places.folder, "nsenter", [...intoNode(holder), ...ctr], signal);
}

/** Where a node's files are. */
export function nodeFolder(places: ClusterPlaces, name: string): string {
  return join(places.nodes, name);
}

function componentsOf(node: string): string[] {
  return [`kubelet-${node}`, `containerd-${node}`, holderOf(node)];
}

function holderOf(node: string): string {
  return `holder-${node}`;
}

/** The process that keeps a node's namespaces open; `undefined` if it is gone. */
function findHolder(places: ClusterPlaces, node: string): number | undefined {
  const holder = listComponents(places).find((component) => component.name === holderOf(node))?.process;
  return holder && isAlive(holder) ? holder.pid : undefined;
}

/** Below the node's own /run: a short path, as a socket's must be, and gone with the node. */
const CONTAINERD_SOCKET = "/run/containerd/containerd.sock";

/** What a kubelet would otherwise set on the whole machine, and for good: the kernel has these only once. */
const KERNEL_SETTINGS = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
};

/** Commands that give a node, inside its mount namespace, what it must not share with the machine or another node. */
function ownFileSystem(clusterFolder: string): string[] {
  return [
    "mount --make-rshared /", // among this node's own mounts only: the namespace was cut off from the machine's
    "mount -t tmpfs tmpfs /run", // containerd's and runc's usual places
    "mount -t tmpfs tmpfs /var/log", // the kubelet puts links there
    // The kubelet and the CNI plug-ins write to /var/lib, whatever they are told. Our own folder may be in there too.
    "mkdir -p /run/berth/folder /run/berth/var-lib /run/berth/work",
    `mount --bind '${clusterFolder}' /run/berth/folder`,
    "mount -t overlay overlay -o lowerdir=/var/lib,upperdir=/run/berth/var-lib,workdir=/run/berth/work /var/lib",
    `mount --bind /run/berth/folder '${clusterFolder}'`,
    // The kubelet finds the values that it wants, and writes nothing.
    ...Object.entries(KERNEL_SETTINGS).flatMap(([setting, value]) => {
      const file = `/run/berth/${setting.replaceAll("/", ".")}`;
      return [`echo ${value} > ${file}`, `mount --bind ${file} /proc/sys/${setting}`];
    }),
  ];
}

async function startHolder(context: RealNodeContext, node: string): Promise<number> {
  const { places, signal } = context;
  const script = `hostname ${node} && exec sleep infinity`;
  const { process } = await startComponent(context, {
    name: holderOf(node),
    command: ["unshare", "--net", "--mount", "--uts", "--ipc", "sh", "-c", script],
    health: null,
  });
  const pid = process?.pid ?? 0;
  const separated = await poll(
    () => {
      if (!isAlive(process)) throw died(places, holderOf(node));
      return inOwnNamespaces(pid) || undefined;
    },
    { timeoutMs: 10_000, intervalMs: 5, signal },
  );
  if (!separated) throw died(places, holderOf(node));
  return pid;
}

function inOwnNamespaces(pid: number): boolean {
  try {
    const own = (kind: string) => readlinkSync(`/proc/${pid}/ns/${kind}`) !== readlinkSync(`/proc/self/ns/${kind}`);
    // It becomes `sleep` when everything is set up, mount propagation included.
    return own("net") && own("mnt") && own("uts") && readlinkSync(`/proc/${pid}/exe`).endsWith("sleep");
  } catch {
    return false;
  }
}

function intoNode(holder: number): string[] {
  return ["-t", String(holder), "--net", "--mount", "--uts", "--ipc"];
}

function enter({ folder }: ClusterPlaces, holder: number, script: string[]): void {
  runSync(folder, "nsenter", [...intoNode(holder), "sh", "-ec", script.join("\n")]);
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
[plugins."io.containerd.internal.v1.opt"]
  path = "${join(folder, "opt")}"
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
