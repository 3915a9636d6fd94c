/** Node shapes as a person types them: `count=5,name=big,cpu=64,memory=256Gi,label:zone=a`. */
import { ClusterError } from "../errors.ts";
import type { NodeShape } from "../nodes/kwok-nodes.ts";

/** Pure: parses one `--shape`. Keys: count, name, `label:KEY`, and any resource (cpu, memory, pods, example.com/gpu …). */
export function parseShape(text: string): NodeShape {
  const labels: Record<string, string> = {};
  const allocatable: Record<string, string> = {};
  let count = 1;
  let name: string | undefined;
  for (const part of text.split(",")) {
    const [, key, value] = part.match(/^([^=]+)=(.*)$/) ?? [];
    if (key === undefined || value === undefined || value === "") {
      throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `--shape "${text}": "${part}" is not KEY=VALUE`);
    }
    if (key === "count") count = wholeNumber("count", value);
    else if (key === "name") name = value;
    else if (key.startsWith("label:")) labels[key.slice("label:".length)] = value;
    else allocatable[key] = value;
  }
  return { count, ...(name && { name }), labels, allocatable };
}

/** Pure: a number from a command line. */
export function wholeNumber(what: string, text: string): number {
  if (!/^\d+$/.test(text)) {
    throw new ClusterError("BERTH_CLUSTER_OPTION_INVALID", `${what} must be a whole number, not "${text}"`);
  }
  return Number(text);
}
