/** What the tests of real clusters share. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { poll } from "../clock.ts";
import type { Cluster } from "../cluster.ts";
import { folderOf } from "../cluster-record.ts";
import { clusterPlaces } from "../places.ts";
import { markedProcesses } from "../process/processes.ts";
import { cgroupProcesses } from "../real-node/cgroups.ts";

/** Names that no other test run uses at the same time. */
export function uniqueName(purpose: string): string {
  return `test-${process.pid}-${purpose}`;
}

/** Asks until the answer is not `undefined`; fails with what was waited for. */
export async function eventually<T>(what: string, attempt: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const answer = await poll(attempt, { timeoutMs: 90_000, intervalMs: 100 });
  if (answer === undefined) throw new Error(`it never came true: ${what}`);
  return answer;
}

/** Everything of a cluster that could be left on the machine, in words. Empty when it is gone. */
export function remains(name: string): string[] {
  const { folder, tag } = clusterPlaces(folderOf(name));
  const devices = execFileSync("ip", ["-brief", "link"], { encoding: "utf8" }).split("\n");
  const cgroups = execFileSync("find", ["/sys/fs/cgroup", "-maxdepth", "3", "-name", tag], { encoding: "utf8" });
  return [
    ...markedProcesses(folder).map((pid) => `process ${pid}`),
    ...cgroupProcesses(tag).map((pid) => `process ${pid} in a cgroup`),
    ...devices.filter((device) => device.startsWith(tag)).map((device) => `device ${device}`),
    ...cgroups
      .split("\n")
      .filter(Boolean)
      .map((cgroup) => `cgroup ${cgroup}`),
    ...readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((mount) => mount.includes(folder)),
    ...(existsSync(folder) ? [`folder ${folder}`] : []),
  ];
}

/** What real nodes elsewhere leave on their machine, or change of it, although it is nobody's in particular. */
export function traces(): Record<string, string> {
  const settings = [
    ...["vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"],
    ...["kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes"],
  ].map((setting) => [setting, readFileSync(`/proc/sys/${setting}`, "utf8")]);
  const places = [
    "/run",
    "/run/netns",
    "/var/lib",
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/log",
    "/opt",
    "/usr/libexec",
  ];
  const listings = places.map((place) => [place, existsSync(place) ? readdirSync(place).join(" ") : "none"]);
  return Object.fromEntries([...settings, ...listings]);
}

export interface PodOptions {
  readonly name: string;
  readonly node?: string;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly finalizers?: readonly string[];
  /** Run by a shell; for real nodes. */
  readonly script?: string;
  readonly image?: string;
  readonly cpu?: string;
  readonly nodeSelector?: Record<string, string>;
  readonly schedulerName?: string;
}

export function podObject(options: PodOptions): object {
  const { name, node, annotations, labels, finalizers, script, cpu, nodeSelector, schedulerName } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations, labels, finalizers },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 5,
      ...(node && { nodeName: node }),
      ...(nodeSelector && { nodeSelector }),
      ...(schedulerName && { schedulerName }),
      containers: [
        {
          name: "main",
          image: options.image ?? "berth.dev/busybox",
          imagePullPolicy: "Never",
          ...(script && { args: ["-c", script] }),
          ...(cpu && { resources: { requests: { cpu } } }),
        },
      ],
    },
  };
}

const PODS = "/api/v1/namespaces/default/pods";

export async function createPod(cluster: Cluster, options: PodOptions): Promise<void> {
  await cluster.api.create(PODS, podObject(options));
}

export async function deletePod(cluster: Cluster, name: string): Promise<void> {
  await cluster.api.delete(`${PODS}/${name}`);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of any kind
export async function getPod(cluster: Cluster, name: string): Promise<any> {
  return cluster.api.get(`${PODS}/${name}`).catch(() => undefined);
}

/** Waits until the pod is in the given phase and returns it. */
export function podIn(cluster: Cluster, name: string, phase: string) {
  return eventually(`pod ${name} is ${phase}`, async () => {
    const pod = await getPod(cluster, name);
    return pod?.status.phase === phase ? pod : undefined;
  });
}
