/** Answers without what differs from one time to the next: identities, times, versions, and what is given by chance. */
import { isObject } from "../../api/json.ts";
import type { Reply } from "../patching.ts";

const DROPPED = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "lastPhaseTransitionTime",
  "lastProbeTime",
  "lastTransitionTime",
  "managedFields",
  "resourceVersion",
]);
/** Given from a range of the cluster's. */
const GIVEN = new Set(["clusterIP", "nodePort", "healthCheckNodePort"]);

/** Members in order, so that what is written looks the same each time. @param namespace - Has another name each time. */
export function normalised(value: unknown, namespace: string): unknown {
  if (Array.isArray(value)) return value.map((each) => normalised(each, namespace));
  if (typeof value === "string") return withoutChance(value, namespace);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const member = key === "finalizers" ? unguarded(value[key]) : value[key];
    if (DROPPED.has(key) || member === null) continue;
    if (GIVEN.has(key) && member !== "None") result[key] = "given";
    else if (key === "clusterIPs" && Array.isArray(member) && member[0] !== "None") result[key] = ["given"];
    else result[key] = normalised(member, namespace);
  }
  return result;
}

/** Volumes and claims that are in use are guarded: not in a simulated cluster, where nobody uses them. */
function unguarded(finalizers: unknown): unknown {
  if (!Array.isArray(finalizers)) return finalizers;
  const others = finalizers.filter((each) => !/^kubernetes\.io\/pvc?-protection$/.test(String(each)));
  return others.length > 0 ? others : null;
}

function withoutChance(text: string, namespace: string): string {
  return text
    .replaceAll(namespace, "namespace")
    .replace(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-00000")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "uid")
    .replace(/ResourceVersion in (record|object meta)(:? \(?)\d+/g, "ResourceVersion in $1$2version")
    .replace(/^(.*-)[a-z0-9]{5}$/, (whole, prefix) => (prefix === "generated-" ? `${prefix}00000` : whole));
}

/**
 * What an answer comes to: "accepted", or what was wrong. Objects within messages are not compared: the real server
 * writes them as Go sees them.
 */
export function verdict({ status, body }: Reply, namespace: string): string | readonly string[] {
  if (status < 300) return "accepted";
  const { reason, message, details } = body;
  const short = (text: string) =>
    withoutChance(text, namespace)
      .replace(/\{.*\}/gs, "{…}")
      // Limits are looked through as Go looks through maps: in an order by chance.
      .replace(/(?<=forbidden: \[).*(?=\]$)/, (reasons) =>
        reasons
          .split(/, (?!but )/)
          .sort()
          .join(", "),
      )
      .replace(/\n.*$/s, "");
  const causes: readonly { field?: string; message: string }[] = details?.causes ?? [];
  if (causes.length === 0) return `${status} ${reason}: ${short(message)}`;
  // Some are said twice: the real server checks what changes as if it were new, and once more.
  return [...new Set(causes.map((cause) => `${cause.field}: ${short(cause.message)}`))].sort();
}
