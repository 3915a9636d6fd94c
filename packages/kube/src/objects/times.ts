/** Moments as Kubernetes writes them. */

/** To the second: the times in metadata and conditions. */
export function kubernetesTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

/** To the microsecond (MicroTime): the times of leases and events. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}
