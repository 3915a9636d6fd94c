/** One pod on its node, from the moment its kubelet takes it to its end: what is started when, and when it is over. */
import { type Clock, type coreV1, kubernetesTime, type Timer } from "@berth/kube";
import type { Note } from "../controllers/recorder.ts";
import { behaviourOf, type PodBehaviour } from "./annotations.ts";
import { Container, type ContainerHost } from "./container.ts";
import { type PodView, restarts } from "./pod-status.ts";
import type { Runtime } from "./runtime.ts";

/** What a pod needs of its kubelet. */
export interface PodHost {
  readonly clock: Clock;
  readonly runtime: Runtime;
  /** What the pod does has changed, and may be worth telling the API server. */
  changed(run: PodRun): void;
  tell(run: PodRun, note: Note): void;
  /** One of its containers has said something. */
  logged(run: PodRun): void;
  /** An address for the pod. */
  address(run: PodRun): string;
}

const DEFAULT_GRACE_MS = 30_000;

export class PodRun implements PodView, ContainerHost {
  /** As it is stored now. */
  pod: coreV1.Pod;
  readonly node: string;
  readonly behaviour: PodBehaviour;
  readonly containers: readonly Container[];
  readonly startTime: string;
  readonly hostIP: string;
  readonly clock: Clock;
  readonly runtime: Runtime;
  podIP: string | undefined;
  sandbox = false;
  over = false;
  verdict: PodView["verdict"];
  /** Nothing runs, and nothing will. */
  isEnded = false;
  readonly #host: PodHost;
  #startTimer: Timer | undefined;
  #deadlineTimer: Timer | undefined;
  /** Its machine is gone: nothing happens until it is back. */
  #isLost = false;

  constructor(pod: coreV1.Pod, node: string, hostIP: string, host: PodHost) {
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    this.pod = pod;
    this.node = node;
    this.hostIP = hostIP;
    this.clock = host.clock;
    this.runtime = host.runtime;
    this.behaviour = behaviourOf(pod);
    this.startTime = pod.status?.startTime ?? kubernetesTime(host.clock.now());
    this.#host = host;
    const waitsFor = initContainers.length > 0 ? "PodInitializing" : "ContainerCreating";
    const role = ({ restartPolicy }: coreV1.Container) => (restartPolicy === "Always" ? "sidecar" : "init");
    this.containers = [
      ...initContainers.map((spec, index) => new Container(spec, role(spec), index, waitsFor, this)),
      ...containers.map((spec, index) => new Container(spec, "main", initContainers.length + index, waitsFor, this)),
    ];
  }

  get uid(): string {
    return this.pod.metadata.uid ?? "";
  }

