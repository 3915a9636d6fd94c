/** What a program can be watched by, under the names and labels of controller-runtime: its dashboards work here too. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { KubeError } from "../errors.ts";
import type { WorkQueue, WorkQueueObserver } from "../queue/work-queue.ts";
import type { Answer } from "../transport/http-transport.ts";
import { processMetrics } from "./process-metrics.ts";

export type ReconcileOutcome = "success" | "error" | "requeue" | "requeue_after";

/** Those of controller-runtime, so that its quantiles can be compared. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics of a program, in a registry of their own. */
export class Metrics {
  readonly registry = new Registry();
  readonly #reconciles = this.#counter("controller_runtime_reconcile_total", "Reconciles by result", [
    "controller",
    "result",
  ]);
  readonly #errors = this.#counter("controller_runtime_reconcile_errors_total", "Reconciles that threw", [
    "controller",
  ]);
  readonly #terminalErrors = this.#counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Reconciles that threw a TerminalError",
    ["controller"],
  );
  readonly #panics = this.#counter(
    "controller_runtime_reconcile_panics_total",
    "Always 0: what is thrown here is counted as an error",
    ["controller"],
  );
  readonly #timeouts = this.#counter("controller_runtime_reconcile_timeouts_total", "Reconciles that took too long", [
    "controller",
  ]);
  readonly #times = this.#histogram(
    "controller_runtime_reconcile_time_seconds",
    "How long reconciles take",
    ["controller"],
    RECONCILE_BUCKETS,
  );
  readonly #limit = this.#gauge("controller_runtime_max_concurrent_reconciles", "How many may run at once", [
    "controller",
  ]);

  readonly #adds = this.#counter("workqueue_adds_total", "Keys added", ["name", "controller"]);
  readonly #retries = this.#counter("workqueue_retries_total", "Keys added again after a failure", [
    "name",
    "controller",
  ]);
  readonly #waits = this.#histogram(
    "workqueue_queue_duration_seconds",
    "How long ready keys wait for a worker",
    ["name", "controller"],
    QUEUE_BUCKETS,
  );
  readonly #works = this.#histogram(
    "workqueue_work_duration_seconds",
    "How long workers have a key",
    ["name", "controller"],
    QUEUE_BUCKETS,
  );

  readonly #requests = this.#counter("rest_client_requests_total", "Requests to the API server", [
    "code",
    "method",
    "host",
  ]);
  readonly #latency = this.#histogram(
    "rest_client_request_duration_seconds",
    "How long the API server takes to begin its answer",
    ["verb", "host"],
    REQUEST_BUCKETS,
  );

  readonly #leading = this.#gauge("leader_election_master_status", "1 for the leader, 0 for the others", ["name"]);
  readonly #slowpath = this.#counter("leader_election_slowpath_total", "Renewals that had to read the lease first", [
    "name",
  ]);

  readonly #controllers = new Set<string>();
  readonly #queues = new Map<string, WorkQueue<string>>();

  constructor() {
    processMetrics(this.registry);
    this.#collectQueues();
  }

  /** Throws if there is a controller of that name: nobody could tell the numbers of the two apart. */
  controllerStarted(controller: string, limit: number): void {
    mustBeNew(this.#controllers, controller);
    this.#controllers.add(controller);
    this.#limit.set({ controller }, limit);
    // Counters that have not counted yet are to be seen as 0, or the first error would not show as an increase.
    for (const counter of [this.#errors, this.#terminalErrors, this.#panics, this.#timeouts])
      counter.inc({ controller }, 0);
    for (const result of ["success", "error", "requeue", "requeue_after"] satisfies ReconcileOutcome[]) {
      this.#reconciles.inc({ controller, result }, 0);
    }
  }

  reconcileEnded(controller: string, result: ReconcileOutcome, seconds: number): void {
    this.#reconciles.inc({ controller, result });
    this.#times.observe({ controller }, seconds);
  }

  reconcileFailed(controller: string, { terminal, timeout }: { terminal: boolean; timeout: boolean }): void {
    this.#errors.inc({ controller });
    if (terminal) this.#terminalErrors.inc({ controller });
    if (timeout) this.#timeouts.inc({ controller });
  }

  /** For the queue of a controller, which then is to be given to `trackQueue`. */
  queueObserver(controller: string): WorkQueueObserver {
    const labels = { name: controller, controller };
    return {
      added: () => this.#adds.inc(labels),
      retried: () => this.#retries.inc(labels),
      started: (waitedMs) => this.#waits.observe(labels, waitedMs / 1000),
      finished: (workedMs) => this.#works.observe(labels, workedMs / 1000),
    };
  }

  /** Throws if there is a queue of a controller of that name. */
  trackQueue(controller: string, queue: WorkQueue<string>): void {
    mustBeNew(this.#queues, controller);
    this.#queues.set(controller, queue);
  }

  /** For the `onAnswer` of a transport. */
  answered({ method, host, status, seconds }: Answer): void {
    this.#requests.inc({ code: status ?? "<error>", method, host });
    this.#latency.observe({ verb: method, host }, seconds);
  }

  leadership(name: string, leading: boolean): void {
    this.#leading.set({ name }, leading ? 1 : 0);
  }

  leaseWasRead(name: string): void {
    this.#slowpath.inc({ name });
  }

  /** Figures of the program's own, one for each value of a label, asked for whenever somebody looks. */
  figures(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [value, figure] of Object.entries(read())) this.set({ [label]: value }, figure);
      },
    });
  }

  /** What is asked of the queues when somebody looks, since it changes by itself as time goes by. */
  #collectQueues(): void {
    const queues = this.#queues;
    const perQueue = (name: string, help: string, measure: (queue: WorkQueue<string>) => number) =>
      new Gauge({
        name,
        help,
        labelNames: ["name", "controller"],
        registers: [this.registry],
        collect() {
          for (const [controller, queue] of queues) this.set({ name: controller, controller }, measure(queue));
        },
      });
    perQueue(
      "workqueue_unfinished_work_seconds",
      "How long all keys that are worked on have been so, in sum",
      (queue) => queue.workedOnMs().reduce((sum, ms) => sum + ms / 1000, 0),
    );
    perQueue("workqueue_longest_running_processor_seconds", "How long the oldest of them has been so", (queue) =>
      queue.workedOnMs().reduce((longest, ms) => Math.max(longest, ms / 1000), 0),
    );
    new Gauge({
      name: "controller_runtime_active_workers",
      help: "How many run now",
      labelNames: ["controller"],
      registers: [this.registry],
      collect() {
        for (const [controller, queue] of queues) this.set({ controller }, queue.workedOn().length);
      },
    });
    new Gauge({
      name: "workqueue_depth",
      help: "Keys that are ready, by priority",
      labelNames: ["name", "controller", "priority"],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [controller, queue] of queues) {
          const depths = queue.depths();
          if (depths.size === 0) depths.set(0, 0);
          for (const [priority, depth] of depths) this.set({ name: controller, controller, priority }, depth);
        }
      },
    });
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}

function mustBeNew(known: { has(name: string): boolean }, controller: string): void {
  if (!known.has(controller)) return;
  const message = `there is a controller called "${controller}" already; give one of the two another \`name\``;
  throw new KubeError("KUBE_MANAGER_MISUSED", message);
}
