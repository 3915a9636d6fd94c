/**
 * A stand-in for apache/flink-kubernetes-operator 1.15 in native mode, and for the JobManagers that it deploys: of the same
 * FlinkDeployments it makes the same Deployments, TaskManagers and status, without running Flink.
 */
import {
  appsV1,
  type Clock,
  coreV1,
  keyText,
  type ObjectKey,
  type Random,
  withFinalizer,
  withoutFinalizer,
} from "@berth/kube";
import { equal, isObject } from "../../api/json.ts";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../../controllers/component.ts";
import { IndexBy } from "../../controllers/index-by.ts";
import { Recorder } from "../../controllers/recorder.ts";
import type { ApplicationState } from "../../work/runtime.ts";
import { hexadecimal } from "../identifiers.ts";
import { install, whenServed } from "../served.ts";
import { flinkConfOf, milliseconds, taskManagersOf } from "./conf.ts";
import { flinkDeploymentDefinition } from "./crd.ts";
import { FLINK_FINALIZER, FlinkDeployment, type FlinkDeploymentStatus, type FlinkJobState } from "./deployment.ts";
import { JobManager } from "./job-manager.ts";
import { decide, type Intervals, isOver, type Observed, statusOf } from "./lifecycle.ts";
import { flinkRunOf } from "./membership.ts";
import { jobManagerDeployment, taskManagerPod } from "./pods.ts";

/** What the JobManagers of the cluster know of their jobs. */
export interface FlinkJobs {
  find(run: string): Pick<ApplicationState, "phase" | "done" | "since"> | undefined;
  /** Hears of jobs that begin and end. Returns a function that ends this. */
  onChange(listener: (run: string) => void): () => void;
}

export interface FlinkOperatorOptions {
  /** Default: every job runs for ever. */
  readonly jobs?: FlinkJobs;
  /** From the JobManager's start until it asks for TaskManagers. Default: 5. */
  readonly jobManagerStartSeconds?: number;
  /** `kubernetes.operator.observer.progress-check.interval`. Default: 10. */
  readonly progressCheckSeconds?: number;
  /** `kubernetes.operator.observer.rest-ready.delay`. Default: 10. */
  readonly restReadySeconds?: number;
  /** `kubernetes.operator.reconcile.interval`: how late a job's end may be noticed. Default: 60. */
  readonly reconcileSeconds?: number;
  /** `kubernetes.operator.jm-deployment.shutdown-ttl`. Default: one day. */
  readonly shutdownSeconds?: number;
}

/** A JobManager that runs, as its own process knows it. */
interface RunningJobManager {
  /** The pod's. */
  readonly uid: string;
  readonly process: JobManager;
  /** When it begins to ask for TaskManagers. */
  readonly askingAt: number;
}

/** How long a TaskManager may be idle, unless the configuration says otherwise. */
const IDLE_MS = 30_000;

export class FlinkOperator implements Component {
  readonly #surroundings: Surroundings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #jobs: FlinkJobs | undefined;
  readonly #startMs: number;
  readonly #intervals: Intervals;
  readonly #deployments: Workbench;
  readonly #jobManagers: Workbench;
  readonly #running = new Map<string, RunningJobManager>();
  /** Pods by "namespace/cluster/component". */
  #pods: IndexBy<coreV1.Pod> | undefined;
  readonly #ends: (() => void)[] = [];

