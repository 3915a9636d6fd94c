/**
 * A corner of a cluster for tests of scheduling: nodes that only the test's own pods go to, and what became of those pods.
 * Other nodes may be there; the test's pods cannot go to them, and messages count them.
 */
import { coreV1, eventsV1, findCondition, isForbidden, isNotFound, schedulingV1, sleep, WallClock } from "@berth/kube";
import type { NodeShape, Target } from "./target.ts";

type Pod = coreV1.Pod;
type Labels = Readonly<Record<string, string>>;

/** On all nodes of a test, so that nobody else's pods go there, and its own nowhere else. */
const CORNER = "conformance.berth.dev/corner";

export interface PodOptions {
  readonly requests?: Labels;
  readonly spec?: Partial<coreV1.PodSpec>;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  /** By the value of its priority class, which is made. */
  readonly priority?: number;
  /** Whether it may evict others. Default: yes. */
  readonly preempts?: boolean;
  /** Whether it may go to any node that takes it, not only to those of the test. Default: no. */
  readonly anywhere?: boolean;
}

let corners = 0;

export class SchedulingWorld {
  readonly target: Target;
  readonly namespace: string;
  readonly corner: string;
  readonly #nodes: string[] = [];

  private constructor(target: Target, namespace: string) {
    this.target = target;
    this.namespace = namespace;
    this.corner = `c${++corners}`;
  }

  /** Runs a test in a corner of its own, and tidies up. */
  static async in(target: Target, test: (world: SchedulingWorld) => Promise<void>): Promise<void> {
    const world = new SchedulingWorld(target, await target.namespace());
    try {
      await test(world);
    } finally {
      await world.#tidyUp();
    }
  }

  /** The name of a node: those of different tests differ. */
  nodeName(name: string): string {
    return `${this.corner}-${name}`;
  }

  async node(name: string, shape: Omit<NodeShape, "name"> = {}): Promise<string> {
    const full = this.nodeName(name);
    this.#nodes.push(full);
    await this.target.addNode({
      ...shape,
      name: full,
      labels: { [CORNER]: this.corner, ...shape.labels },
      taints: [{ key: CORNER, value: this.corner, effect: "NoSchedule" }, ...(shape.taints ?? [])],
    });
    return full;
  }

  async removeNode(full: string): Promise<void> {
    await this.target.removeNode(full);
    this.#nodes.splice(this.#nodes.indexOf(full), 1);
  }

