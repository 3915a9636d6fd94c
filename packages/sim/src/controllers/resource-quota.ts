/**
 * Says how much of a quota is used: objects by number ("pods", "count/jobs.batch"), and what pods that have not ended ask
 * for. Scopes and storage are left out.
 */
import { coreV1, Quantity } from "@berth/kube";
import { equal } from "../api/json.ts";
import { LocalApi } from "../api/local-api.ts";
import type { Resource } from "../api/resource.ts";
import { amountNamed, podRequests } from "../placement/resources.ts";
import { type Component, type Surroundings, Workbench } from "./component.ts";
import { keyFrom, textOf } from "./parents.ts";

export class ResourceQuotaController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #bench: Workbench;
  /** Quotas by namespace. */
  readonly #quotas = new Map<string, Set<string>>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:resourcequota-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.ResourceQuota, ({ type, object }) => this.#onQuota(object, type === "DELETED")),
      this.#surroundings.server.listen(undefined, ({ before, after }, collection) => {
        if (this.#quotas.size === 0) return;
        const { namespace } = (after ?? before)?.metadata ?? {};
        const quotas = namespace === undefined ? undefined : this.#quotas.get(namespace);
        if (!quotas || (before && after && collection !== "/pods")) return;
        for (const key of quotas) this.#bench.add(key);
      }),
    ];
    for (const quota of this.#api.list(coreV1.ResourceQuota)) this.#onQuota(quota, false);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #onQuota(quota: coreV1.ResourceQuota, isGone: boolean): void {
    const { namespace = "" } = quota.metadata;
    const quotas = this.#quotas.get(namespace) ?? new Set();
    if (isGone) quotas.delete(textOf(quota));
    else quotas.add(textOf(quota));
    if (quotas.size > 0) this.#quotas.set(namespace, quotas);
    else this.#quotas.delete(namespace);
    if (!isGone) this.#bench.add(textOf(quota));
  }

  #sync(key: string): void {
    const quota = this.#api.get(coreV1.ResourceQuota, keyFrom(key));
    if (!quota) return;
    const hard = quota.spec?.hard ?? {};
    const used = Object.fromEntries(
      Object.keys(hard).flatMap((name) => {
        const amount = this.#used(name, quota.metadata.namespace ?? "");
        return amount === undefined ? [] : [[name, amount]];
      }),
    );
    if (equal(quota.status, { hard, used })) return;
    this.#api.updateStatus(coreV1.ResourceQuota, { ...quota, status: { hard, used } });
  }

  #used(name: string, namespace: string): string | undefined {
    const resource = this.#countedBy(name);
    if (resource && name !== "pods") {
      return String(this.#surroundings.server.store.collection(resource.storage).count(namespace));
    }
    const pods = this.#api.list(coreV1.Pod, namespace).filter(({ status }) => !isOver(status?.phase));
    if (name === "pods") return String(pods.length);
    const asked = name.startsWith("requests.") ? name.slice("requests.".length) : name;
    if (asked.startsWith("limits.")) return sumOfLimits(pods, asked.slice("limits.".length));
    const total = pods.reduce((sum, pod) => sum + (amountNamed(podRequests(pod).requests, asked) ?? 0), 0);
    return asked === "cpu" ? Quantity.parse(`${total}m`).toString() : binary(total);
  }

  /** The resource whose objects a name counts: "services", "count/jobs.batch". */
  #countedBy(name: string): Resource | undefined {
    const counted = name.startsWith("count/") ? name.slice("count/".length) : name;
    const dot = counted.indexOf(".");
    const [plural, group] = dot === -1 ? [counted, ""] : [counted.slice(0, dot), counted.slice(dot + 1)];
    return this.#surroundings.server.resources.findAny({ plural, group });
  }
}

function isOver(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function sumOfLimits(pods: readonly coreV1.Pod[], resource: string): string {
  let sum = Quantity.zero;
  for (const { spec } of pods) {
    for (const { resources } of spec?.containers ?? []) sum = sum.plus(resources?.limits?.[resource] ?? "0");
  }
  return sum.toString();
}

function binary(units: number): string {
  return units > 0 && units % 1024 === 0 ? Quantity.parse(`${units / 1024}Ki`).toString() : String(units);
}
