/** Rolls Deployments out, by making their ReplicaSets larger and smaller: see `rollout.ts`. */
import { appsV1, controllerOf, coreV1, isAlreadyExists, type KubernetesObject, keyOf } from "@berth/kube";
import { equal } from "../../api/json.ts";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { IndexBy, podIndexes } from "../index-by.ts";
import { keyFrom, messageOf, Parents, referenceTo, textOf } from "../parents.ts";
import { hashOf } from "../pod-template.ts";
import { Recorder } from "../recorder.ts";
import {
  currentSet,
  DESIRED_REPLICAS,
  historyLimit,
  isRolling,
  numberOf,
  progressDeadlineMs,
  REVISION,
  replicasOf,
  revisionOf,
  setAnnotations,
  sizeAnnotations,
  TEMPLATE_HASH,
  wantedReplicas,
} from "./deployment-facts.ts";
import {
  condition,
  isComplete,
  nextCheckMs,
  pauseCondition,
  rolloutStatus,
  statusOf,
  withCondition,
} from "./deployment-status.ts";
import { newSetSize, type Resize, rescaled, shrunkOldSets } from "./rollout.ts";

const LONGEST_NAME = 253;

export class DeploymentController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #sets: IndexBy<appsV1.ReplicaSet>;
  readonly #parents: Parents<appsV1.Deployment, appsV1.ReplicaSet>;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:deployment-controller");
    this.#recorder = new Recorder(surroundings, "deployment-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#sets = new IndexBy(surroundings.server, appsV1.ReplicaSet, (set) => controllerOf(set)?.uid);
    const orphans = new IndexBy(surroundings.server, appsV1.ReplicaSet, orphanPlace);
    this.#parents = new Parents({
      api: this.#api,
      kind: appsV1.Deployment,
      childKind: appsV1.ReplicaSet,
      selectorOf: ({ spec }) => spec?.selector,
      orphansIn: (namespace) => orphans.get(namespace).values(),
    });
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(appsV1.Deployment, ({ type, object }) => {
        if (type === "DELETED") this.#parents.forget(object);
        else this.#bench.add(textOf(object));
      }),
      this.#api.onChange(appsV1.ReplicaSet, (event) => this.#onSet(event)),
      this.#api.onChange(coreV1.Pod, ({ type, object }) => {
        if (type === "DELETED") this.#onPodGone(object);
      }),
    ];
    for (const deployment of this.#api.list(appsV1.Deployment)) this.#bench.add(textOf(deployment));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #onSet({ type, object, before }: Event<appsV1.ReplicaSet>): void {
    const parents = [this.#parents.of(object), before && this.#parents.of(before)];
    for (const parent of parents) if (parent) this.#bench.add(textOf(parent));
    if (type === "DELETED" || controllerOf(object)) return;
    for (const deployment of this.#parents.wanting(object, before)) this.#bench.add(textOf(deployment));
  }

  /** A Deployment that recreates its pods waits until the last of the old ones is gone. */
  #onPodGone(pod: coreV1.Pod): void {
    const owner = controllerOf(pod);
    if (owner?.kind !== "ReplicaSet") return;
    const set = this.#api.get(appsV1.ReplicaSet, { namespace: pod.metadata.namespace, name: owner.name });
    const deployment = set && this.#parents.of(set);
    if (deployment && !isRolling(deployment)) this.#bench.add(textOf(deployment));
  }

  #sync(key: string): void {
    const deployment = this.#api.get(appsV1.Deployment, keyFrom(key));
    if (!deployment) return;
    const selector = deployment.spec?.selector ?? {};
    if (Object.keys(selector).length === 0) return;
    const sets = this.#parents.claim(deployment, this.#sets.get(deployment.metadata.uid ?? "").values());
    new Sync(this.#surroundings, this.#api, this.#recorder, deployment, sets).run((waitMs) =>
      this.#bench.addWithin(key, waitMs),
    );
  }
}

function orphanPlace(set: KubernetesObject): string | undefined {
  return controllerOf(set) ? undefined : set.metadata.namespace;
}

/** One look at one Deployment. */
class Sync {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #now: number;
  #deployment: appsV1.Deployment;
  #newSet: appsV1.ReplicaSet | undefined;
  #oldSets: appsV1.ReplicaSet[];

  constructor(
    surroundings: Surroundings,
    api: LocalApi,
    recorder: Recorder,
    deployment: appsV1.Deployment,
    sets: readonly appsV1.ReplicaSet[],
  ) {
    this.#surroundings = surroundings;
    this.#api = api;
    this.#recorder = recorder;
    this.#now = surroundings.clock.now();
    this.#deployment = deployment;
    this.#newSet = currentSet(deployment, sets);
    this.#oldSets = sets.filter((set) => set !== this.#newSet);
  }

