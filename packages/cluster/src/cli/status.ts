/** What `status` prints: pure, from what is known of a cluster to text. */
import type { ComponentStatus } from "../cluster.ts";

export interface ClusterStatus {
  readonly name: string;
  readonly server: string;
  readonly kubeconfig: string;
  /** How long it has been up, in milliseconds. */
  readonly ageMs: number;
  readonly detached: boolean;
  readonly components: readonly ComponentStatus[];
  /** `undefined` if the API server does not answer. */
  readonly nodes: { readonly ready: number; readonly total: number } | undefined;
}

export function statusText({ name, server, kubeconfig, ageMs, detached, components, nodes }: ClusterStatus): string {
  const total = components.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const width = Math.max(...components.map((component) => component.name.length), 9);
  const rows = components.map(({ name, alive, pid, residentBytes }) =>
    [
      name.padEnd(width),
      alive ? "running" : "dead   ",
      `pid ${pid ?? "-"}`.padEnd(12),
      alive ? mebibytes(residentBytes) : "",
    ]
      .join("  ")
      .trimEnd(),
  );
  return [
    `${name}: ${server}, up ${age(ageMs)}, ${detached ? "stays until taken down" : "ends with its starter"}`,
    `  nodes        ${nodes ? `${nodes.ready} of ${nodes.total} ready` : "unknown: the API server does not answer"}`,
    `  memory       ${mebibytes(total).trim()}`,
    `  kubeconfig   ${kubeconfig}`,
    ...rows.map((row) => `  ${row}`),
  ].join("\n");
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`.padStart(9);
}

function age(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return `${Math.floor(milliseconds / 1000)} s`;
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h`;
}
