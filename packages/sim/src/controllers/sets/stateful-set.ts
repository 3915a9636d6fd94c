/**
 * Keeps a StatefulSet's pods, each with its number, its name and its claims. New templates are rolled out from the last pod
 * to the first; there is no history of them, and claims are not deleted with their pods.
 */
import { appsV1, controllerOf, coreV1, keyOf } from "@berth/kube";
import { LocalApi } from "../../api/local-api.ts";
import { Bursts, FAILING_BURST } from "../bursts.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { podIndexes } from "../index-by.ts";
import { keyFrom, messageOf, Parents, textOf } from "../parents.ts";
import { isAvailable, isReady } from "../pod-order.ts";
import { hashOf, podFrom } from "../pod-template.ts";
import { Recorder } from "../recorder.ts";
import { nextAvailable } from "../replica-set.ts";

const REVISION = "controller-revision-hash";

export class StatefulSetController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #parents: Parents<appsV1.StatefulSet, coreV1.Pod>;
  readonly #bursts: Bursts;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:statefulset-controller");
    this.#recorder = new Recorder(surroundings, "statefulset-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#bursts = new Bursts(surroundings.clock);
    this.#parents = new Parents({
      api: this.#api,
      kind: appsV1.StatefulSet,
      childKind: coreV1.Pod,
      selectorOf: ({ spec }) => spec?.selector,
      orphansIn: (namespace) => podIndexes(surroundings.server).orphans.get(namespace).values(),
    });
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(appsV1.StatefulSet, ({ type, object }) => {
        if (type === "DELETED") this.#forget(object);
        else this.#bench.add(textOf(object));
      }),
      this.#api.onChange(coreV1.Pod, ({ type, object, before }) => {
        const parent = this.#parents.of(object);
        if (parent) this.#bench.add(textOf(parent));
        if (type === "DELETED" || controllerOf(object)) return;
        for (const set of this.#parents.wanting(object, before)) this.#bench.add(textOf(set));
      }),
    ];
    for (const set of this.#api.list(appsV1.StatefulSet)) this.#bench.add(textOf(set));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #forget(set: appsV1.StatefulSet): void {
    this.#parents.forget(set);
    this.#bursts.forget(set.metadata.uid ?? "");
  }

  #sync(key: string): void {
    const set = this.#api.get(appsV1.StatefulSet, keyFrom(key));
    if (!set) return;
    const revision = `${set.metadata.name}-${hashOf(set.spec?.template, set.status?.collisionCount)}`;
    const children = podIndexes(this.#surroundings.server).byController.get(set.metadata.uid ?? "");
    const pods = new Map<number, coreV1.Pod>();
    for (const pod of this.#parents.claim(set, children.values())) {
      const ordinal = ordinalOf(set, pod);
      if (ordinal !== undefined) pods.set(ordinal, pod);
    }
    if (set.metadata.deletionTimestamp === undefined) this.#manage(set, revision, pods);
    const now = this.#surroundings.clock.now();
    const all = [
      ...podIndexes(this.#surroundings.server)
        .byController.get(set.metadata.uid ?? "")
        .values(),
    ];
    this.#api.updateStatus(appsV1.StatefulSet, { ...set, status: statusOf(set, revision, all, now) });
    const waitMs = nextAvailable(all, set.spec?.minReadySeconds ?? 0, now);
    if (waitMs !== undefined) this.#bench.addWithin(key, waitMs);
    const restMs = this.#bursts.restMs(set.metadata.uid ?? "");
    if (restMs > 0) this.#bench.addWithin(key, restMs);
  }

  /** Does the next thing; one at a time, unless pods do not have to wait for each other. */
  #manage(set: appsV1.StatefulSet, revision: string, pods: ReadonlyMap<number, coreV1.Pod>): void {
    const { uid = "" } = set.metadata;
    const now = this.#surroundings.clock.now();
    const isParallel = set.spec?.podManagementPolicy === "Parallel";
    const { first, count } = ordinalsOf(set);
    const isWell = (pod: coreV1.Pod) =>
      pod.metadata.deletionTimestamp === undefined && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
    let left = this.#bursts.allow(uid, count - pods.size, FAILING_BURST);
    for (let ordinal = first; ordinal < first + count; ordinal++) {
      const pod = pods.get(ordinal);
      const hasEnded = pod?.status?.phase === "Failed" || pod?.status?.phase === "Succeeded";
      if (pod && hasEnded && pod.metadata.deletionTimestamp === undefined)
        this.#delete(set, pod, "recreating terminated");
      if (!pod && left-- <= 0) return;
      if (!pod) this.#create(set, revision, ordinal);
      if (!isParallel && !(pod && isWell(pod))) return;
    }
    const surplus = [...pods].filter(([ordinal]) => ordinal < first || ordinal >= first + count);
    for (const [, pod] of surplus.toSorted(([a], [b]) => b - a)) {
      if (pod.metadata.deletionTimestamp === undefined) this.#delete(set, pod);
      if (!isParallel) return;
    }
    this.#roll(set, revision, pods, isWell);
  }

  #roll(
    set: appsV1.StatefulSet,
    revision: string,
    pods: ReadonlyMap<number, coreV1.Pod>,
    isWell: (pod: coreV1.Pod) => boolean,
  ): void {
    if (set.spec?.updateStrategy?.type === "OnDelete") return;
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const { first, count } = ordinalsOf(set);
    for (let ordinal = first + count - 1; ordinal >= first + partition; ordinal--) {
      const pod = pods.get(ordinal);
      if (!pod) return;
      const isOld = pod.metadata.labels?.[REVISION] !== revision;
      if (isOld && pod.metadata.deletionTimestamp === undefined) this.#delete(set, pod);
      if (isOld || !isWell(pod)) return;
    }
  }

  #create(set: appsV1.StatefulSet, revision: string, ordinal: number): void {
    const { name = "" } = set.metadata;
    const podName = `${name}-${ordinal}`;
    const draft = podFrom(set.spec?.template, set, appsV1.StatefulSet, { name: podName });
    const volumes = (set.spec?.volumeClaimTemplates ?? []).map((claim) => {
      const claimName = `${claim.metadata.name}-${podName}`;
      this.#ensureClaim(set, claim, claimName);
      return { name: claim.metadata.name ?? "", persistentVolumeClaim: { claimName } };
    });
    const own = draft.spec?.volumes?.filter((volume) => !volumes.some((claim) => claim.name === volume.name)) ?? [];
    try {
      this.#api.create(coreV1.Pod, {
        metadata: {
          ...draft.metadata,
          labels: {
            ...draft.metadata.labels,
            [REVISION]: revision,
            "statefulset.kubernetes.io/pod-name": podName,
            "apps.kubernetes.io/pod-index": String(ordinal),
          },
        },
        spec: {
          ...{ containers: [], ...draft.spec },
          hostname: podName,
          ...(set.spec?.serviceName && { subdomain: set.spec.serviceName }),
          ...(own.length + volumes.length > 0 && { volumes: [...own, ...volumes] }),
        },
      });
      const message = `create Pod ${podName} in StatefulSet ${name} successful`;
      this.#recorder.tell(set, { reason: "SuccessfulCreate", message });
    } catch (error) {
      const message = `create Pod ${podName} in StatefulSet ${name} failed error: ${messageOf(error)}`;
      this.#recorder.tell(set, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  }

  #ensureClaim(set: appsV1.StatefulSet, claim: coreV1.PersistentVolumeClaim, name: string): void {
    const { namespace } = set.metadata;
    if (this.#api.get(coreV1.PersistentVolumeClaim, { namespace, name })) return;
    const labels = { ...claim.metadata.labels, ...set.spec?.selector?.matchLabels };
    const metadata = { ...claim.metadata, name, ...(namespace !== undefined && { namespace }), labels };
    this.#api.create(coreV1.PersistentVolumeClaim, { ...claim, metadata });
  }

  #delete(set: appsV1.StatefulSet, pod: coreV1.Pod, why?: string): void {
    const { name } = pod.metadata;
    if (!this.#api.delete(coreV1.Pod, keyOf(pod))) return;
    if (why !== undefined) {
      const message = `StatefulSet ${set.metadata.namespace}/${set.metadata.name} is ${why} Pod ${name}`;
      this.#recorder.tell(set, { reason: "RecreatingTerminatedPod", message });
    }
    const message = `delete Pod ${name} in StatefulSet ${set.metadata.name} successful`;
    this.#recorder.tell(set, { reason: "SuccessfulDelete", message });
  }
}

