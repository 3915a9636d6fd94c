/** A pod's status as a kubelet reports it: from what its containers do to phase and conditions. Pure. */
import { type coreV1, Quantity } from "@berth/kube";

/** What a container is to its pod: run before the others, run beside them, or what the pod is for. */
export type Role = "init" | "sidecar" | "main";

/** How a container is doing. */
export interface ContainerView {
  readonly spec: coreV1.Container;
  readonly role: Role;
  readonly state: coreV1.ContainerState;
  /** How it ended the time before. */
  readonly last: coreV1.ContainerStateTerminated | undefined;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restarts: number;
  /** Once it has been started. */
  readonly id: string | undefined;
}

/** How a pod is doing. */
export interface PodView {
  readonly containers: readonly ContainerView[];
  /** Whether it has its network and its place to run in. */
  readonly sandbox: boolean;
  /** When the kubelet saw it first, as objects have it. */
  readonly startTime: string;
  readonly hostIP: string;
  readonly podIP: string | undefined;
  /** Nothing will be started in it any more. */
  readonly over: boolean;
  /** Why it was ended from outside, if it was. */
  readonly verdict: { readonly phase: "Failed"; readonly reason: string; readonly message: string } | undefined;
}

/** Whether a container is started again after it has ended with a code. */
export function restarts({ spec, role }: ContainerView, podPolicy: string | undefined, exitCode: number): boolean {
  for (const { action, exitCodes } of spec.restartPolicyRules ?? []) {
    const listed = exitCodes?.values?.includes(exitCode) ?? false;
    if (action === "Restart" && exitCodes && (exitCodes.operator === "NotIn" ? !listed : listed)) return true;
  }
  const policy = spec.restartPolicy ?? podPolicy ?? "Always";
  if (policy === "Always") return role !== "init" || exitCode !== 0;
  return policy === "OnFailure" && exitCode !== 0;
}

/** The phase that follows from what the containers do. */
export function phaseOf({ containers, over, verdict }: PodView, podPolicy: string | undefined): PodPhase {
  if (verdict) return verdict.phase;
  let [pending, running, stopped, final, succeeded] = [false, 0, 0, 0, 0];
  for (const container of containers) {
    const { state, last, role, started } = container;
    const end = state.terminated ?? (state.waiting && last);
    if (role === "init") {
      if (!end) pending = true;
      else if (end.exitCode !== 0 && (over || !restarts(container, podPolicy, end.exitCode))) return "Failed";
      else if (end.exitCode !== 0) pending = true;
      continue;
    }
    if (role === "sidecar") {
      if (state.running) running++;
      if (!started && !end) pending = true;
      continue;
    }
    if (state.running) running++;
    else if (end) {
      stopped++;
      if (over || !restarts(container, podPolicy, end.exitCode)) final++;
      if (end.exitCode === 0) succeeded++;
    } else pending = true;
  }
  if (pending) return over ? "Failed" : "Pending";
  if (running > 0) return "Running";
  if (stopped > final) return "Running";
  return stopped === succeeded ? "Succeeded" : "Failed";
}

export type PodPhase = NonNullable<coreV1.PodStatus["phase"]>;