  run(again: (waitMs: number) => void): void {
    const { metadata, spec } = this.#deployment;
    if (metadata.deletionTimestamp !== undefined) {
      this.#writeStatus();
      return;
    }
    this.#notePause();
    this.#revise();
    if (spec?.paused || this.#isRescaled()) {
      for (const resize of rescaled(this.#deployment, this.#newSet, this.#oldSets)) this.#resize(resize, true);
      if (spec?.paused) this.#cleanUp();
      this.#writeStatus();
      return;
    }
    if (isRolling(this.#deployment)) this.#roll();
    else this.#recreate();
    const status = rolloutStatus(this.#deployment, this.#newSet, this.#all, this.#now);
    this.#put(status);
    const waitMs = nextCheckMs(this.#deployment, status, this.#now);
    if (waitMs !== undefined) again(waitMs);
  }

  get #all(): appsV1.ReplicaSet[] {
    return this.#newSet ? [...this.#oldSets, this.#newSet] : this.#oldSets;
  }

  #roll(): void {
    const newSet = this.#newSet ?? this.#create();
    if (!newSet) return;
    const size = newSetSize(this.#deployment, replicasOf(newSet), this.#all);
    if (size !== replicasOf(newSet)) {
      this.#resize([newSet, size]);
      return;
    }
    const shrunk = shrunkOldSets(this.#deployment, newSet, this.#oldSets);
    for (const resize of shrunk) this.#resize(resize);
    if (shrunk.length === 0 && isComplete(this.#deployment, this.#deployment.status ?? {})) this.#cleanUp();
  }

  #recreate(): void {
    const active = this.#oldSets.filter((set) => replicasOf(set) > 0);
    for (const set of active) this.#resize([set, 0]);
    if (active.length > 0 || this.#oldPodsRun()) return;
    const newSet = this.#newSet ?? this.#create();
    if (newSet) this.#resize([newSet, wantedReplicas(this.#deployment)]);
    if (isComplete(this.#deployment, this.#deployment.status ?? {})) this.#cleanUp();
  }

  #oldPodsRun(): boolean {
    const { byController } = podIndexes(this.#surroundings.server);
    return this.#oldSets.some(({ metadata, status }) => {
      const pods = [...byController.get(metadata.uid ?? "").values()];
      return (
        (status?.replicas ?? 0) > 0 ||
        pods.some((pod) => pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed")
      );
    });
  }

  /** Whether it has another size than its sets know of. */
  #isRescaled(): boolean {
    return this.#all.some((set) => {
      const desired = numberOf(set, DESIRED_REPLICAS);
      return replicasOf(set) > 0 && desired !== undefined && desired !== wantedReplicas(this.#deployment);
    });
  }

  /** The set with the present template has the highest revision, and the Deployment the same. */
  #revise(): void {
    if (!this.#newSet) return;
    const set = this.#newSet;
    const annotations = setAnnotations(this.#deployment, set, this.#nextRevision());
    const minReadySeconds = this.#deployment.spec?.minReadySeconds ?? 0;
    const isSame = equal(annotations, set.metadata.annotations ?? {});
    if (!isSame || (set.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
      const spec = { ...set.spec, selector: set.spec?.selector ?? {}, minReadySeconds };
      this.#newSet = this.#api.update(appsV1.ReplicaSet, { ...set, metadata: { ...set.metadata, annotations }, spec });
    }
    const found = `Found new replica set "${set.metadata.name}"`;
    const isKnown = this.#deployment.status?.conditions?.some(({ type }) => type === "Progressing");
    const news = isKnown ? undefined : condition("Progressing", "True", "FoundNewReplicaSet", found, this.#now);
    this.#noteRevision(annotations[REVISION] ?? "1", news);
  }

  #nextRevision(): number {
    return 1 + Math.max(0, ...this.#oldSets.map(revisionOf));
  }

  /** Writes the revision onto the Deployment, and a condition with it. */
  #noteRevision(revision: string, news: appsV1.DeploymentCondition | undefined): void {
    const { metadata, status } = this.#deployment;
    const hasNews = news !== undefined && progressDeadlineMs(this.#deployment) !== undefined;
    if (metadata.annotations?.[REVISION] === revision && !hasNews) return;
    const annotations = { ...metadata.annotations, [REVISION]: revision };
    const conditions = hasNews ? withCondition(status?.conditions ?? [], news) : status?.conditions;
    this.#deployment = this.#api.updateStatus(appsV1.Deployment, {
      ...this.#deployment,
      metadata: { ...metadata, annotations },
      status: { ...status, ...(conditions && { conditions }) },
    });
  }

  #create(): appsV1.ReplicaSet | undefined {
    const set = this.#draft();
    const name = set.metadata.name ?? "";
    try {
      const created = this.#api.create(appsV1.ReplicaSet, set);
      this.#newSet = created;
      if (replicasOf(created) > 0) this.#tellOfScaling(created, 0, replicasOf(created));
      const message = `Created new replica set "${name}"`;
      const news = condition("Progressing", "True", "NewReplicaSetCreated", message, this.#now);
      this.#noteRevision(created.metadata.annotations?.[REVISION] ?? "1", news);
      return created;
    } catch (error) {
      if (isAlreadyExists(error)) {
        this.#addSalt();
        throw error;
      }
      const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
      this.#recorder.tell(this.#deployment, { type: "Warning", reason: "ReplicaSetCreateError", message });
      if (progressDeadlineMs(this.#deployment) !== undefined) {
        const news = condition("Progressing", "False", "ReplicaSetCreateError", message, this.#now);
        const { status } = this.#deployment;
        this.#put({ ...status, conditions: withCondition(status?.conditions ?? [], news) });
      }
      throw error;
    }
  }

  /** Another set has the name that follows from the template's hash: the next hash is another. */
  #addSalt(): void {
    const { status } = this.#deployment;
    this.#put({ ...status, collisionCount: (status?.collisionCount ?? 0) + 1 });
  }

  #draft(): appsV1.ReplicaSet {
    const { metadata, spec, status } = this.#deployment;
    const { name = "", namespace } = metadata;
    const template = spec?.template ?? { spec: { containers: [] } };
    const hash = hashOf(template, status?.collisionCount);
    const labels = { ...template.metadata?.labels, [TEMPLATE_HASH]: hash };
    const selector = spec?.selector ?? {};
    const set: appsV1.ReplicaSet = {
      metadata: {
        name: `${name.slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`,
        ...(namespace !== undefined && { namespace }),
        labels,
        ownerReferences: [referenceTo(this.#deployment, appsV1.Deployment)],
      },
      spec: {
        replicas: newSetSize(this.#deployment, 0, this.#oldSets),
        ...(spec?.minReadySeconds && { minReadySeconds: spec.minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    const annotations = setAnnotations(this.#deployment, set, this.#nextRevision());
    return {
      ...set,
      metadata: { ...set.metadata, annotations: { ...annotations, ...sizeAnnotations(this.#deployment) } },
    };
  }

  /** @param always - Also if only what the set says about the Deployment's size is to change. */
  #resize([set, replicas]: Resize, always = false): void {
    const before = replicasOf(set);
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.#deployment) };
    if (before === replicas && (!always || equal(annotations, set.metadata.annotations))) return;
    const after = this.#api.update(appsV1.ReplicaSet, {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, selector: set.spec?.selector ?? {}, replicas },
    });
    if (set === this.#newSet) this.#newSet = after;
    else this.#oldSets = this.#oldSets.map((each) => (each === set ? after : each));
    if (before !== replicas) this.#tellOfScaling(after, before, replicas);
  }

  #tellOfScaling({ metadata: { name } }: appsV1.ReplicaSet, from: number, to: number): void {
    const message = `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`;
    this.#recorder.tell(this.#deployment, { reason: "ScalingReplicaSet", message });
  }

  /** Old sets beyond those that are kept for `kubectl rollout undo` go. */
  #cleanUp(): void {
    const limit = historyLimit(this.#deployment);
    const alive = this.#oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (limit === undefined || alive.length <= limit) return;
    const inOrder = alive.toSorted((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of inOrder.slice(0, alive.length - limit)) {
      const { metadata, status } = set;
      const isObserved = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
      if (replicasOf(set) > 0 || (status?.replicas ?? 0) > 0 || !isObserved) continue;
      this.#api.delete(appsV1.ReplicaSet, keyOf(set));
    }
  }

  #notePause(): void {
    if (progressDeadlineMs(this.#deployment) === undefined) return;
    const news = pauseCondition(this.#deployment, this.#now);
    const { status } = this.#deployment;
    if (news) this.#put({ ...status, conditions: withCondition(status?.conditions ?? [], news) });
  }

  #writeStatus(): void {
    this.#put(statusOf(this.#deployment, this.#newSet, this.#all, this.#now));
  }

  #put(status: appsV1.DeploymentStatus): void {
    this.#deployment = this.#api.updateStatus(appsV1.Deployment, { ...this.#deployment, status });
  }
}