function ordinalsOf({ spec }: appsV1.StatefulSet): { first: number; count: number } {
  return { first: spec?.ordinals?.start ?? 0, count: spec?.replicas ?? 1 };
}

function ordinalOf(set: appsV1.StatefulSet, { metadata: { name = "" } }: coreV1.Pod): number | undefined {
  const digits = name.startsWith(`${set.metadata.name}-`) ? name.slice((set.metadata.name ?? "").length + 1) : "";
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

function statusOf(
  set: appsV1.StatefulSet,
  revision: string,
  pods: readonly coreV1.Pod[],
  now: number,
): appsV1.StatefulSetStatus {
  const { count } = ordinalsOf(set);
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const updated = alive.filter(({ metadata }) => metadata.labels?.[REVISION] === revision);
  const ready = pods.filter(isReady);
  const isDone = updated.length === count && pods.length === count && ready.length === count;
  const before = set.status?.currentRevision ?? revision;
  const currentRevision = isDone ? revision : before;
  const current = alive.filter(({ metadata }) => metadata.labels?.[REVISION] === currentRevision);
  return {
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    replicas: pods.length,
    ...(ready.length > 0 && { readyReplicas: ready.length }),
    availableReplicas: pods.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
    ...(current.length > 0 && { currentReplicas: current.length }),
    ...(updated.length > 0 && { updatedReplicas: updated.length }),
    currentRevision,
    updateRevision: revision,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}
