/** Starting a cluster: the story from options to a cluster that takes pods, in the order in which it happens. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Api } from "./api.ts";
import { type Binaries, findBinaries } from "./binaries/binaries.ts";
import { poll, today } from "./clock.ts";
import { Cluster } from "./cluster.ts";
import { type ClusterRecord, folderOf, isWanted, readRecord, writeRecord } from "./cluster-record.ts";
import { writeAuditPolicy } from "./control-plane/audit.ts";
import * as plane from "./control-plane/components.ts";
import { writeKubeconfig } from "./control-plane/kubeconfig.ts";
import { Authority } from "./control-plane/pki.ts";
import { prepareScheduler } from "./control-plane/schedulers.ts";
import { ClusterError } from "./errors.ts";
import { type ClusterOptions, type Plan, preflight } from "./options.ts";
import { type ClusterPlaces, clusterPlaces } from "./places.ts";
import { type ComponentSpec, logTail, READY_WITHIN_MS, startComponent, waitUntilReady } from "./process/component.ts";
import { freePort, onFreePorts } from "./process/ports.ts";
import { identify, type ProcessIdentity } from "./process/processes.ts";
import { together } from "./process/together.ts";
import { randomHex } from "./random.ts";
import { createNetwork } from "./real-node/network.ts";
import { type CallOff, startReaper } from "./reaper.ts";
import { hasRemains, tearDown, tearDownOwn, withClusterLock } from "./teardown.ts";

const stagesFile = fileURLToPath(new URL("nodes/stages.yaml", import.meta.url));

/**
 * Starts a Kubernetes cluster on this machine and returns when all of its nodes take pods.
 *
 * Guarantees: if it fails, or is aborted, nothing of it is left; if this process ends in whatever way, so does the
 * cluster, unless it was started `detached`.
 *
 * @example
 * const cluster = await startCluster({ nodes: 20 });
 * await cluster.kubectl("get", "nodes");
 * await cluster.stop();
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const planned = await preflight(options);
  const binaries = await findBinaries({
    ...options,
    onProgress: (build) => options.onProgress?.({ phase: "binaries", build }),
  });
  const start = () => claimAndAssemble(planned, options, binaries);
  return options.port === undefined ? onFreePorts(start) : start();
}

async function claimAndAssemble(planned: Plan, options: ClusterOptions, binaries: Binaries): Promise<Cluster> {
  const folder = folderOf(planned.name);
  const callOff = startReaper(folder); // before there is anything to clean up: no moment is left uncovered
  let claimed: ClusterRecord | undefined;
  try {
    claimed = await claimName({
      id: randomHex(8),
      name: planned.name,
      folder,
      owner: identify(process.pid) as ProcessIdentity,
      started: today().toISOString(),
      ready: false,
      server: "",
      binaries,
      audit: Boolean(options.audit),
      network: null,
    });
    return await assemble(claimed, planned, options, callOff);
  } catch (error) {
    if (claimed) await tearDownOwn(claimed);
    callOff();
    throw error;
  }
}

/** Makes the cluster's folder and its record. What a dead owner left there is removed; a living one is an error. */
async function claimName(record: ClusterRecord): Promise<ClusterRecord> {
  const { name, folder } = record;
  return withClusterLock(folder, async () => {
    const present = readRecord(folder);
    if (present && isWanted(present)) {
      throw new ClusterError("BERTH_CLUSTER_NAME_IN_USE", `there is a cluster "${name}" already`);
    }
    if (hasRemains(folder)) await tearDown(folder);
    return writeRecord(record);
  });
}

async function assemble(
  claimed: ClusterRecord,
  planned: Plan,
  options: ClusterOptions,
  callOff: CallOff,
): Promise<Cluster> {
  const { onProgress, signal: outer } = options;
  const places = clusterPlaces(claimed.folder);
  const home = { places, id: claimed.id };
  const network = planned.realNodes.count > 0 ? await createNetwork(places) : null;
  const controlPlane = await prepare(claimed, planned, options, network);
  const record = writeRecord({ ...claimed, network, server: plane.apiServerUrl(controlPlane) });

  const start = async (spec: ComponentSpec, signal?: AbortSignal) => {
    await waitUntilReady(places, await startComponent(home, spec), signal);
    onProgress?.({ phase: "component", name: spec.name });
  };
  await start(plane.etcd(controlPlane), outer);
  await start(plane.apiServer(controlPlane), outer);

  const api = new Api(record.server, controlPlane.pki.authority, controlPlane.pki.admin);
  const cluster = new Cluster(record, api, callOff);
  const onReady = (ready: number, of: number) => onProgress?.({ phase: "nodes", ready, of });
  // All of these need nothing but the API server.
  await together(
    outer,
    (signal) => start(plane.controllerManager(controlPlane), signal),
    (signal) => start(plane.kwok(controlPlane, stagesFile), signal),
    async (signal) => start(await prepareScheduler(places, record.binaries, "kube-scheduler", {}), signal),
    ...Object.entries(options.schedulers ?? {}).map(
      ([name, given]) =>
        (signal: AbortSignal) =>
          cluster.startScheduler(name, given, signal),
    ),
    (signal) => cluster.addNodes(planned.shapes, { signal, onReady }),
    (signal) => cluster.addRealNodes(planned.realNodes, { signal, images: options.images ?? [] }),
    (signal) => defaultServiceAccount(api, places, signal),
  );
  return cluster.becomeReady(options.detached ?? false);
}

/** Ports, certificates and configuration files: everything that must exist before the first process. */
async function prepare(
  { name, folder, binaries }: ClusterRecord,
  { kwokNodes }: Plan,
  { port, audit }: ClusterOptions,
  network: string | null,
): Promise<plane.ControlPlane> {
  const places = clusterPlaces(folder);
  const address = network ? `${network}.0.1` : "127.0.0.1";
  const ports = {
    etcdHealth: await freePort(),
    apiServer: port ?? (await freePort(address)),
    controllerManager: await freePort(),
    kwok: await freePort(),
  };
  const authority = await Authority.create(places.pki, `berth-${name}`);
  const pki = {
    authority: authority.certificate,
    server: await authority.issue("server", {
      commonName: "kube-apiserver",
      addresses: [...new Set([address, "127.0.0.1", "10.96.0.1"]), "localhost", "kubernetes.default.svc"],
    }),
    admin: await authority.issue("admin", { commonName: "admin", organization: "system:masters" }),
    serviceAccount: await authority.serviceAccountKeys(),
  };
  const server = plane.apiServerUrl({ address, ports });
  writeKubeconfig(places.kubeconfig, { cluster: name, server, authority: pki.authority, user: pki.admin });
  const auditPolicy = audit ? join(places.folder, "audit-policy.yaml") : undefined;
  if (audit && auditPolicy) writeAuditPolicy(auditPolicy, audit);
  return { binaries, places, address, ports, pki, auditPolicy, kwokNodes };
}

/** Without it the API server refuses pods; the controller manager makes it soon after its start. */
async function defaultServiceAccount(api: Api, places: ClusterPlaces, signal?: AbortSignal): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  const found = await poll(() => api.get(path, signal).catch(() => undefined), { timeoutMs: READY_WITHIN_MS, signal });
  if (!found) {
    const message = `kube-controller-manager made no service account; ${logTail(places, "kube-controller-manager")}`;
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_NOT_READY", message);
  }
}
