/** Moments as Kubernetes writes them. */

/** The last second that was asked for: much happens in the same one, and to write it out costs a microsecond. */
let last = { second: Number.NaN, text: "" };

/** To the second: the times in metadata and conditions. */
export function kubernetesTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== last.second) last = { second, text: new Date(second * 1000).toISOString().replace(".000Z", "Z") };
  return last.text;
}

/** To the microsecond (MicroTime): the times of leases and events. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}
