/**
 * Keeps one pod of a DaemonSet on each node that it is for. New templates are rolled out node by node, or when pods are
 * deleted; there is no history of them, so that `kubectl rollout undo` has nothing to return to.
 */
import { appsV1, controllerOf, coreV1, keyOf } from "@berth/kube";
import { LocalApi } from "../../api/local-api.ts";
import { requiredNodes } from "../../placement/required-nodes.ts";
import { isTolerated } from "../../placement/tolerations.ts";
import { Bursts, FAILING_BURST } from "../bursts.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { scaled } from "../deployment/deployment-facts.ts";
import { podIndexes } from "../index-by.ts";
import { keyFrom, messageOf, Parents, textOf } from "../parents.ts";
import { isActive, isAvailable, isReady } from "../pod-order.ts";
import { hashOf, podFrom } from "../pod-template.ts";
import { Recorder } from "../recorder.ts";
import { nextAvailable } from "../replica-set.ts";

const REVISION = "controller-revision-hash";

/** What every pod of a DaemonSet puts up with: nodes in trouble need their daemons too. */
const TOLERATIONS: readonly coreV1.Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

export class DaemonSetController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #parents: Parents<appsV1.DaemonSet, coreV1.Pod>;
  readonly #bursts: Bursts;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:daemon-set-controller");
    this.#recorder = new Recorder(surroundings, "daemonset-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#bursts = new Bursts(surroundings.clock);
    this.#parents = new Parents({
      api: this.#api,
      kind: appsV1.DaemonSet,
      childKind: coreV1.Pod,
      selectorOf: ({ spec }) => spec?.selector,
      orphansIn: (namespace) => podIndexes(surroundings.server).orphans.get(namespace).values(),
    });
  }

  start(): void {
    const addAll = () => {
      for (const set of this.#api.list(appsV1.DaemonSet)) this.#bench.add(textOf(set));
    };
    this.#stops = [
      this.#api.onChange(appsV1.DaemonSet, ({ type, object }) => {
        if (type === "DELETED") this.#forget(object);
        else this.#bench.add(textOf(object));
      }),
      this.#api.onChange(coreV1.Pod, ({ type, object, before }) => {
        const parent = this.#parents.of(object);
        if (parent) this.#bench.add(textOf(parent));
        if (type === "DELETED" || controllerOf(object)) return;
        for (const set of this.#parents.wanting(object, before)) this.#bench.add(textOf(set));
      }),
      this.#api.onChange(coreV1.Node, ({ type, object, before }) => {
        const isNews =
          type !== "MODIFIED" ||
          object.spec?.taints !== before?.spec?.taints ||
          object.metadata.labels !== before?.metadata.labels;
        if (isNews) addAll();
      }),
    ];
    addAll();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #forget(set: appsV1.DaemonSet): void {
    this.#parents.forget(set);
    this.#bursts.forget(set.metadata.uid ?? "");
  }

  #sync(key: string): void {
    const set = this.#api.get(appsV1.DaemonSet, keyFrom(key));
    if (!set) return;
    const hash = hashOf(set.spec?.template, set.status?.collisionCount);
    const children = podIndexes(this.#surroundings.server).byController.get(set.metadata.uid ?? "");
    const pods = this.#parents.claim(set, children.values());
    const byNode = new Map<string, coreV1.Pod[]>();
    for (const pod of pods) {
      const node = nodeOf(pod);
      byNode.set(node, [...(byNode.get(node) ?? []), pod]);
    }
    const nodes = this.#api.list(coreV1.Node);
    if (set.metadata.deletionTimestamp === undefined) {
      this.#manage(set, hash, nodes, byNode);
      if (set.spec?.updateStrategy?.type !== "OnDelete") this.#roll(set, hash, nodes, byNode);
    }
    const now = this.#surroundings.clock.now();
    this.#api.updateStatus(appsV1.DaemonSet, { ...set, status: statusOf(set, hash, nodes, byNode, now) });
    const waitMs = nextAvailable(pods, set.spec?.minReadySeconds ?? 0, now);
    if (waitMs !== undefined) this.#bench.addWithin(key, waitMs);
    const restMs = this.#bursts.restMs(set.metadata.uid ?? "");
    if (restMs > 0) this.#bench.addWithin(key, restMs);
  }

  #manage(
    set: appsV1.DaemonSet,
    hash: string,
    nodes: readonly coreV1.Node[],
    byNode: ReadonlyMap<string, readonly coreV1.Pod[]>,
  ): void {
    const names = new Set(nodes.map(({ metadata }) => metadata.name ?? ""));
    for (const node of nodes) {
      const name = node.metadata.name ?? "";
      const { shouldRun, shouldContinue } = fitness(set, node);
      const here = byNode.get(name) ?? [];
      const failed = here.filter(({ status }) => status?.phase === "Failed" || status?.phase === "Succeeded");
      const active = here.filter((pod) => isActive(pod));
      // What has failed is deleted when it is replaced, and that may have to wait.
      if (shouldRun && here.length === failed.length) {
        const most = failed.length > 0 ? FAILING_BURST : undefined;
        if (this.#bursts.allow(set.metadata.uid ?? "", 1, most) === 0) continue;
        this.#create(set, hash, name);
      }
      for (const pod of failed) this.#delete(set, pod);
      const surplus = shouldContinue ? active.slice(1) : active;
      for (const pod of surplus) this.#delete(set, pod);
    }
    for (const [node, here] of byNode)
      if (!names.has(node)) for (const pod of here.filter(isActive)) this.#delete(set, pod);
  }

  /** Lets as many pods of an old template go as may be missing at a time. */
  #roll(
    set: appsV1.DaemonSet,
    hash: string,
    nodes: readonly coreV1.Node[],
    byNode: ReadonlyMap<string, readonly coreV1.Pod[]>,
  ): void {
    const wanted = nodes.filter((node) => fitness(set, node).shouldRun).length;
    const most = Math.max(1, scaled(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, wanted, Math.ceil));
    const now = this.#surroundings.clock.now();
    const pods = [...byNode.values()].flat().filter(isActive);
    const available = pods.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length;
    let left = most - (wanted - available);
    for (const pod of pods.filter(({ metadata }) => metadata.labels?.[REVISION] !== hash)) {
      const isMissing = !isAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
      if (!isMissing && left-- <= 0) continue;
      this.#delete(set, pod);
    }
  }

  #create(set: appsV1.DaemonSet, hash: string, node: string): void {
    const pod = podFrom(set.spec?.template, set, appsV1.DaemonSet);
    const labels = { ...pod.metadata.labels, [REVISION]: hash };
    try {
      const created = this.#api.create(coreV1.Pod, {
        metadata: { ...pod.metadata, labels },
        spec: pinned({ containers: [], ...pod.spec }, node),
      });
      this.#recorder.tell(set, { reason: "SuccessfulCreate", message: `Created pod: ${created.metadata.name}` });
    } catch (error) {
      const message = `Error creating: ${messageOf(error)}`;
      this.#recorder.tell(set, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  }

  #delete(set: appsV1.DaemonSet, pod: coreV1.Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined || !this.#api.delete(coreV1.Pod, keyOf(pod))) return;
    this.#recorder.tell(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata.name}` });
  }
}

