/** Makes definitions true: serves what they define from the moment they are accepted until their last object is gone. */
import { apiextensionsV1, kubernetesTime, withoutFinalizer } from "@berth/kube";
import { equal } from "../api/json.ts";
import { LocalApi } from "../api/local-api.ts";
import type { Resource } from "../api/resource.ts";
import { type Component, type Surroundings, Workbench } from "../controllers/component.ts";
import { CLEANUP, type Definition, type DefinitionStatus, isTrue } from "./definition.ts";
import { resourcesOf, storageOf } from "./resources.ts";
import { acceptedStatus, takenBy, withConditions } from "./status.ts";

const { CustomResourceDefinition } = apiextensionsV1;

/** What is served for a definition, and what it said then. */
interface Served {
  readonly definition: Definition;
  readonly resources: readonly Resource[];
}

export class CustomResources implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  readonly #served = new Map<string, Served>();
  readonly #going = new Set<string>();
  /** Hear of the objects of definitions that go. */
  readonly #waiting = new Map<string, () => void>();
  #stopListening = () => {};

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:apiserver");
    this.#bench = new Workbench(surroundings, (name) => this.#settle(name));
  }

  start(): void {
    this.#stopListening = this.#api.onChange(CustomResourceDefinition, ({ object }) => {
      if (object.metadata.name) this.#bench.add(object.metadata.name);
    });
    for (const { metadata } of this.#api.list(CustomResourceDefinition)) this.#bench.add(metadata.name ?? "");
  }

  stop(): void {
    this.#stopListening();
    for (const end of this.#waiting.values()) end();
    this.#bench.stop();
  }

  #settle(name: string): void {
    const definition = this.#api.get(CustomResourceDefinition, { name });
    if (!definition) this.#unserve(name);
    else if (definition.metadata.deletionTimestamp) this.#terminate(definition);
    else this.#accept(definition);
  }

  #accept(definition: Definition): void {
    const others = this.#group(definition);
    const status = acceptedStatus(definition, takenBy(others), this.#time);
    if (!equal(status, definition.status)) {
      this.#api.updateStatus(CustomResourceDefinition, { ...definition, status });
      // A name that is free now may be wanted by somebody.
      this.#reconsider(others);
      return; // the change brings us here again
    }
    if (isTrue(definition, "Established")) this.#serve(definition);
  }

  #serve(definition: Definition): void {
    const name = definition.metadata.name ?? "";
    const before = this.#served.get(name);
    if (before && isSame(before.definition, definition)) return;
    const isNew = !before && this.#collection(definition).size === 0;
    const resources = resourcesOf(definition, { isNew, isGoing: () => this.#going.has(name) });
    const registry = this.#surroundings.server.resources;
    for (const resource of before?.resources ?? []) {
      if (!resources.some(({ version }) => version === resource.version)) registry.remove(resource);
    }
    for (const resource of resources) {
      // What the server has had from the beginning nobody can replace.
      const present = registry.find(resource);
      if (!present || present.custom) registry.add(resource);
    }
    this.#served.set(name, { definition, resources });
  }

  /** Objects go before what they are objects of. */
  #terminate(definition: Definition): void {
    const name = definition.metadata.name ?? "";
    if (!definition.metadata.finalizers?.includes(CLEANUP)) return;
    if (!isTrue(definition, "Established")) {
      this.#finish(definition, "NeverEstablished", "resource was never established");
      return;
    }
    this.#serve(definition);
    this.#going.add(name);
    const [resource] = this.#served.get(name)?.resources ?? [];
    const collection = this.#collection(definition);
    if (!resource || collection.size === 0) {
      this.#finish(definition, "InstanceDeletionCompleted", "removed all instances");
      return;
    }
    if (this.#waiting.has(name)) return; // asked already
    this.#waiting.set(
      name,
      this.#surroundings.server.listen(resource, ({ after }) => !after && this.#bench.add(name)),
    );
    const message = "CustomResource deletion is in progress";
    this.#updateStatus(definition, { status: "True", reason: "InstanceDeletionInProgress", message });
    const namespaces = new Set([...collection.values()].map(({ metadata }) => metadata.namespace));
    for (const namespace of namespaces) {
      this.#surroundings.server.request({ verb: "deletecollection", kind: resource, namespace });
    }
  }

  #finish(definition: Definition, reason: string, message: string): void {
    this.#waiting.get(definition.metadata.name ?? "")?.();
    this.#waiting.delete(definition.metadata.name ?? "");
    this.#updateStatus(withoutFinalizer(definition, CLEANUP), { status: "False", reason, message });
  }

  #updateStatus(
    definition: Definition,
    condition: { status: "True" | "False"; reason: string; message: string },
  ): void {
    const status: DefinitionStatus = withConditions(
      definition.status,
      [{ type: "Terminating", ...condition }],
      this.#time,
    );
    this.#api.updateStatus(CustomResourceDefinition, { ...definition, status });
  }

  #unserve(name: string): void {
    const served = this.#served.get(name);
    this.#served.delete(name);
    this.#going.delete(name);
    for (const resource of served?.resources ?? []) this.#surroundings.server.resources.remove(resource);
    if (served) this.#reconsider(this.#group(served.definition));
  }

  /** Those whose names are not all theirs yet. */
  #reconsider(definitions: readonly Definition[]): void {
    for (const each of definitions) if (!isTrue(each, "NamesAccepted")) this.#bench.add(each.metadata.name ?? "");
  }

  /** The other definitions of the same group. */
  #group({ metadata, spec }: Definition): Definition[] {
    const all = this.#api.list(CustomResourceDefinition);
    return all.filter((each) => each.spec.group === spec.group && each.metadata.name !== metadata.name);
  }

  #collection(definition: Definition) {
    return this.#surroundings.server.store.collection(storageOf(definition));
  }

  get #time(): string {
    return kubernetesTime(this.#surroundings.clock.now());
  }
}

/** Whether the same is to be served for both. */
function isSame(a: Definition, b: Definition): boolean {
  return equal(a.spec, b.spec) && equal(a.status?.acceptedNames, b.status?.acceptedNames);
}
