/**
 * What runs in containers, as far as a kubelet has to know: how long, and how it ends. The kubelet asks a `Runtime`; which
 * one it has is up to whoever puts the cluster together. `DefaultRuntime` reads annotations and simple commands.
 */
import type { coreV1 } from "@berth/kube";

/** How a container ends by itself. */
export interface Outcome {
  /** Default: 0. */
  readonly exitCode?: number;
  /** As in the container's status. Default: "Completed" for 0, else "Error"; "OOMKilled" is another that is known. */
  readonly reason?: string;
  readonly message?: string;
}

/** How a container takes it when it is told to end. */
export interface Stopping {
  /** How long it still takes. Who takes longer than the grace period is killed when that is over. Default: 0. */
  readonly afterMs?: number;
  /** With what it ends if it is not killed. Default: 143, the signal's. */
  readonly exitCode?: number;
}

/**
 * A container that runs. While it does, whoever decides how long may change their mind: a neighbour that comes slows it
 * down, one that goes speeds it up. After its end all of these calls do nothing.
 */
export interface Run {
  /** As it was when the container started. */
  readonly pod: coreV1.Pod;
  readonly container: coreV1.Container;
  readonly node: string;
  /** When it started, in milliseconds of the clock. */
  readonly since: number;
  /** How often this container has been started before, in this pod. */
  readonly restarts: number;
  /** When it will end by itself, in milliseconds of the clock; `undefined`: never. */
  readonly endsAt: number | undefined;
  /** It ends by itself in so many milliseconds from now. The last call counts. */
  endIn(milliseconds: number, outcome?: Outcome): void;
  /** It does not end by itself, or not yet. Every run begins so. */
  endNever(): void;
  /** Says something, which `kubectl logs` shows: now, or in so many milliseconds if it still runs then. */
  log(line: string, inMs?: number): void;
}

/** Decides how long containers run. */
export interface Runtime {
  /** A container has started. What it says at once or later about the run's end counts; if nothing, it runs for ever. */
  started(run: Run): void;
  /** A container is told to end. Default: it does, at once. */
  stopping?(run: Run): Stopping;
  /** A container has ended, by itself or not: its neighbours have more room. */
  ended?(run: Run): void;
}
