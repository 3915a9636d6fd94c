/** A namespace for tests of controllers, with a node on which its pods run, and what became of them. */
import { type batchV1, coreV1, type Kind, type KubernetesObject } from "@berth/kube";
import { eventually } from "./scheduling-world.ts";
import type { Target } from "./target.ts";

export { eventually };

let worlds = 0;

export class WorkloadWorld {
  readonly target: Target;
  readonly namespace: string;
  readonly node: string;

  private constructor(target: Target, namespace: string, node: string) {
    this.target = target;
    this.namespace = namespace;
    this.node = node;
  }

  /** Runs a test in a world of its own, and tidies up. */
  static async in(target: Target, test: (world: WorkloadWorld) => Promise<void>): Promise<void> {
    const world = new WorkloadWorld(target, await target.namespace(), `workload-${process.pid}-${++worlds}`);
    await target.addNode({ name: world.node });
    try {
      await test(world);
    } finally {
      await target.client.delete(coreV1.Namespace, { name: world.namespace });
      await target.removeNode(world.node).catch(() => {});
    }
  }

  get client() {
    return this.target.client;
  }

  /** A pod's template that says how long its pods run, and how they end. */
  template(
    annotations: Readonly<Record<string, string>> = {},
    spec: Partial<coreV1.PodSpec> = {},
  ): coreV1.PodTemplateSpec {
    return {
      metadata: {
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([name, value]) => [`berth.dev/${name}`, value]),
        ),
      },
      spec: {
        restartPolicy: "Never",
        containers: [{ name: "main", image: "busybox" }],
        nodeSelector: { "kubernetes.io/hostname": this.node },
        ...spec,
      },
    };
  }

  job(name: string, spec: batchV1.JobSpec): batchV1.Job {
    return { metadata: { name, namespace: this.namespace }, spec };
  }

  async pods(): Promise<coreV1.Pod[]> {
    return (await this.client.list(coreV1.Pod, { namespace: this.namespace })).items;
  }

  /** Waits until something holds of an object. */
  until<T extends KubernetesObject>(kind: Kind<T>, name: string, holds: (object: T) => boolean): Promise<T> {
    return eventually(`${kind.kind} ${name}`, async () => {
      const object = await this.client.find(kind, { namespace: this.namespace, name });
      return object && holds(object) ? object : undefined;
    }).catch(async (error) => {
      const last = await this.client.find(kind, { namespace: this.namespace, name });
      throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
    });
  }

  async gone<T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<void> {
    await eventually(`the end of ${kind.kind} ${name}`, async () => {
      return (await this.client.find(kind, { namespace: this.namespace, name })) ? undefined : true;
    });
  }

  /** Waits until the cluster's clock shows a later second than now: times in objects have no more than seconds. */
  async nextSecond(): Promise<void> {
    const probe = { metadata: { generateName: "probe-", namespace: this.namespace } };
    const time = async () => {
      const { metadata } = await this.client.create(coreV1.ConfigMap, probe, { dryRun: true });
      return metadata.creationTimestamp ?? "";
    };
    const now = await time();
    await eventually("another second", async () => ((await time()) > now ? true : undefined));
  }

  /** What was told about an object, as "Normal Completed: Job completed", once such a reason is among it, so many times. */
  async told(kind: string, name: string, reason: string, times = 1): Promise<string[]> {
    return eventually(`an event ${reason} of ${kind} ${name}`, async () => {
      const { items } = await this.client.list(coreV1.Event, { namespace: this.namespace });
      const about = items.filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name);
      if (about.filter((event) => event.reason === reason).length < times) return undefined;
      return about.map((event) => `${event.type} ${event.reason}: ${event.message}`);
    });
  }
}

/** An object without what differs each time: times become "TIME", and what is given its replacement. */
export function timeless<T>(value: T): T {
  const text = JSON.stringify(value, (_, field) =>
    typeof field === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(field) ? "TIME" : field,
  );
  return text === undefined ? value : JSON.parse(text);
}
