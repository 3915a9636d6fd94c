/** One container of a pod: what it does now, how it ended before, and when it is started again. */
import { type Clock, type coreV1, kubernetesTime, type Timer } from "@berth/kube";
import type { ContainerView, Role } from "./pod-status.ts";
import type { Outcome, Run, Runtime } from "./runtime.ts";

/** A line that a container said, and when. */
export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** What a container has said between a start and an end. */
export interface ContainerLog {
  /** In the order of their time; those with a time to come are said if the container still runs then. */
  readonly lines: LogLine[];
  endedAt: number | undefined;
}

const FIRST_BACKOFF_MS = 10_000;
const LAST_BACKOFF_MS = 300_000;
const SIGKILLED = 137;
const SIGTERMINATED = 143;
/** With the times that there are none of, as the server writes them. */
const NEVER_SEEN = {
  exitCode: SIGKILLED,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was terminated",
  startedAt: null,
  finishedAt: null,
} as unknown as coreV1.ContainerStateTerminated;

/** What a container needs to know of its pod. */
export interface ContainerHost {
  readonly clock: Clock;
  readonly runtime: Runtime;
  readonly pod: coreV1.Pod;
  readonly node: string;
  /** The container has ended. */
  ended(container: Container): void;
  /** It was started again, after it had to wait for that. */
  restarted(container: Container): void;
  /** It is ready, or started up, or about to be started again after a while. */
  changed(): void;
  /** It has said something. */
  logged(): void;
}

export class Container implements ContainerView {
  readonly spec: coreV1.Container;
  readonly role: Role;
  state: coreV1.ContainerState;
  last: coreV1.ContainerStateTerminated | undefined;
  ready = false;
  started = false;
  restarts = 0;
  id: string | undefined;
  log: ContainerLog = { lines: [], endedAt: undefined };
  previousLog: ContainerLog | undefined;
  readonly #host: ContainerHost;
  readonly #index: number;
  #run: ActiveRun | undefined;
  /** The next thing that happens to it by itself: it becomes ready, or is started again. */
  #timer: Timer | undefined;
  #backoff: { readonly ms: number; readonly since: number } | undefined;

  /** @param waitsFor - Why it does not run yet: "ContainerCreating", "PodInitializing". */
  constructor(spec: coreV1.Container, role: Role, index: number, waitsFor: string, host: ContainerHost) {
    this.spec = spec;
    this.role = role;
    this.state = { waiting: { reason: waitsFor } };
    this.#index = index;
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Whether it has never been started. */
  get isNew(): boolean {
    return this.id === undefined;
  }

  /** Whether it has ended well, and stays so. */
  get isDone(): boolean {
    return this.state.terminated?.exitCode === 0;
  }

  /** Starts it, for the first time or again. */
  start(): void {
    const { clock, pod, node, runtime } = this.#host;
    const now = clock.now();
    this.#cancelTimer();
    if (!this.isNew) {
      this.restarts++;
      this.last = this.state.terminated ?? this.last;
      this.previousLog = this.log;
      this.log = { lines: [], endedAt: undefined };
    }
    this.id = containerId(pod.metadata.uid ?? "", this.#index, this.restarts);
    this.state = { running: { startedAt: kubernetesTime(now) } };
    this.#becomeReady();
    const run = new ActiveRun(this, pod, node, clock);
    this.#run = run;
    runtime.started(run);
  }

  /** Starts it again: at once the first time, later and later if it keeps ending. */
  startAgain(): void {
    const now = this.#host.clock.now();
    const backoff = this.#backoff;
    // Who has run for long enough starts with a clean slate.
    if (!backoff || now - backoff.since > 2 * LAST_BACKOFF_MS) {
      this.#backoff = { ms: FIRST_BACKOFF_MS, since: now };
      this.start();
      return;
    }
    const { metadata } = this.#host.pod;
    const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
    const message = `back-off ${goDuration(backoff.ms)} restarting failed container=${this.spec.name} pod=${pod}`;
    this.last = this.state.terminated ?? this.last;
    this.state = { waiting: { reason: "CrashLoopBackOff", message } };
    this.#after(backoff.ms, () => {
      this.#backoff = { ms: Math.min(2 * backoff.ms, LAST_BACKOFF_MS), since: this.#host.clock.now() };
      this.start();
      this.#host.restarted(this);
    });
  }

  /** Tells it to end, and kills it if it has not by then. A second call can only make it end earlier. */
  stop(graceMs: number): void {
    this.#cancelTimer();
    const run = this.#run;
    if (!run) return;
    const { afterMs = 0, exitCode = SIGTERMINATED } = this.#host.runtime.stopping?.(run) ?? {};
    run.stopIn(Math.min(afterMs, graceMs), { exitCode: afterMs <= graceMs ? exitCode : SIGKILLED });
  }

