/** Keeps as many pods as a ReplicaSet asks for. */
import { appsV1, controllerOf, coreV1, keyOf, kubernetesTime } from "@berth/kube";
import { type Event, LocalApi } from "../api/local-api.ts";
import { Bursts, FAILING_BURST } from "./bursts.ts";
import { type Component, type Surroundings, Workbench } from "./component.ts";
import { IndexBy, podIndexes } from "./index-by.ts";
import { keyFrom, messageOf, Parents, textOf } from "./parents.ts";
import { byExpendability, isActive, isAvailable, isReady, isTerminating, readySince } from "./pod-order.ts";
import { podFrom } from "./pod-template.ts";
import { Recorder } from "./recorder.ts";

export class ReplicaSetController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #parents: Parents<appsV1.ReplicaSet, coreV1.Pod>;
  /** Sets that belong to the same Deployment. */
  readonly #siblings: IndexBy<appsV1.ReplicaSet>;
  readonly #bursts: Bursts;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:replicaset-controller");
    this.#recorder = new Recorder(surroundings, "replicaset-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#bursts = new Bursts(surroundings.clock);
    this.#siblings = new IndexBy(surroundings.server, appsV1.ReplicaSet, (set) => controllerOf(set)?.uid);
    this.#parents = new Parents({
      api: this.#api,
      kind: appsV1.ReplicaSet,
      childKind: coreV1.Pod,
      selectorOf: ({ spec }) => spec?.selector,
      orphansIn: (namespace) => podIndexes(surroundings.server).orphans.get(namespace).values(),
    });
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(appsV1.ReplicaSet, ({ type, object }) => {
        if (type === "DELETED") this.#forget(object);
        else this.#bench.add(textOf(object));
      }),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const set of this.#api.list(appsV1.ReplicaSet)) this.#bench.add(textOf(set));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #forget(set: appsV1.ReplicaSet): void {
    this.#parents.forget(set);
    this.#bursts.forget(set.metadata.uid ?? "");
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const parent = this.#parents.of(object);
    if (parent) this.#bench.add(textOf(parent));
    if (before && controllerOf(before)?.uid !== controllerOf(object)?.uid) {
      const former = this.#parents.of(before);
      if (former) this.#bench.add(textOf(former));
    }
    if (type === "DELETED" || controllerOf(object)) return;
    for (const set of this.#parents.wanting(object, before)) this.#bench.add(textOf(set));
  }

  #podsOf({ metadata }: appsV1.ReplicaSet): coreV1.Pod[] {
    return [
      ...podIndexes(this.#surroundings.server)
        .byController.get(metadata.uid ?? "")
        .values(),
    ];
  }

  #sync(key: string): void {
    const set = this.#api.get(appsV1.ReplicaSet, keyFrom(key));
    if (!set) return;
    const now = this.#surroundings.clock.now();
    const pods = this.#parents.claim(set, this.#podsOf(set));
    const active = pods.filter(isActive);
    let problem: unknown;
    if (set.metadata.deletionTimestamp === undefined) {
      try {
        this.#manage(set, active, pods.some(hasFailed));
      } catch (error) {
        problem = error;
      }
    }
    const status = statusOf(set, active, pods.filter(isTerminating).length, problem, now);
    this.#api.updateStatus(appsV1.ReplicaSet, { ...set, status });
    const waitMs = nextAvailable(active, set.spec?.minReadySeconds ?? 0, now);
    if (waitMs !== undefined) this.#bench.addWithin(key, waitMs);
    const restMs = this.#bursts.restMs(set.metadata.uid ?? "");
    if (restMs > 0) this.#bench.addWithin(key, restMs);
    if (problem) throw problem;
  }

  #manage(set: appsV1.ReplicaSet, active: readonly coreV1.Pod[], isFailing: boolean): void {
    const surplus = active.length - (set.spec?.replicas ?? 1);
    const missing = this.#bursts.allow(set.metadata.uid ?? "", -surplus, isFailing ? FAILING_BURST : undefined);
    for (let made = 0; made < missing; made++) this.#make(set);
    if (surplus > 0) for (const pod of this.#expendable(set, active, surplus)) this.#delete(set, pod);
  }

  #expendable(set: appsV1.ReplicaSet, active: readonly coreV1.Pod[], count: number): readonly coreV1.Pod[] {
    if (count >= active.length) return active;
    const perNode = new Map<string, number>();
    const owner = controllerOf(set)?.uid;
    const related = owner === undefined ? [set] : [...this.#siblings.get(owner).values()];
    for (const pod of related.flatMap((each) => this.#podsOf(each)).filter(isActive)) {
      const node = pod.spec?.nodeName ?? "";
      perNode.set(node, (perNode.get(node) ?? 0) + 1);
    }
    const rank = ({ spec }: coreV1.Pod) => perNode.get(spec?.nodeName ?? "") ?? 0;
    return active.toSorted((a, b) => byExpendability(a, b, { rank, cost: true })).slice(0, count);
  }

  #make(set: appsV1.ReplicaSet): void {
    try {
      const pod = this.#api.create(coreV1.Pod, podFrom(set.spec?.template, set, appsV1.ReplicaSet));
      this.#recorder.tell(set, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
    } catch (error) {
      const message = `Error creating: ${messageOf(error)}`;
      this.#recorder.tell(set, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  }

  #delete(set: appsV1.ReplicaSet, pod: coreV1.Pod): void {
    if (!this.#api.delete(coreV1.Pod, keyOf(pod))) return;
    this.#recorder.tell(set, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata.name}` });
  }
}

function hasFailed({ status }: coreV1.Pod): boolean {
  return status?.phase === "Failed";
}

/** What a ReplicaSet's status says. Pure. */
export function statusOf(
  { metadata, spec, status }: appsV1.ReplicaSet,
  active: readonly coreV1.Pod[],
  terminating: number,
  problem: unknown,
  now: number,
): appsV1.ReplicaSetStatus {
  const wanted = Object.entries(spec?.template?.metadata?.labels ?? {});
  const isFullyLabeled = (pod: coreV1.Pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const [labeled, ready] = [active.filter(isFullyLabeled).length, active.filter(isReady)];
  const available = ready.filter((pod) => isAvailable(pod, spec?.minReadySeconds ?? 0, now)).length;
  const conditions = withFailure(status?.conditions ?? [], active.length - (spec?.replicas ?? 1), problem, now);
  return {
    replicas: active.length,
    ...(labeled > 0 && { fullyLabeledReplicas: labeled }),
    ...(ready.length > 0 && { readyReplicas: ready.length }),
    ...(available > 0 && { availableReplicas: available }),
    terminatingReplicas: terminating,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}

function withFailure(
  conditions: readonly appsV1.ReplicaSetCondition[],
  surplus: number,
  problem: unknown,
  now: number,
): appsV1.ReplicaSetCondition[] {
  const known = conditions.find(({ type }) => type === "ReplicaFailure");
  if (Boolean(known) === Boolean(problem)) return [...conditions];
  if (!problem) return conditions.filter((condition) => condition !== known);
  const reason = surplus < 0 ? "FailedCreate" : "FailedDelete";
  const lastTransitionTime = kubernetesTime(now);
  const failure = { type: "ReplicaFailure", status: "True", reason, message: messageOf(problem), lastTransitionTime };
  return [...conditions, failure];
}

/** How long it is until the next pod has been ready for long enough; `undefined` if there is none to wait for. */
export function nextAvailable(pods: readonly coreV1.Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods.map((pod) => (readySince(pod) ?? Number.NaN) + minReadySeconds * 1000 - now);
  const coming = waits.filter((wait) => wait > 0);
  return coming.length === 0 ? undefined : Math.min(...coming);
}
