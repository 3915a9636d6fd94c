/** An API server, a virtual clock and a scheduler, and nothing else: pods are bound, and then nothing happens to them. */
import { coreV1, type eventsV1, kubernetesTime, SeededRandom, VirtualClock } from "@berth/kube";
import { ApiServer } from "../../api/api-server.ts";
import { LocalApi } from "../../api/local-api.ts";
import { builtinResources } from "../../kinds/builtin.ts";
import { subresources } from "../../kinds/subresources.ts";
import { Scheduler, type SchedulerOptions } from "../scheduler.ts";

export interface TestClusterOptions extends SchedulerOptions {
  readonly seed?: string;
  readonly events?: boolean;
  /** More schedulers beside the first. */
  readonly more?: readonly SchedulerOptions[];
}

type Resources = Readonly<Record<string, string>>;

export class TestCluster {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly api: LocalApi;
  readonly failures: unknown[] = [];
  readonly #schedulers: Scheduler[];

  constructor({ seed = "test", events = true, more = [], ...options }: TestClusterOptions = {}) {
    const onFailure = (error: unknown) => this.failures.push(error);
    const random = new SeededRandom(seed);
    this.server = new ApiServer({
      clock: this.clock,
      random: random.fork("api"),
      subresources,
      onFailure,
    });
    for (const resource of builtinResources()) this.server.resources.add(resource);
    this.api = new LocalApi(this.server, "admin");
    this.api.create(coreV1.Namespace, { metadata: { name: "default" } });
    this.#schedulers = [options, ...more].map(
      (each, index) =>
        new Scheduler(
          { server: this.server, clock: this.clock, random: random.fork(`scheduler-${index}`), onFailure, events },
          each,
        ),
    );
    for (const scheduler of this.#schedulers) scheduler.start();
  }

  node(name: string, allocatable: Resources = {}, more: Partial<coreV1.Node> = {}): coreV1.Node {
    const status = { allocatable: { cpu: "4", memory: "8Gi", pods: "110", ...allocatable } };
    const created = this.api.create(coreV1.Node, {
      ...more,
      metadata: { name, ...more.metadata, labels: { "kubernetes.io/hostname": name, ...more.metadata?.labels } },
    });
    return this.api.updateStatus(coreV1.Node, { ...created, status: { ...status, ...more.status } });
  }

  /** A pod with one container that asks for so much. */
  pod(name: string, requests: Resources = {}, spec: Partial<coreV1.PodSpec> = {}, labels?: Resources): coreV1.Pod {
    return this.api.create(coreV1.Pod, {
      metadata: { name, namespace: "default", ...(labels && { labels }) },
      spec: { containers: [{ name: "main", image: "pause", resources: { requests } }], ...spec },
    });
  }

  /** A pod that runs already, since so many seconds. */
  running(
    name: string,
    nodeName: string,
    requests: Resources = {},
    spec: Partial<coreV1.PodSpec> = {},
    { age = 0, labels }: { age?: number; labels?: Resources } = {},
  ): coreV1.Pod {
    const pod = this.pod(name, requests, { ...spec, nodeName }, labels);
    const startTime = kubernetesTime(this.clock.now() - age * 1000);
    return this.api.updateStatus(coreV1.Pod, { ...pod, status: { ...pod.status, phase: "Running", startTime } });
  }

  get(name: string): coreV1.Pod | undefined {
    return this.api.get(coreV1.Pod, { namespace: "default", name });
  }

  /** Where a pod is, if anywhere. */
  placeOf(name: string): string | undefined {
    return this.get(name)?.spec?.nodeName;
  }

  condition(name: string, type = "PodScheduled"): coreV1.PodCondition | undefined {
    return this.get(name)?.status?.conditions?.find((condition) => condition.type === type);
  }

  delete(name: string, gracePeriodSeconds = 0): void {
    this.api.delete(coreV1.Pod, { namespace: "default", name }, { gracePeriodSeconds });
  }

  events(): eventsV1.Event[] {
    const list = this.server.request({ verb: "list", kind: EVENTS, namespace: "default" });
    return (list as unknown as { items: eventsV1.Event[] }).items;
  }

  /** Lets everything happen that happens now. */
  async settle(): Promise<void> {
    await this.clock.settle();
    if (this.failures.length > 0) throw this.failures[0];
  }

  /** Lets so many seconds pass. */
  async pass(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1000);
    if (this.failures.length > 0) throw this.failures[0];
  }

  stop(): void {
    for (const scheduler of this.#schedulers) scheduler.stop();
  }
}

const EVENTS = {
  group: "events.k8s.io",
  version: "v1",
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};
