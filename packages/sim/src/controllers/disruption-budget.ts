/** Works out how many of a disruption budget's pods may be evicted. */
import { appsV1, controllerOf, type coreV1, kubernetesTime, policyV1 } from "@berth/kube";
import { LocalApi } from "../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "./component.ts";
import { scaled } from "./deployment/deployment-facts.ts";
import { keyFrom, selectorFrom } from "./parents.ts";
import { isReady } from "./pod-order.ts";
import { PodSelections } from "./pod-selections.ts";
import { Recorder } from "./recorder.ts";

/** For so long an evicted pod is taken for one that goes, if nothing is seen of that. */
const EVICTION_MS = 120_000;

export class DisruptionBudgetController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  #selections: PodSelections<policyV1.PodDisruptionBudget> | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:disruption-controller");
    this.#recorder = new Recorder(surroundings, "controllermanager");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
  }

  start(): void {
    this.#selections = new PodSelections(this.#surroundings, {
      kind: policyV1.PodDisruptionBudget,
      selectorOf: ({ spec }) => selectorFrom(spec?.selector),
      changed: (key) => this.#bench.add(key),
      matters: (pod, before) =>
        isReady(pod) !== isReady(before) ||
        pod.status?.phase !== before.status?.phase ||
        pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp,
    });
  }

  stop(): void {
    this.#selections?.stop();
    this.#bench.stop();
  }

  #sync(key: string): void {
    const budget = this.#api.get(policyV1.PodDisruptionBudget, keyFrom(key));
    if (!budget) return;
    const pods = [...(this.#selections?.podsOf(key).values() ?? [])];
    if (pods.length === 0) this.#recorder.tell(budget, { reason: "NoPods", message: "No matching pods found" });
    const now = this.#surroundings.clock.now();
    const status = budgetStatus(budget, pods, this.#scaleOf(pods), now);
    this.#api.updateStatus(policyV1.PodDisruptionBudget, { ...budget, status });
    if (Object.keys(status.disruptedPods ?? {}).length > 0) this.#bench.addWithin(key, EVICTION_MS);
  }

  /** How many pods their controllers want together. */
  #scaleOf(pods: readonly coreV1.Pod[]): number {
    const scales = new Map<string, number>();
    for (const pod of pods) {
      const owner = controllerOf(pod);
      if (!owner || scales.has(owner.uid)) continue;
      const key = { namespace: pod.metadata.namespace, name: owner.name };
      const kinds = { ReplicaSet: appsV1.ReplicaSet, StatefulSet: appsV1.StatefulSet } as const;
      const kind = kinds[owner.kind as keyof typeof kinds];
      const set = kind && (this.#api.get<appsV1.ReplicaSet | appsV1.StatefulSet>(kind, key) ?? undefined);
      if (!set) continue;
      // A Deployment knows better than its sets, which are on their way.
      const parent = owner.kind === "ReplicaSet" ? controllerOf(set) : undefined;
      const deployment =
        parent?.kind === "Deployment" ? this.#api.get(appsV1.Deployment, { ...key, name: parent.name }) : undefined;
      scales.set(deployment?.metadata.uid ?? owner.uid, (deployment ?? set).spec?.replicas ?? 1);
    }
    return [...scales.values()].reduce((sum, scale) => sum + scale, 0);
  }
}

/** Pure. @param scale - How many pods there should be, as far as controllers say. */
export function budgetStatus(
  { metadata, spec, status }: policyV1.PodDisruptionBudget,
  pods: readonly coreV1.Pod[],
  scale: number,
  now: number,
): policyV1.PodDisruptionBudgetStatus {
  const { maxUnavailable, minAvailable } = spec ?? {};
  const isNumberOfPods = maxUnavailable === undefined && typeof minAvailable !== "string";
  const expectedPods = isNumberOfPods ? pods.length : scale;
  const desiredHealthy =
    maxUnavailable !== undefined
      ? Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods, Math.ceil))
      : scaled(minAvailable ?? 0, expectedPods, Math.ceil);
  const disrupted = Object.entries(status?.disruptedPods ?? {}).filter(([name, since]) => {
    const pod = pods.find((each) => each.metadata.name === name);
    return pod && pod.metadata.deletionTimestamp === undefined && Date.parse(since) + EVICTION_MS > now;
  });
  const going = new Set(disrupted.map(([name]) => name));
  const healthy = pods.filter(
    (pod) => pod.metadata.deletionTimestamp === undefined && !going.has(pod.metadata.name ?? "") && isReady(pod),
  );
  const spare = healthy.length - desiredHealthy;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, spare);
  const is: "True" | "False" = disruptionsAllowed > 0 ? "True" : "False";
  const known = status?.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const observedGeneration = metadata.generation ?? 1;
  const condition = {
    type: "DisruptionAllowed",
    observedGeneration,
    status: is,
    reason: disruptionsAllowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
    lastTransitionTime: known?.status === is ? known.lastTransitionTime : kubernetesTime(now),
  };
  return {
    ...{ currentHealthy: healthy.length, desiredHealthy, expectedPods, disruptionsAllowed, observedGeneration },
    ...(disrupted.length > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    conditions: [...(status?.conditions?.filter((each) => each !== known) ?? []), condition],
  };
}
