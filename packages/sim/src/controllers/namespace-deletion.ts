/** Empties namespaces that are to go: pods first, then everything else, and the namespace itself when nothing is left. */
import { coreV1, kindOf, kubernetesTime } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import { LocalApi } from "../api/local-api.ts";
import type { Resource } from "../api/resource.ts";
import { type Component, type Surroundings, Workbench } from "./component.ts";
import { messageOf } from "./parents.ts";

const FINALIZER = "kubernetes";

/** What is left in a namespace. */
interface Remains {
  /** By "pods." and "jobs.batch". */
  readonly resources: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly problems: string[];
}

export class NamespaceDeletion implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  readonly #leaving = new Set<string>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:namespace-controller");
    this.#bench = new Workbench(surroundings, (name) => this.#empty(name));
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Namespace, ({ type, object }) => this.#onNamespace(type === "DELETED", object)),
      this.#surroundings.server.listen(undefined, ({ after, before }) => {
        if (this.#leaving.size === 0) return;
        // Whoever goes, or is held by fewer, may have been the last.
        const { namespace } = (after ?? before)?.metadata ?? {};
        if (namespace === undefined || !this.#leaving.has(namespace)) return;
        if (!after || after.metadata.finalizers !== before?.metadata.finalizers) this.#bench.add(namespace);
      }),
    ];
    for (const namespace of this.#api.list(coreV1.Namespace)) this.#onNamespace(false, namespace);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #onNamespace(isGone: boolean, { metadata: { name = "", deletionTimestamp } }: coreV1.Namespace): void {
    if (isGone) this.#leaving.delete(name);
    else if (deletionTimestamp !== undefined) {
      this.#leaving.add(name);
      this.#bench.add(name);
    }
  }

  #empty(name: string): void {
    const namespace = this.#api.get(coreV1.Namespace, { name });
    if (namespace?.metadata.deletionTimestamp === undefined || !namespace?.spec?.finalizers?.length) return;
    const resources = this.#resources();
    const remains: Remains = { resources: new Map(), finalizers: new Map(), problems: [] };
    const pods = resources.filter(({ group, plural }) => group === "" && plural === "pods");
    for (const resource of pods) this.#deleteAll(resource, name, remains);
    // What pods need while they end stays until they have.
    const podsRemain = remains.resources.size > 0;
    if (!podsRemain) {
      for (const resource of resources) if (!pods.includes(resource)) this.#deleteAll(resource, name, remains);
    }
    const told = podsRemain ? { resources: new Map(), finalizers: new Map(), problems: remains.problems } : remains;
    const stored = this.#tell(namespace, told);
    if (remains.resources.size === 0 && remains.problems.length === 0) this.#finalize(stored);
  }

  /** Each kind of object once, however many versions it is served in. */
  #resources(): Resource[] {
    const byStorage = new Map<string, Resource>();
    for (const resource of this.#surroundings.server.resources.all()) {
      if (!resource.namespaced || !resource.verbs.includes("delete")) continue;
      const known = byStorage.get(resource.storage);
      if (!known || (known.conversion && !resource.conversion)) byStorage.set(resource.storage, resource);
    }
    return [...byStorage.values()];
  }

  #deleteAll(resource: Resource, namespace: string, remains: Remains): void {
    const { store } = this.#surroundings.server;
    const collection = store.collection(resource.storage);
    if (collection.count(namespace) === 0) return;
    const kind = kindOf<AnyObject>(resource.apiVersion, resource.kind, resource.plural);
    for (const key of collection.keys(namespace)) {
      const object = collection.get(key);
      if (!object || object.metadata.deletionTimestamp !== undefined) continue;
      try {
        this.#api.delete(kind, { namespace, name: object.metadata.name ?? "" }, { propagationPolicy: "Background" });
      } catch (error) {
        remains.problems.push(messageOf(error));
      }
    }
    const left = collection.count(namespace);
    if (left === 0) return;
    remains.resources.set(`${resource.plural}.${resource.group}`, left);
    for (const { metadata } of collection.values(namespace)) {
      for (const each of metadata.finalizers ?? [])
        remains.finalizers.set(each, (remains.finalizers.get(each) ?? 0) + 1);
    }
  }

  #tell(namespace: coreV1.Namespace, remains: Remains): coreV1.Namespace {
    const time = kubernetesTime(this.#surroundings.clock.now());
    const conditions = conditionsOf(namespace.status?.conditions ?? [], remains, time);
    const status: coreV1.NamespaceStatus = { ...namespace.status, phase: "Terminating", conditions };
    return this.#api.updateStatus(coreV1.Namespace, { ...namespace, status });
  }

  #finalize(namespace: coreV1.Namespace): void {
    const { name = "" } = namespace.metadata;
    const finalizers = namespace.spec?.finalizers?.filter((each) => each !== FINALIZER) ?? [];
    const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
    this.#api.put(coreV1.Namespace, { name }, "finalize", body);
  }
}

/** Type; reason and message if all is well; reason if it is not. */
const CONDITIONS = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  [
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
    "ContentDeletionFailed",
  ],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed", "SomeResourcesRemain"],
  [
    "NamespaceFinalizersRemaining",
    "ContentHasNoFinalizers",
    "All content-preserving finalizers finished",
    "SomeFinalizersRemain",
  ],
] as const;

/** What is said about a namespace that is being emptied. Pure. */
export function conditionsOf(
  before: readonly coreV1.NamespaceCondition[],
  { resources, finalizers, problems }: Remains,
  time: string,
): coreV1.NamespaceCondition[] {
  const list = (map: ReadonlyMap<string, number>, words: (name: string, count: number) => string) =>
    [...map]
      .map(([name, count]) => words(name, count))
      .sort()
      .join(", ");
  const left = list(resources, (name, count) => `${name} has ${count} resource instances`);
  const held = list(finalizers, (name, count) => `${name} in ${count} resource instances`);
  const failures = problems.toSorted().join(", ");
  const wrong: Readonly<Record<string, string>> = {
    ...(failures && {
      NamespaceDeletionContentFailure: `Failed to delete all resource types, ${problems.length} remaining: ${failures}`,
    }),
    ...(left && { NamespaceContentRemaining: `Some resources are remaining: ${left}` }),
    ...(held && {
      NamespaceFinalizersRemaining: `Some content in the namespace has finalizers remaining: ${held}`,
    }),
  };
  const ours = CONDITIONS.map(([type, reason, message, badReason]): coreV1.NamespaceCondition => {
    const problem = wrong[type];
    const known = before.find((each) => each.type === type);
    const status = problem === undefined ? "False" : "True";
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? time) : time;
    if (problem === undefined) return { type, status, lastTransitionTime, reason, message };
    return { type, status, lastTransitionTime, reason: badReason ?? reason, message: problem };
  });
  const names = new Set<string>(CONDITIONS.map(([type]) => type));
  return [...before.filter(({ type }) => !names.has(type)), ...ours];
}
