/** A real Kubernetes on one machine, as plain processes. @packageDocumentation */
export { Api, ApiError, type KubeObject } from "./api.ts";
export {
  type Binaries,
  type BinaryName,
  binaryNames,
  buildKwokctl,
  findBinaries,
  kubernetesVersion,
} from "./binaries/binaries.ts";
export type { BuildProgress } from "./binaries/build.ts";
export { showProgress } from "./cli/progress.ts";
// For tests and benchmarks, which wait for a real cluster in real time.
export { poll, sleep, stopwatch, today } from "./clock.ts";
export { Cluster, type ComponentStatus, openCluster, type RemoveNodeOptions, removeCluster } from "./cluster.ts";
export type { AuditEvent, AuditOption } from "./control-plane/audit.ts";
export type { SchedulerConfiguration } from "./control-plane/components.ts";
export { ClusterError, type ClusterErrorCode, errorCatalogue } from "./errors.ts";
export { NODE_KIND_LABEL, type NodeShape, takesPods } from "./nodes/kwok-nodes.ts";
export type { ClusterOptions, RealNodes, StartProgress } from "./options.ts";
export { cacheFolder } from "./places.ts";
export { freePort } from "./process/ports.ts";
export { residentBytes } from "./process/processes.ts";
export type { ImageSource } from "./real-node/image.ts";
export { noRealNodes } from "./real-node/real-node.ts";
export { startCluster } from "./start.ts";
