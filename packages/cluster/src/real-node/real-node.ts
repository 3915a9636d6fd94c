/**
 * A real node: a kubelet with a containerd of its own, on this machine.
 *
 * Each node lives in its own network, mount and host-name namespaces, kept open by a process that does nothing. So
 * every node has the usual ports and paths to itself, and what it mounts or configures ends with its processes.
 */
import { readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Binaries } from "../binaries/binaries.ts";
import { poll } from "../clock.ts";
import { ClusterError } from "../errors.ts";
import type { ClusterPlaces } from "../places.ts";
import { findProgram, run, runSync } from "../process/command.ts";
import { died, type Home, listComponents, startComponent, waitUntilReady } from "../process/component.ts";
import { isAlive, killUntilGone, markedBeside } from "../process/processes.ts";
import { cgroupProcesses, createCgroup, removeCgroups } from "./cgroups.ts";
import { CNI_PLUGINS, cniFolder, containerdComponent, importCommand } from "./containerd.ts";
import { KUBELET_ROOT, kubeletComponent } from "./kubelet.ts";
import { addressesOf, connectNode, removeNetwork } from "./network.ts";
import { hasStaticBusybox } from "./node-images.ts";

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

/** Why this machine cannot run real nodes; `undefined` if it can. For tests, which then say why they skip. */
export function noRealNodes(): string | undefined {
  try {
    requireRealNodeSupport();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Rejects, with what to do, a machine that cannot run real nodes. Changes nothing. */
export function requireRealNodeSupport(): void {
  if (process.geteuid?.() !== 0) {
    throw new ClusterError("BERTH_CLUSTER_NOT_ROOT", "real nodes need root: they make namespaces, mounts and cgroups");
  }
  const missing = PROGRAMS.filter((program) => !findProgram(program));
  if (!cniFolder()) missing.push(`CNI plugins (${CNI_PLUGINS.join(", ")})`);
  if (!hasStaticBusybox()) missing.push("a static busybox");
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
  runInside(places, holder, ownFileSystem(), folder);

  const containerd = containerdComponent(name, folder, into(holder), addresses);
  await waitUntilReady(places, await startComponent(context, containerd), signal);
  for (const archive of options.archives) await importImage(context, name, archive);

  const kubelet = await kubeletComponent({
    cluster: context.cluster,
    server: context.server,
    pki: places.pki,
    binary: context.binaries.kubelet,
    node: name,
    folder,
    address: addresses.node,
    labels: options.labels,
    cgroup,
    enter: into(holder),
  });
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

/** Makes an image known to a node's containerd. */
export async function importImage(
  { places, signal }: Pick<RealNodeContext, "places" | "signal">,
  node: string,
  archive: string,
): Promise<void> {
  const holder = findHolder(places, node);
  if (!holder) throw new ClusterError("BERTH_CLUSTER_NODE_UNKNOWN", `there is no real node "${node}"`);
  const [program, ...args] = into(holder);
  await run(places.folder, program, [...args, ...importCommand(archive)], signal);
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
function ownFileSystem(): string[] {
  return [
    "mount --make-rshared /", // among this node's own mounts only: the namespace was cut off from the machine's
    "mount -t tmpfs tmpfs /run", // containerd's and runc's usual places
    "mount -t tmpfs tmpfs /var/log", // the kubelet puts links there
    // The kubelet and the CNI plug-ins write to /var/lib, whatever they are told. Our own folder may be in there too.
    "mkdir -p /run/berth/folder /run/berth/var-lib /run/berth/work",
    'mount --bind "$1" /run/berth/folder',
    "mount -t overlay overlay -o lowerdir=/var/lib,upperdir=/run/berth/var-lib,workdir=/run/berth/work /var/lib",
    'mount --bind /run/berth/folder "$1"',
    `mkdir -p "$2/kubelet" ${KUBELET_ROOT}`,
    `mount --bind "$2/kubelet" ${KUBELET_ROOT}`,
    // The kubelet finds the values that it wants, and writes nothing.
    ...Object.entries(KERNEL_SETTINGS).flatMap(([setting, value]) => {
      const [file, covered] = [`/run/berth/${setting.replaceAll("/", ".")}`, `/proc/sys/${setting}`];
      return [`if [ -e ${covered} ]; then echo ${value} > ${file}; mount --bind ${file} ${covered}; fi`];
    }),
  ];
}

async function startHolder(context: RealNodeContext, node: string): Promise<number> {
  const { places, signal } = context;
  const script = `echo ${node} > /proc/sys/kernel/hostname && exec sleep infinity`;
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
  if (!separated) {
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_NOT_READY", `${holderOf(node)} has no namespaces of its own yet`);
  }
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

/** The command that runs another one inside the node. */
function into(holder: number): [program: string, ...args: string[]] {
  return ["nsenter", "-t", String(holder), "--net", "--mount", "--uts", "--ipc"];
}

/** Runs a shell script inside the node; `$1` is the cluster's folder, `$2` the node's. */
function runInside({ folder }: ClusterPlaces, holder: number, script: readonly string[], node: string): void {
  const [program, ...args] = into(holder);
  runSync(folder, program, [...args, "sh", "-ec", script.join("\n"), "sh", folder, node]);
}