  /** Lets it begin, after as long as everything takes that comes before its first container. */
  begin(delayMs: number): void {
    this.#watchDeadline();
    if (delayMs <= 0) {
      this.#proceed();
      return;
    }
    this.#startTimer = this.clock.setTimer(delayMs, () => {
      this.#startTimer = undefined;
      this.#proceed();
    });
    this.changed();
  }

  /** It is to end: everything in it is told so, and killed when the grace period is over. */
  stop(graceMs: number): void {
    if (this.isEnded || this.#isLost) return;
    this.over = true;
    this.#cancelTimers();
    const running = this.containers.filter(({ isRunning }) => isRunning);
    for (const { spec } of running) {
      this.#host.tell(this, {
        reason: "Killing",
        message: `Stopping container ${spec.name}`,
        fieldPath: fieldPath(this.pod, spec.name),
      });
    }
    for (const container of this.containers) container.stop(graceMs);
    this.#endIfStopped();
  }

  /** Its machine is gone, and everything on it. */
  lose(): void {
    this.#isLost = true;
    this.#cancelTimers();
    for (const container of this.containers) container.lose();
  }

  /** Its machine is back. */
  recover(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    if (this.isEnded) return;
    this.#watchDeadline();
    for (const container of this.containers) if (container.state.terminated && !container.isDone) this.ended(container);
    if (!this.over) this.#proceed();
  }

  /** The pod is gone: whatever it did is of no interest any more. */
  abandon(): void {
    this.isEnded = true;
    this.#cancelTimers();
    for (const container of this.containers) container.abandon();
  }

  ended(container: Container): void {
    const { exitCode = 0 } = container.state.terminated ?? {};
    if (this.#isLost) return;
    if (this.over) this.#endIfStopped();
    else if (restarts(container, this.pod.spec?.restartPolicy, exitCode)) this.#startAgain(container);
    else if (container.role === "init") {
      if (exitCode === 0) this.#proceed();
      else this.#finish();
    } else if (this.#mainsAreFinal()) this.#finish();
    this.changed();
  }

  logged(): void {
    this.#host.logged(this);
  }

  restarted(container: Container): void {
    this.#tellOfStart(container);
  }

  changed(): void {
    if (!this.over && this.sandbox) this.#proceed(); // a sidecar that has started up lets others begin
    this.#host.changed(this);
  }

  /** Starts whatever may be started now: init containers one by one, the others together. */
  #proceed(): void {
    if (!this.sandbox) {
      this.sandbox = true;
      this.podIP ??= this.#host.address(this);
    }
    for (const container of this.containers) {
      if (container.isNew) this.#start(container);
      if (container.role === "sidecar" && !container.started) break;
      if (container.role === "init" && !container.isDone) break;
    }
    this.#host.changed(this);
  }

  #start(container: Container): void {
    container.start();
    this.#tellOfStart(container);
  }

  #startAgain(container: Container): void {
    container.startAgain();
    const { name } = container.spec;
    if (container.isRunning) {
      this.#tellOfStart(container);
      return;
    }
    const { metadata } = this.pod;
    this.#host.tell(this, {
      type: "Warning",
      reason: "BackOff",
      message: `Back-off restarting failed container ${name} in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`,
      fieldPath: fieldPath(this.pod, name),
    });
  }

  #tellOfStart({ spec: { name, image } }: Container): void {
    const place = fieldPath(this.pod, name);
    const pulled = `Container image "${image}" already present on machine and can be accessed by the pod`;
    this.#host.tell(this, { reason: "Pulled", message: pulled, fieldPath: place });
    this.#host.tell(this, { reason: "Created", message: "Container created", fieldPath: place });
    this.#host.tell(this, { reason: "Started", message: "Container started", fieldPath: place });
  }

  #mainsAreFinal(): boolean {
    const policy = this.pod.spec?.restartPolicy;
    return this.containers.every((container) => {
      if (container.role !== "main") return true;
      const { terminated } = container.state;
      return terminated !== undefined && !restarts(container, policy, terminated.exitCode);
    });
  }

  /** It has done what it was there for, or failed in it: what still runs beside it is to end. */
  #finish(): void {
    if (this.containers.some(({ isRunning }) => isRunning)) this.stop(this.#graceMs());
    else {
      this.over = true;
      this.#endIfStopped();
    }
  }

  #endIfStopped(): void {
    if (this.isEnded || this.containers.some(({ isRunning }) => isRunning)) return;
    this.isEnded = true;
    this.sandbox = false;
    this.#cancelTimers();
    const initialized = this.containers.every(({ role, isDone, isNew }) =>
      role === "init" ? isDone : role === "main" || !isNew,
    );
    for (const container of this.containers) container.settle(container.role === "main" && initialized);
    this.#host.changed(this);
  }

  #watchDeadline(): void {
    const { activeDeadlineSeconds } = this.pod.spec ?? {};
    if (activeDeadlineSeconds === undefined || activeDeadlineSeconds === null) return;
    const left = Date.parse(this.startTime) + activeDeadlineSeconds * 1000 - this.clock.now();
    this.#deadlineTimer = this.clock.setTimer(left, () => {
      const message = "Pod was active on the node longer than the specified deadline";
      this.verdict = { phase: "Failed", reason: "DeadlineExceeded", message };
      this.#host.tell(this, { reason: "DeadlineExceeded", message });
      this.stop(this.#graceMs());
    });
  }

  #graceMs(): number {
    const seconds = this.pod.spec?.terminationGracePeriodSeconds;
    return seconds === undefined ? DEFAULT_GRACE_MS : seconds * 1000;
  }

  #cancelTimers(): void {
    this.#startTimer?.cancel();
    this.#deadlineTimer?.cancel();
    this.#startTimer = undefined;
    this.#deadlineTimer = undefined;
  }
}

function fieldPath({ spec }: coreV1.Pod, container: string): string {
  const isInit = spec?.initContainers?.some(({ name }) => name === container);
  return `spec.${isInit ? "initContainers" : "containers"}{${container}}`;
}