const OURS = new Set(["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]);

/**
 * The whole status, in the form in which the server stores it; what others have written into it stays.
 *
 * @param now - The time, as objects have it.
 */
export function podStatus(pod: coreV1.Pod, view: PodView, now: string): coreV1.PodStatus {
  const { metadata, spec, status = {} } = pod;
  const { containers, hostIP, podIP, verdict } = view;
  const phase = phaseOf(view, spec?.restartPolicy);
  const generation = metadata.generation ?? 1;
  const kept = status.conditions?.filter(({ type }) => !OURS.has(type)) ?? [];
  const condition = (type: string, finding: Finding): coreV1.PodCondition => {
    const before = status.conditions?.find((each) => each.type === type);
    const since = before?.status === finding.status ? before.lastTransitionTime : now;
    return {
      type,
      observedGeneration: generation,
      ...finding,
      lastProbeTime: null,
      ...(since !== undefined && { lastTransitionTime: since }),
    } as unknown as coreV1.PodCondition;
  };
  const containersReady = readiness(view, phase);
  const init = containers.filter(({ role }) => role !== "main");
  const next: coreV1.PodStatus = {
    ...status,
    ...(status.resources === undefined && wholePod(containers)),
    phase,
    observedGeneration: generation,
    ...(verdict && { reason: verdict.reason, message: verdict.message }),
    conditions: [
      ...kept,
      condition("PodReadyToStartContainers", view.sandbox ? TRUE : FALSE),
      condition("Initialized", initialized(view, phase)),
      condition("Ready", podReadiness(pod, containersReady, kept)),
      condition("ContainersReady", containersReady),
      condition("PodScheduled", TRUE),
    ],
    containerStatuses: byName(containers.filter(({ role }) => role === "main")).map(containerStatus),
    ...(init.length > 0 && { initContainerStatuses: init.map(containerStatus) }),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(podIP !== undefined && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: status.startTime ?? view.startTime,
  };
  if (!verdict && (next.reason !== undefined || next.message !== undefined)) {
    delete next.reason;
    delete next.message;
  }
  return next;
}

/** Init containers are told of in the order in which they run, all others in that of their names. */
function byName(containers: readonly ContainerView[]): readonly ContainerView[] {
  return containers.length === 1 ? containers : containers.toSorted((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}

interface Finding {
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

const TRUE: Finding = { status: "True" };
const FALSE: Finding = { status: "False" };

function readiness({ containers }: PodView, phase: PodPhase): Finding {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  const unready = containers.filter(({ role, ready }) => role !== "init" && !ready);
  if (unready.length === 0) return TRUE;
  const names = unready.map(({ spec }) => spec.name).join(" ");
  return { status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${names}]` };
}

function podReadiness({ spec }: coreV1.Pod, containers: Finding, others: readonly coreV1.PodCondition[]): Finding {
  if (containers.status !== "True") return containers;
  const problems: string[] = [];
  for (const { conditionType } of spec?.readinessGates ?? []) {
    const gate = JSON.stringify(conditionType);
    const found = others.find(({ type }) => type === conditionType);
    if (!found) problems.push(`corresponding condition of pod readiness gate ${gate} does not exist.`);
    else if (found.status !== "True") {
      problems.push(`the status of pod readiness gate ${gate} is not "True", but ${found.status}`);
    }
  }
  if (problems.length === 0) return TRUE;
  return { status: "False", reason: "ReadinessGatesNotReady", message: problems.join(", ") };
}

function initialized({ containers }: PodView, phase: PodPhase): Finding {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  if (containers.some(({ role, id }) => role === "main" && id !== undefined)) return TRUE;
  const incomplete = containers.filter(({ role, ready, started }) =>
    role === "init" ? !ready : role === "sidecar" && !started,
  );
  if (incomplete.length === 0) return TRUE;
  const names = incomplete.map(({ spec }) => spec.name).join(" ");
  return {
    status: "False",
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${names}]`,
  };
}

function containerStatus(container: ContainerView): coreV1.ContainerStatus {
  const { spec, state, last, ready, started, restarts: restartCount, id } = container;
  const { name, image = "", resources, volumeMounts } = spec;
  return {
    name,
    image,
    imageID: "",
    ready,
    started,
    restartCount,
    state,
    lastState: last ? { terminated: last } : {},
    ...(id !== undefined && { containerID: id, resources: resources ?? {} }),
    ...(id !== undefined && resources?.requests && { allocatedResources: resources.requests }),
    ...(volumeMounts && { volumeMounts: volumeMounts.map(mountStatus) }),
  };
}

/** What the pod as a whole has been given; that stays as it is for as long as it runs. */
function wholePod(containers: readonly ContainerView[]): Pick<coreV1.PodStatus, "resources" | "allocatedResources"> {
  const specs = containers.filter(({ role }) => role !== "init").map(({ spec }) => spec.resources);
  const requests = sum(specs.map((resources) => resources?.requests));
  const limits = specs.every((resources) => resources?.limits) ? sum(specs.map((resources) => resources?.limits)) : {};
  const has = (list: object) => Object.keys(list).length > 0;
  return {
    ...(has(requests) && { allocatedResources: requests }),
    resources: { ...(has(limits) && { limits }), ...(has(requests) && { requests }) },
  };
}

function sum(lists: readonly (Record<string, string> | undefined)[]): Record<string, string> {
  const [only] = lists;
  if (lists.length === 1) return only ?? {};
  const total: Record<string, string> = {};
  for (const list of lists) {
    for (const [name, quantity] of Object.entries(list ?? {})) {
      const present = total[name];
      total[name] = present === undefined ? quantity : Quantity.parse(present).plus(quantity).toString();
    }
  }
  return total;
}

function mountStatus({ name, mountPath, readOnly }: coreV1.VolumeMount): coreV1.VolumeMountStatus {
  return { name, mountPath, ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }) };
}