  /** A pod as it would be created. */
  podObject(name: string, options: PodOptions): Pod {
    const { requests = {}, spec = {}, labels, annotations, priority, preempts = true, anywhere } = options;
    return {
      metadata: { name, namespace: this.namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: "main", image: "registry.k8s.io/pause", resources: { requests, limits: limits(requests) } },
        ],
        ...(priority !== undefined && { priorityClassName: classOf(priority, preempts) }),
        ...spec,
        ...(!anywhere && { nodeSelector: { [CORNER]: this.corner, ...spec.nodeSelector } }),
        tolerations: [{ key: CORNER, operator: "Equal", value: this.corner }, ...(spec.tolerations ?? [])],
      },
    };
  }

  async pod(name: string, options: PodOptions = {}): Promise<Pod> {
    if (options.priority !== undefined) await this.#priorityClass(options.priority, options.preempts ?? true);
    const { client } = this.target;
    return eventually(`pod ${name} to be accepted`, async () => {
      try {
        return await client.create(coreV1.Pod, this.podObject(name, options));
      } catch (error) {
        // A priority class is not known everywhere in the moment it is made.
        if (isForbidden(error) && String(error).includes("no PriorityClass")) return undefined;
        throw error;
      }
    });
  }

  /** A pod that is on a node and runs, since the given moment. */
  async running(name: string, node: string, options: PodOptions & { since?: string } = {}): Promise<Pod> {
    await this.pod(name, { ...options, spec: { ...options.spec, nodeName: node } });
    const pod = await this.until(name, ({ status }) => status?.phase === "Running");
    const { since } = options;
    if (since === undefined) return pod;
    const key = { namespace: this.namespace, name };
    return this.target.client.subresource("status").patch(coreV1.Pod, key, { merge: { status: { startTime: since } } });
  }

  async find(name: string): Promise<Pod | undefined> {
    return this.target.client.find(coreV1.Pod, { namespace: this.namespace, name });
  }

  async get(name: string): Promise<Pod> {
    return this.target.client.get(coreV1.Pod, { namespace: this.namespace, name });
  }

  async delete(name: string, gracePeriodSeconds = 0): Promise<void> {
    await this.target.client.delete(coreV1.Pod, { namespace: this.namespace, name }, { gracePeriodSeconds });
  }

  /** Waits until something holds of a pod. */
  until(name: string, holds: (pod: Pod) => boolean): Promise<Pod> {
    return eventually(`pod ${name}`, async () => {
      const pod = await this.find(name);
      return pod && holds(pod) ? pod : undefined;
    });
  }

  /** The node that a pod was bound to. */
  async placeOf(name: string): Promise<string> {
    return (await this.until(name, ({ spec }) => Boolean(spec?.nodeName))).spec?.nodeName ?? "";
  }

  /** Waits until the scheduler has found no place for a pod, and says why. */
  async unscheduled(name: string, message?: string): Promise<coreV1.PodCondition> {
    const pod = await this.until(name, ({ status }) => {
      const found = findCondition(status?.conditions, "PodScheduled");
      if (found?.status !== "False" || found.reason === "SchedulingGated") return false;
      return message === undefined || found.message === message;
    }).catch(async (error) => {
      const found = findCondition((await this.find(name))?.status?.conditions, "PodScheduled");
      throw new Error(`${error}: ${JSON.stringify(found)}`);
    });
    return findCondition(pod.status?.conditions, "PodScheduled") as coreV1.PodCondition;
  }

  async gone(name: string): Promise<void> {
    await eventually(`the end of pod ${name}`, async () => ((await this.find(name)) ? undefined : true));
  }

  /** What was told about a pod, waiting until there is so much. */
  async events(name: string, reason: string): Promise<eventsV1.Event[]> {
    return eventually(`an event ${reason} of pod ${name}`, async () => {
      const { items } = await this.target.client.list(eventsV1.Event, { namespace: this.namespace });
      const found = items.filter((event) => event.regarding?.name === name && event.reason === reason);
      return found.length > 0 ? found : undefined;
    });
  }

  /** How many nodes there are. */
  async count(): Promise<number> {
    return (await this.target.client.list(coreV1.Node)).items.length;
  }

  /** The sentence about nodes that will not do. Others' nodes are none of the selected ones, if not worse. */
  async message(reasons: Readonly<Record<string, number>>, preemption?: string): Promise<string> {
    const { items } = await this.target.client.list(coreV1.Node);
    const counted = { ...reasons };
    for (const node of items) {
      if (node.metadata.labels?.[CORNER] === this.corner) continue;
      const reason = othersReason(node);
      counted[reason] = (counted[reason] ?? 0) + 1;
    }
    // What the test says nothing about is not selected either.
    const own = items.filter(({ metadata }) => metadata.labels?.[CORNER] === this.corner).length;
    const rest = own - Object.values(reasons).reduce((sum, count) => sum + count, 0);
    if (rest > 0) counted[NOT_SELECTED] = (counted[NOT_SELECTED] ?? 0) + rest;
    return sentence(items.length, counted) + (preemption === undefined ? "" : ` ${CLAIMS}, preemption: ${preemption}`);
  }

  /** The sentence about a preemption that helps nobody. */
  async noPreemption(reasons: Readonly<Record<string, number>> = {}): Promise<string> {
    const all = await this.count();
    const counted = { ...reasons };
    const own = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    if (all > own) counted["Preemption is not helpful for scheduling"] = all - own;
    return sentence(all, counted);
  }

  async #priorityClass(value: number, preempts: boolean): Promise<void> {
    const name = classOf(value, preempts);
    const { client } = this.target;
    if (await client.find(schedulingV1.PriorityClass, { name })) return;
    const preemptionPolicy = preempts ? "PreemptLowerPriority" : "Never";
    await client.create(schedulingV1.PriorityClass, { metadata: { name }, value, preemptionPolicy });
  }

  async #tidyUp(): Promise<void> {
    const { client } = this.target;
    await client.deleteAllOf(coreV1.Pod, { namespace: this.namespace, gracePeriodSeconds: 0 });
    for (const name of this.#nodes) {
      await this.target.removeNode(name).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }
}

function classOf(value: number, preempts: boolean): string {
  return `conformance-${value < 0 ? `minus-${-value}` : value}${preempts ? "" : "-never"}`;
}

/** Of extended resources one gets what one asks for, and no more. */
function limits(requests: Labels): Labels {
  return Object.fromEntries(Object.entries(requests).filter(([name]) => name.includes("/")));
}

/** What is said before preemption is spoken of: nobody has claims here. */
export const CLAIMS = "no new claims to deallocate";

const NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector";

function othersReason({ spec }: coreV1.Node): string {
  if (spec?.unschedulable) return "node(s) were unschedulable";
  const hard = spec?.taints?.some(({ effect }) => effect === "NoSchedule" || effect === "NoExecute");
  return hard ? "node(s) had untolerated taint(s)" : NOT_SELECTED;
}

function sentence(all: number, reasons: Readonly<Record<string, number>>): string {
  const parts = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  return `0/${all} nodes are available: ${parts.sort().join(", ")}.`;
}

const clock = new WallClock();
const PATIENCE_MS = 60_000;

/** Asks again and again, until there is an answer. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = clock.steady() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (clock.steady() > end) throw new Error(`waited in vain for ${what}`);
    await sleep(clock, 20);
  }
}