  constructor(surroundings: Surroundings, options: FlinkOperatorOptions = {}) {
    const { jobs, jobManagerStartSeconds = 5, progressCheckSeconds = 10, restReadySeconds = 10 } = options;
    const { reconcileSeconds = 60, shutdownSeconds = 86_400 } = options;
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock;
    this.#random = surroundings.random;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:flink-operator:flink-operator");
    this.#recorder = new Recorder(surroundings, "flink-kubernetes-operator");
    this.#jobs = jobs;
    this.#startMs = jobManagerStartSeconds * 1000;
    this.#intervals = {
      progressMs: progressCheckSeconds * 1000,
      restMs: restReadySeconds * 1000,
      reconcileMs: reconcileSeconds * 1000,
      shutdownMs: shutdownSeconds * 1000,
    };
    this.#deployments = new Workbench(surroundings, (key) => this.#reconcile(key));
    this.#jobManagers = new Workbench(surroundings, (key) => this.#manage(key));
  }

  start(): void {
    const { server } = this.#surroundings;
    install(server, flinkDeploymentDefinition);
    this.#ends.push(
      whenServed(server, FlinkDeployment, () => {
        this.#pods = new IndexBy(server, coreV1.Pod, componentOf);
        this.#ends.push(
          this.#api.onChange(FlinkDeployment, (event) => this.#onDeployment(event)),
          this.#api.onChange(appsV1.Deployment, (event) => this.#onJobManager(event)),
          this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
        );
        if (this.#jobs) this.#ends.push(this.#jobs.onChange((run) => this.#onJob(run)));
        for (const { metadata } of this.#api.list(FlinkDeployment)) this.#deployments.add(keyOf(metadata));
        for (const pod of this.#api.list(coreV1.Pod)) this.#onPod({ type: "ADDED", object: pod, before: undefined });
      }),
    );
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#deployments.stop();
    this.#jobManagers.stop();
  }

  /** The operator does not listen to what it writes itself: a new status is no news. */
  #onDeployment({ type, object, before }: Event<FlinkDeployment>): void {
    const { spec, metadata } = object;
    const isNews =
      type !== "MODIFIED" ||
      before?.spec !== spec ||
      before?.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
      before?.metadata.finalizers?.length !== metadata.finalizers?.length;
    if (!isNews) return;
    this.#deployments.add(keyOf(metadata));
    this.#jobManagers.add(keyOf(metadata));
  }

  #onJobManager({ type, object, before }: Event<appsV1.Deployment>): void {
    if (object.metadata.labels?.type !== "flink-native-kubernetes") return;
    const isNews =
      type !== "MODIFIED" ||
      before?.status?.availableReplicas !== object.status?.availableReplicas ||
      (isFailing(before) ?? false) !== (isFailing(object) ?? false);
    if (isNews) this.#deployments.add(keyOf(object.metadata));
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const component = componentOf(object);
    if (component === undefined) return;
    const isNews =
      type !== "MODIFIED" ||
      before?.status?.phase !== object.status?.phase ||
      before?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;
    if (!isNews) return;
    const { namespace, labels } = object.metadata;
    const key = keyText({ namespace, name: labels?.app ?? "" });
    this.#jobManagers.add(key);
    const flink = type === "DELETED" ? this.#api.get(FlinkDeployment, placeOf(key)) : undefined;
    const isWaiting = flink?.metadata.deletionTimestamp ?? flink?.status?.reconciliationStatus.state === "UPGRADING";
    if (isWaiting) this.#deployments.add(key); // for the whole cluster to be gone
  }

  /** The JobManager knows at once; the operator asks when it asks. */
  #onJob(run: string): void {
    const [framework, ...key] = run.split("/");
    if (framework === "flink") this.#jobManagers.add(key.join("/"));
  }

  #reconcile(key: string): void {
    const flink = this.#api.get(FlinkDeployment, placeOf(key));
    if (!flink || !isObject(flink.spec) || flink.spec.mode === "standalone") return;
    const { namespace, name = "" } = flink.metadata;
    const jobManager = this.#api.get(appsV1.Deployment, { namespace, name });
    const taskManagers = this.#podsOf(key, "taskmanager");
    const observed: Observed = { jobManager, taskManagers: taskManagers.length, job: this.#jobOf(key) };
    const decision = decide(flink, observed, this.#clock.now(), this.#intervals, () => hexadecimal(this.#random, 32));
    if (decision.addFinalizer) this.#api.update(FlinkDeployment, withFinalizer(flink, FLINK_FINALIZER));
    if (decision.deleteCluster) this.#deleteCluster(jobManager, taskManagers);
    if (decision.deploy && !jobManager) {
      this.#api.create(appsV1.Deployment, jobManagerDeployment(flink));
      this.#recorder.tell(flink, { reason: "Submit", message: "Starting deployment" });
    }
    if (decision.status) this.#write(flink, decision.status);
    if (decision.removeFinalizer) {
      const present = this.#api.get(FlinkDeployment, placeOf(key));
      if (present) this.#api.update(FlinkDeployment, withoutFinalizer(present, FLINK_FINALIZER));
    }
    if (decision.afterMs !== undefined) this.#deployments.addWithin(key, decision.afterMs);
  }

  #deleteCluster(jobManager: appsV1.Deployment | undefined, taskManagers: readonly coreV1.Pod[]): void {
    if (jobManager && jobManager.metadata.deletionTimestamp === undefined) {
      this.#api.delete(appsV1.Deployment, placeOf(keyOf(jobManager.metadata)), { propagationPolicy: "Foreground" });
    }
    // TaskManagers belong to the JobManager's Deployment and go with it; those of one that is gone already do not.
    if (jobManager) return;
    for (const { metadata } of taskManagers) {
      if (metadata.deletionTimestamp === undefined) this.#api.delete(coreV1.Pod, placeOf(keyOf(metadata)));
    }
  }

  #write(flink: FlinkDeployment, status: FlinkDeploymentStatus): void {
    if (equal(flink.status, status)) return;
    const [before, after] = [statusOf(flink).jobStatus.state, status.jobStatus.state];
    const written = this.#api.updateStatus(FlinkDeployment, { ...flink, status });
    if (after === undefined || after === before) return;
    const message =
      before === undefined ? `Job status changed to ${after}` : `Job status changed from ${before} to ${after}`;
    this.#recorder.tell(written, { reason: "JobStatusChanged", message });
  }

  /** What a JobManager's own process does. */
  #manage(key: string): void {
    const flink = this.#api.get(FlinkDeployment, placeOf(key));
    const owner = this.#api.get(appsV1.Deployment, placeOf(key));
    const pod = this.#podsOf(key, "jobmanager").find(
      ({ status, metadata }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined,
    );
    if (!flink || !isObject(flink.spec) || !owner || !pod) {
      this.#running.delete(key);
      return;
    }
    const now = this.#clock.now();
    const manager = this.#managerOf(key, pod, flink, now);
    if (now < manager.askingAt) {
      this.#jobManagers.addWithin(key, manager.askingAt - now);
      return;
    }
    const isEnded = isOver(this.#jobOf(key)?.state);
    const decision = manager.process.decide(
      this.#podsOf(key, "taskmanager"),
      isEnded ? 0 : taskManagersOf(flink.spec),
      now,
    );
    for (const { metadata } of decision.remove) this.#api.delete(coreV1.Pod, placeOf(keyOf(metadata)));
    if (decision.afterMs !== undefined) this.#jobManagers.addWithin(key, decision.afterMs);
    for (const name of decision.create) this.#api.create(coreV1.Pod, taskManagerPod(flink, owner, name));
  }

  #managerOf(
    key: string,
    { metadata: { uid = "" } }: coreV1.Pod,
    flink: FlinkDeployment,
    now: number,
  ): RunningJobManager {
    const known = this.#running.get(key);
    if (known?.uid === uid) return known;
    const idleMs = milliseconds(flinkConfOf(flink.spec).get("resourcemanager.taskmanager-timeout"), IDLE_MS);
    const process = new JobManager(flink.metadata.name ?? "", idleMs);
    const manager = { uid, process, askingAt: now + this.#startMs };
    this.#running.set(key, manager);
    return manager;
  }

  /** What the JobManager's REST API says. */
  #jobOf(key: string): Observed["job"] {
    const { namespace, name } = placeOf(key);
    if (!this.#jobs) return this.#running.has(key) ? { state: "RUNNING" } : undefined;
    const job = this.#jobs.find(flinkRunOf(namespace, name));
    return job && { state: stateOf(job), since: job.since };
  }

  #podsOf(key: string, component: "jobmanager" | "taskmanager"): coreV1.Pod[] {
    return [...(this.#pods?.get(`${key}/${component}`).values() ?? [])];
  }
}

function stateOf({ phase, done }: Pick<ApplicationState, "phase" | "done">): FlinkJobState {
  switch (phase) {
    case "starting":
      return "CREATED";
    case "waiting":
      return done > 0 ? "RESTARTING" : "RUNNING"; // a job that waits for its first slots runs already
    case "working":
      return "RUNNING";
    case "failed":
      return "FAILED";
    case "done":
      return "FINISHED";
  }
}

/** Whether the JobManager's pod cannot even be created. */
function isFailing(deployment: appsV1.Deployment | undefined): boolean | undefined {
  return deployment?.status?.conditions?.some(({ type, status }) => type === "ReplicaFailure" && status === "True");
}

function componentOf({ metadata: { namespace, labels = {} } }: coreV1.Pod): string | undefined {
  const { type, app, component } = labels;
  return type === "flink-native-kubernetes" && app && component ? `${namespace}/${app}/${component}` : undefined;
}

const keyOf = ({ namespace, name = "" }: FlinkDeployment["metadata"]) => keyText({ namespace, name });

function placeOf(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
