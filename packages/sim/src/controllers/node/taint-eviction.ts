/** Deletes pods from nodes that have a taint which they do not tolerate, or not for ever. */
import { coreV1, keyOf, kubernetesTime, type Timer } from "@berth/kube";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { tolerates } from "../../placement/tolerations.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { podIndexes } from "../index-by.ts";
import { keyFrom, textOf } from "../parents.ts";
import { Recorder } from "../recorder.ts";

/** A pod that will be deleted. */
interface Eviction {
  readonly since: number;
  readonly at: number;
  readonly timer: Timer;
}

export class TaintEviction implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  /** Keys are those of pods, and of nodes, which have no slash in them. */
  readonly #bench: Workbench;
  readonly #evictions = new Map<string, Eviction>();
  readonly #tainted = new Set<string>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:node-controller");
    this.#recorder = new Recorder(surroundings, "taint-eviction-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#look(key));
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(coreV1.Node, ({ type, object, before }) => {
        if (type === "DELETED") this.#tainted.delete(object.metadata.name ?? "");
        else if (object.spec?.taints !== before?.spec?.taints) this.#bench.add(object.metadata.name ?? "");
      }),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const { metadata } of this.#api.list(coreV1.Node)) this.#bench.add(metadata.name ?? "");
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
    for (const { timer } of this.#evictions.values()) timer.cancel();
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    if (type === "DELETED") {
      this.#callOff(textOf(object));
      return;
    }
    if (this.#tainted.size === 0 || !this.#tainted.has(object.spec?.nodeName ?? "")) return;
    const isNews =
      before?.spec?.nodeName !== object.spec?.nodeName || before?.spec?.tolerations !== object.spec?.tolerations;
    if (isNews) this.#bench.add(textOf(object));
  }

  #look(key: string): void {
    if (key.includes("/")) this.#lookAtPod(key);
    else this.#lookAtNode(key);
  }

  #lookAtPod(key: string): void {
    const pod = this.#api.get(coreV1.Pod, keyFrom(key));
    const node = pod && this.#api.get(coreV1.Node, { name: pod.spec?.nodeName ?? "" });
    if (pod && node) this.#judge(pod, noExecuteTaints(node));
  }

  #lookAtNode(name: string): void {
    const node = this.#api.get(coreV1.Node, { name });
    if (!node) return;
    const taints = noExecuteTaints(node);
    if (taints.length === 0 && !this.#tainted.has(name)) return;
    if (taints.length === 0) this.#tainted.delete(name);
    else this.#tainted.add(name);
    for (const pod of [...podIndexes(this.#surroundings.server).byNode.get(name).values()]) this.#judge(pod, taints);
  }

  #judge(pod: coreV1.Pod, taints: readonly coreV1.Taint[]): void {
    const key = textOf(pod);
    const seconds = toleratedSeconds(pod.spec?.tolerations ?? [], taints);
    if (seconds === undefined) {
      this.#callOffAndTell(pod, key);
      return;
    }
    const now = this.#surroundings.clock.now();
    const known = this.#evictions.get(key);
    if (seconds <= 0) {
      this.#callOff(key);
      this.#evict(key);
      return;
    }
    const since = known?.since ?? now;
    if (known && since + seconds * 1000 < now + seconds * 1000) return; // its time runs already
    this.#callOff(key);
    const at = since + seconds * 1000;
    const timer = this.#surroundings.clock.setTimer(at - now, () => {
      this.#evictions.delete(key);
      this.#evict(key);
    });
    this.#evictions.set(key, { since, at, timer });
  }

  #callOffAndTell(pod: coreV1.Pod, key: string): void {
    if (this.#callOff(key)) {
      this.#recorder.tell(pod, { reason: "TaintManagerEviction", message: `Cancelling deletion of Pod ${key}` });
    }
  }

  #callOff(key: string): boolean {
    this.#evictions.get(key)?.timer.cancel();
    return this.#evictions.delete(key);
  }

  #evict(key: string): void {
    const pod = this.#api.get(coreV1.Pod, keyFrom(key));
    if (!pod || pod.metadata.deletionTimestamp !== undefined) return;
    this.#recorder.tell(pod, { reason: "TaintManagerEviction", message: `Marking for deletion Pod ${key}` });
    const message = "Taint manager: deleting due to NoExecute taint";
    try {
      const time = kubernetesTime(this.#surroundings.clock.now());
      const status = withDisruption(pod, "DeletionByTaintManager", message, time);
      this.#api.updateStatus(coreV1.Pod, { ...pod, status });
      this.#api.delete(coreV1.Pod, keyOf(pod));
    } catch (error) {
      this.#surroundings.onFailure(error);
    }
  }
}

/** The status of a pod that somebody has ended from outside, and why. Pure. */
export function withDisruption(
  { metadata, status }: coreV1.Pod,
  reason: string,
  message: string,
  time: string,
): coreV1.PodStatus {
  const others = status?.conditions?.filter(({ type }) => type !== "DisruptionTarget") ?? [];
  const observedGeneration = metadata.generation ?? 1;
  const disruption: coreV1.PodCondition = {
    type: "DisruptionTarget",
    observedGeneration,
    status: "True",
    reason,
    message,
    lastTransitionTime: time,
  };
  return { ...status, conditions: [...others, disruption] };
}

function noExecuteTaints({ spec }: coreV1.Node): coreV1.Taint[] {
  return spec?.taints?.filter(({ effect }) => effect === "NoExecute") ?? [];
}

/** For how many seconds all of the taints are tolerated: 0 is not at all, `undefined` for ever. Pure. */
export function toleratedSeconds(
  tolerations: readonly coreV1.Toleration[],
  taints: readonly coreV1.Taint[],
): number | undefined {
  let least: number | undefined;
  for (const taint of taints) {
    const used = tolerations.find((toleration) => tolerates(toleration, taint));
    if (!used) return 0;
    const { tolerationSeconds } = used;
    if (tolerationSeconds === undefined || tolerationSeconds === null) continue;
    least = Math.min(least ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds));
  }
  return least;
}