  /** Its machine is gone, and it with it. */
  lose(): void {
    this.#cancelTimer();
    if (this.#run) this.#finish(this.#run, { exitCode: 255, reason: "Unknown" });
    else if (this.state.waiting && this.last) this.state = { terminated: this.last };
  }

  /**
   * It will not be started any more. @param expected - Whether it should have been, by now: if not, it goes on to wait for
   * what will not come, as it does on real nodes.
   */
  settle(expected: boolean): void {
    this.#cancelTimer();
    if (!this.state.waiting) return;
    if (this.last) this.state = { terminated: this.last };
    else if (expected) this.state = { terminated: NEVER_SEEN };
  }

  /** Nobody wants to know any more. */
  abandon(): void {
    this.#cancelTimer();
    const run = this.#run;
    this.#run = undefined;
    if (run) this.#over(run);
  }

  /** @internal Its run has come to its end. */
  runEnded(run: ActiveRun, outcome: Outcome): void {
    if (run !== this.#run) return;
    this.#finish(run, outcome);
    this.#host.ended(this);
  }

  /** @internal */
  say(text: string, at: number): void {
    const { lines } = this.log;
    let place = lines.length;
    while (place > 0 && (lines[place - 1] as LogLine).at > at) place--;
    lines.splice(place, 0, { at, text });
    this.#host.logged();
  }

  /** @internal */
  isCurrent(run: ActiveRun): boolean {
    return run === this.#run;
  }

  #finish(run: ActiveRun, { exitCode = 0, reason, message }: Outcome): void {
    const startedAt = this.state.running?.startedAt;
    this.#run = undefined;
    this.#cancelTimer();
    this.state = {
      terminated: {
        exitCode,
        reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
        ...(message !== undefined && { message }),
        ...(startedAt !== undefined && { startedAt }),
        finishedAt: kubernetesTime(this.#host.clock.now()),
        ...(this.id !== undefined && { containerID: this.id }),
      },
    };
    this.ready = this.role === "init" && exitCode === 0;
    this.started = false;
    this.#over(run);
  }

  #over(run: ActiveRun): void {
    run.cancel();
    this.log.endedAt = this.#host.clock.now();
    this.#host.runtime.ended?.(run);
  }

  /** Nobody probes here: whoever waits for a probe waits for its first time. */
  #becomeReady(): void {
    const { startupProbe, readinessProbe } = this.spec;
    const startup = startupProbe ? delayOf(startupProbe) : 0;
    const readiness = readinessProbe ? delayOf(readinessProbe) : 0;
    this.started = startup === 0;
    this.ready = this.started && readiness === 0 && this.role !== "init";
    const beReady = () => {
      this.ready = this.role !== "init";
      this.#host.changed();
    };
    if (!this.started) {
      this.#after(startup, () => {
        this.started = true;
        if (readiness <= startup) beReady();
        else this.#after(readiness - startup, beReady);
        this.#host.changed();
      });
    } else if (!this.ready && this.role !== "init") this.#after(readiness, beReady);
  }

  #after(milliseconds: number, callback: () => void): void {
    this.#timer = this.#host.clock.setTimer(milliseconds, () => {
      this.#timer = undefined;
      callback();
      this.#host.changed();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

function delayOf({ initialDelaySeconds = 0 }: coreV1.Probe): number {
  return initialDelaySeconds * 1000;
}

/** Sixty-four digits, of which no two containers have the same. */
function containerId(uid: string, index: number, restarts: number): string {
  const digits = uid.replaceAll("-", "").padEnd(32, "0");
  return `sim://${digits}${index.toString(16).padStart(16, "0")}${restarts.toString(16).padStart(16, "0")}`;
}

/** As Go writes a duration of whole seconds: 10s, 1m20s, 5m0s. */
function goDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

class ActiveRun implements Run {
  readonly pod: coreV1.Pod;
  readonly container: coreV1.Container;
  readonly node: string;
  readonly since: number;
  readonly restarts: number;
  endsAt: number | undefined;
  readonly #owner: Container;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #stopping = false;

  constructor(owner: Container, pod: coreV1.Pod, node: string, clock: Clock) {
    this.#owner = owner;
    this.#clock = clock;
    this.pod = pod;
    this.container = owner.spec;
    this.node = node;
    this.since = clock.now();
    this.restarts = owner.restarts;
  }

  endIn(milliseconds: number, outcome: Outcome = {}): void {
    if (Number.isNaN(milliseconds)) throw new RangeError("a run must end in some number of milliseconds");
    if (milliseconds === Number.POSITIVE_INFINITY) this.endNever();
    else if (!this.#stopping) this.#schedule(milliseconds, outcome);
  }

  endNever(): void {
    if (!this.#stopping) this.cancel();
  }

  log(line: string, inMs = 0): void {
    if (!this.#owner.isCurrent(this)) return;
    this.#owner.say(line, this.#clock.now() + inMs);
  }

  /** It has been told to end. At once is at once: nobody has to wait for a timer. */
  stopIn(milliseconds: number, outcome: Outcome): void {
    if (this.endsAt !== undefined && this.endsAt <= this.#clock.now() + milliseconds) return;
    this.#stopping = true;
    if (milliseconds > 0) this.#schedule(milliseconds, outcome);
    else this.#owner.runEnded(this, outcome);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.endsAt = undefined;
  }

  #schedule(milliseconds: number, outcome: Outcome): void {
    this.cancel();
    if (!this.#owner.isCurrent(this)) return;
    const wait = Math.max(0, milliseconds);
    this.endsAt = this.#clock.now() + wait;
    this.#timer = this.#clock.setTimer(wait, () => {
      this.#timer = undefined;
      this.#owner.runEnded(this, outcome);
    });
  }
}