/** The node that a pod is on, or is pinned to. */
function nodeOf({ spec }: coreV1.Pod): string {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.flatMap(({ matchFields = [] }) => matchFields.flatMap(({ values = [] }) => values))[0] ?? "";
}

function pinned(spec: coreV1.PodSpec, node: string): coreV1.PodSpec {
  const field = { key: "metadata.name", operator: "In", values: [node] } as const;
  const { affinity, tolerations = [], hostNetwork } = spec;
  const network: coreV1.Toleration[] = hostNetwork
    ? [{ key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: "NoSchedule" }]
    : [];
  const required = { nodeSelectorTerms: [{ matchFields: [{ ...field, values: [node] }] }] };
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return {
    ...spec,
    affinity: { ...affinity, nodeAffinity },
    tolerations: [...tolerations, ...TOLERATIONS, ...network],
  };
}

/** Whether a node is to have a pod, and whether one that it has may stay. Pure. */
export function fitness(
  { spec }: appsV1.DaemonSet,
  node: coreV1.Node,
): { readonly shouldRun: boolean; readonly shouldContinue: boolean } {
  const template = spec?.template?.spec ?? { containers: [] };
  const { name = "", labels = {} } = node.metadata;
  if (requiredNodes({ spec: template })?.({ name, labels }) === false)
    return { shouldRun: false, shouldContinue: false };
  const tolerations = [...(template.tolerations ?? []), ...TOLERATIONS];
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations));
  return {
    shouldRun: !untolerated.some(({ effect }) => effect !== "PreferNoSchedule"),
    shouldContinue: !untolerated.some(({ effect }) => effect === "NoExecute"),
  };
}

function statusOf(
  set: appsV1.DaemonSet,
  hash: string,
  nodes: readonly coreV1.Node[],
  byNode: ReadonlyMap<string, readonly coreV1.Pod[]>,
  now: number,
): appsV1.DaemonSetStatus {
  let [desired, current, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0];
  for (const node of nodes) {
    const pods = (byNode.get(node.metadata.name ?? "") ?? []).filter(isActive);
    if (!fitness(set, node).shouldRun) {
      if (pods.length > 0) misscheduled++;
      continue;
    }
    desired++;
    const [pod] = pods;
    if (!pod) continue;
    current++;
    if (isReady(pod)) ready++;
    if (isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)) available++;
    if (pod.metadata.labels?.[REVISION] === hash) updated++;
  }
  const { collisionCount, conditions } = set.status ?? {};
  return {
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    desiredNumberScheduled: desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    ...(updated > 0 && { updatedNumberScheduled: updated }),
    ...(available > 0 && { numberAvailable: available }),
    ...(desired > available && { numberUnavailable: desired - available }),
  };
}
