/** A container that runs, without a kubelet. */
import type { Clock, coreV1, Timer } from "@berth/kube";
import type { Outcome, Run, Runtime } from "../../kubelet/runtime.ts";

export class FakeRun implements Run {
  readonly pod: coreV1.Pod;
  readonly container: coreV1.Container;
  readonly node: string;
  readonly since: number;
  readonly restarts = 0;
  endsAt: number | undefined;
  /** How it ended, and when. */
  end: { readonly at: number; readonly exitCode: number } | undefined;
  readonly lines: string[] = [];
  readonly #clock: Clock;
  readonly #runtime: Runtime;
  #timer: Timer | undefined;

  /** It starts at once. */
  constructor(clock: Clock, runtime: Runtime, pod: coreV1.Pod, container = pod.spec?.containers[0]) {
    if (!container) throw new Error("a pod without containers");
    this.pod = pod;
    this.container = container;
    this.node = pod.spec?.nodeName ?? "";
    this.since = clock.now();
    this.#clock = clock;
    this.#runtime = runtime;
    runtime.started(this);
  }

  endIn(milliseconds: number, { exitCode = 0 }: Outcome = {}): void {
    if (this.end) return;
    this.#timer?.cancel();
    this.endsAt = this.#clock.now() + milliseconds;
    this.#timer = this.#clock.setTimer(milliseconds, () => this.#finish(exitCode));
  }

  endNever(): void {
    this.#timer?.cancel();
    this.endsAt = undefined;
  }

  log(line: string): void {
    this.lines.push(line);
  }

  kill(exitCode = 137): void {
    this.#timer?.cancel();
    if (!this.end) this.#finish(exitCode);
  }

  #finish(exitCode: number): void {
    this.end = { at: this.#clock.now(), exitCode };
    this.#runtime.ended?.(this);
  }
}
