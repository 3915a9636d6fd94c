/**
 * Starting a cluster: ours beside kwokctl, KWOK's own command for the same thing, with the same binaries.
 *
 * Both are asked for a control plane with N KWOK nodes, and both are done when the API server lists N nodes that take
 * pods: Ready, and without the taints of a node that has just appeared.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  Api,
  type BuildProgress,
  buildKwokctl,
  findBinaries,
  poll,
  residentBytes,
  showProgress,
  sleep,
  startCluster,
  stopwatch,
  takesPods,
} from "@berth/cluster";
import { type Measurement, type MeasureOptions, median } from "./report.ts";

const SIZES = [10, 100, 1000];
const QUICK_SIZES = [10];
/** Memory settles a little after the last node: informers, and Go's garbage collector. */
const SETTLE_MS = 5000;

/** Of which the middle one counts; the two sides take turns. */
const RUNS = 3;

interface Start {
  readonly seconds: number;
  readonly mebibytes: number;
}

export async function measure({ quick, log, signal }: MeasureOptions): Promise<Measurement[]> {
  const show = showProgress();
  const onProgress = (build: BuildProgress) => show({ phase: "binaries", build });
  await findBinaries({ onProgress, signal }); // or the first measurement would be of the compiler
  const kwokctl = await buildKwokctl({ onProgress, signal });
  const measurements: Measurement[] = [];
  for (const nodes of quick ? QUICK_SIZES : SIZES) {
    const starts: { ours: Start; peer: Start }[] = [];
    for (let run = 1; run <= (quick ? 1 : RUNS); run++) {
      log(`${nodes} nodes, run ${run}: ours`);
      const ours = await startOurs(nodes, signal);
      log(`${nodes} nodes, run ${run}: kwokctl`);
      starts.push({ ours, peer: await startPeer(kwokctl, nodes, signal) });
    }
    const ours = typical(starts.map(({ ours }) => ours));
    const peer = typical(starts.map(({ peer }) => peer));
    const common = { peerName: "kwokctl" };
    measurements.push(
      {
        measure: `start, ${nodes} nodes ready`,
        unit: "s",
        ours: ours.seconds,
        peer: peer.seconds,
        ...common,
        target: nodes === 1000 ? { of: "ours", atMost: 60 } : { of: "ratio", atMost: 1 },
      },
      {
        measure: `memory, ${nodes} nodes`,
        unit: "MiB",
        ours: ours.mebibytes,
        peer: peer.mebibytes,
        ...common,
        target: { of: "ratio", atMost: 1.1 },
      },
    );
  }
  return measurements;
}

function typical(starts: readonly Start[]): Start {
  return {
    seconds: median(starts.map(({ seconds }) => seconds)),
    mebibytes: median(starts.map(({ mebibytes }) => mebibytes)),
  };
}

async function startOurs(nodes: number, signal: AbortSignal): Promise<Start> {
  const elapsed = stopwatch();
  await using cluster = await startCluster({ name: "bench", nodes, signal });
  await allTakePods(cluster.api, nodes, signal);
  const seconds = elapsed() / 1000;
  await sleep(SETTLE_MS, signal);
  const bytes = cluster.components.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  return { seconds, mebibytes: bytes / 1024 ** 2 };
}

async function startPeer(kwokctl: string, nodes: number, signal: AbortSignal): Promise<Start> {
  const binaries = await findBinaries();
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"));
  const kubeconfig = join(folder, "kubeconfig");
  const run = (...args: string[]) =>
    promisify(execFile)(kwokctl, ["--name", "bench", ...args], { env: { ...process.env, KWOK_WORKDIR: folder } });
  try {
    const elapsed = stopwatch();
    await run(
      ...["create", "cluster", "--runtime", "binary", "--wait", "5m", "--kubeconfig", kubeconfig],
      ...["--disable-qps-limits"], // as ours: nobody's client limit shall decide
      ...["--etcd-binary", binaries.etcd],
      ...["--kube-apiserver-binary", binaries["kube-apiserver"]],
      ...["--kube-controller-manager-binary", binaries["kube-controller-manager"]],
      ...["--kube-scheduler-binary", binaries["kube-scheduler"]],
      ...["--kwok-controller-binary", binaries.kwok],
    );
    await run("scale", "node", "--replicas", String(nodes));
    const pki = join(folder, "clusters", "bench", "pki");
    const user = { certificate: join(pki, "admin.crt"), key: join(pki, "admin.key") };
    const server = readFileSync(kubeconfig, "utf8").match(/server: (\S+)/)?.[1] as string;
    const api = new Api(server, join(pki, "ca.crt"), user);
    await allTakePods(api, nodes, signal);
    const seconds = elapsed() / 1000;
    await sleep(SETTLE_MS, signal);
    api.close();
    return { seconds, mebibytes: residentBelow(folder) / 1024 ** 2 };
  } finally {
    await run("delete", "cluster", "--kubeconfig", kubeconfig).catch(() => {}); // what went wrong before matters more
    rmSync(folder, { recursive: true, force: true });
  }
}

async function allTakePods(api: Api, nodes: number, signal: AbortSignal): Promise<void> {
  const done = await poll(
    async () => {
      const listed = await api.list("/api/v1/nodes?resourceVersion=0").catch(() => []);
      return listed.filter(takesPods).length === nodes || undefined;
    },
    { timeoutMs: 600_000, intervalMs: 100, signal },
  );
  if (!done) throw new Error(`${nodes} nodes were not ready within 10 minutes`);
}

/** Resident memory of all processes whose program lies in the folder; kwokctl puts its copies there. */
function residentBelow(folder: string): number {
  const ours = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).startsWith(folder));
  return ours.reduce((sum, pid) => sum + residentBytes(Number(pid)), 0);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended since
  }
}
