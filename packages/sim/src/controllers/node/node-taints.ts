/** Which of Kubernetes' own taints a node has, by what is known of it. Pure. */
import { type coreV1, kubernetesTime } from "@berth/kube";

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

/** By condition and status: the taint that keeps new pods away. */
const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: "node.kubernetes.io/memory-pressure" },
  DiskPressure: { True: "node.kubernetes.io/disk-pressure" },
  NetworkUnavailable: { True: "node.kubernetes.io/network-unavailable" },
  PIDPressure: { True: "node.kubernetes.io/pid-pressure" },
};

const OURS = new Set([UNSCHEDULABLE, ...Object.values(BY_CONDITION).flatMap((taints) => Object.values(taints))]);

/** Whether a node is ready: "True", "False", "Unknown", or `undefined` if it has not said yet. */
export function readiness({ status }: coreV1.Node): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

/** The taints that a node should have, with those that keep new pods away put right; `undefined` if they are right. */
export function withNoScheduleTaints({ spec, status }: coreV1.Node, now: number): readonly coreV1.Taint[] | undefined {
  const present = spec?.taints ?? [];
  const wanted = new Set<string>();
  for (const { type, status: is } of status?.conditions ?? []) {
    const taint = BY_CONDITION[type]?.[is];
    if (taint !== undefined) wanted.add(taint);
  }
  if (spec?.unschedulable) wanted.add(UNSCHEDULABLE);
  const isOurs = ({ key, effect }: coreV1.Taint) => effect === "NoSchedule" && OURS.has(key);
  const superfluous = present.filter((taint) => isOurs(taint) && !wanted.has(taint.key));
  const missing = [...wanted].filter((key) => !present.some((taint) => isOurs(taint) && taint.key === key));
  if (superfluous.length + missing.length === 0) return undefined;
  const timeAdded = kubernetesTime(now);
  const added = missing.map((key): coreV1.Taint => ({ key, effect: "NoSchedule", timeAdded }));
  return [...present.filter((taint) => !superfluous.includes(taint)), ...added];
}

/** The taint that makes pods leave: which it is, if any, for a node that is so ready. */
export function noExecuteTaint(ready: string | undefined): string | undefined {
  return ready === "False" ? NOT_READY : ready === "Unknown" ? UNREACHABLE : undefined;
}

/** The taints that a node should have, with this one of the two that make pods leave, or neither; `undefined` if it has. */
export function withNoExecuteTaint(
  { spec }: coreV1.Node,
  wanted: string | undefined,
  now: number,
): readonly coreV1.Taint[] | undefined {
  const present = spec?.taints ?? [];
  const isOurs = ({ key, effect }: coreV1.Taint) =>
    effect === "NoExecute" && (key === NOT_READY || key === UNREACHABLE);
  const ours = present.filter(isOurs);
  if (wanted === undefined ? ours.length === 0 : ours.length === 1 && ours[0]?.key === wanted) return undefined;
  const others = present.filter((taint) => !isOurs(taint));
  if (wanted === undefined) return others;
  return [...others, { key: wanted, effect: "NoExecute", timeAdded: kubernetesTime(now) }];
}

/** The conditions of a node that nobody has heard of for too long. */
export function unknownConditions({ metadata, status }: coreV1.Node, now: number): coreV1.NodeCondition[] {
  const time = kubernetesTime(now);
  const conditions = (status?.conditions ?? []).map((condition): coreV1.NodeCondition => {
    if (!SILENT.includes(condition.type) || condition.status === "Unknown") return condition;
    const [reason, message] = ["NodeStatusUnknown", "Kubelet stopped posting node status."];
    return { ...condition, status: "Unknown", reason, message, lastTransitionTime: time };
  });
  for (const type of SILENT) {
    if (conditions.some((condition) => condition.type === type)) continue;
    const [reason, message] = ["NodeStatusNeverUpdated", "Kubelet never posted node status."];
    const { creationTimestamp = time } = metadata;
    const times = { lastHeartbeatTime: creationTimestamp, lastTransitionTime: time };
    conditions.push({ type, status: "Unknown", reason, message, ...times });
  }
  return conditions;
}

const SILENT = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
