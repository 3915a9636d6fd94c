/**
 * A stand-in for kubeflow/spark-operator v2.5.2, and for the drivers that it starts: of the same applications it makes the
 * same pods and the same status, without running Spark.
 */
import {
  ApiError,
  type Clock,
  controllerOf,
  coreV1,
  isAlreadyExists,
  keyText,
  type ObjectKey,
  type Random,
  type Timer,
} from "@berth/kube";
import { equal, isObject } from "../../api/json.ts";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../../controllers/component.ts";
import { IndexBy } from "../../controllers/index-by.ts";
import { Recorder } from "../../controllers/recorder.ts";
import type { Outcome } from "../../kubelet/runtime.ts";
import { hexadecimal, uuid } from "../identifiers.ts";
import { install, whenServed } from "../served.ts";
import {
  DRIVER_CONTAINER,
  driverNameOf,
  label,
  SparkApplication,
  type SparkApplicationSpec,
  type SparkApplicationStatus,
  withDefaults,
} from "./application.ts";
import { allocationOf, demandOf, sparkConfOf } from "./conf.ts";
import { sparkApplicationDefinition } from "./crd.ts";
import { SparkDriver } from "./driver.ts";
import { driverPod } from "./driver-pod.ts";
import { notesOn } from "./events.ts";
import { executorPod } from "./executor-pod.ts";
import { decide, invalidating, statusOf, submitted } from "./lifecycle.ts";
import { sparkRunOf } from "./membership.ts";
import { resourcePrefix, type Submission } from "./submission.ts";
import { SubmissionError } from "./submission-error.ts";

export interface SparkOperatorOptions {
  /** How long `spark-submit` takes: a JVM starts, and creates the driver. Default: 3. */
  readonly submissionSeconds?: number;
  /** How many submissions go on at a time: the operator's workers. Default: 10. */
  readonly submissionsAtOnce?: number;
  /** From the driver's start until it asks for executors: a JVM and a SparkContext. Default: 3. */
  readonly driverStartSeconds?: number;
  /** Lets a driver fail that gives up. Default: it just goes on without executors. */
  readonly fail?: (run: string, outcome: Outcome) => void;
}

/** News of executors wait so long in the operator's queue; those of several are written down together. */
const QUEUE_MS = 10;
/** How often a driver looks after its executors: `spark.kubernetes.executor.eventProcessingInterval`. */
const EVENT_PROCESSING_MS = 1000;

/** A driver that runs, as its own process knows it. */
interface RunningDriver {
  readonly submission: Submission;
  readonly process: SparkDriver;
  /** When it begins to ask for executors. */
  askingAt: number | undefined;
}

export class SparkOperator implements Component {
  readonly #surroundings: Surroundings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #options: Required<SparkOperatorOptions>;
  readonly #applications: Workbench;
  readonly #drivers: Workbench;
  readonly #running = new Map<string, RunningDriver>();
  /** Drivers that were told to end, and are gone. */
  readonly #gone = new Map<string, coreV1.Pod>();
  /** Executors by their submission. */
  #executors: IndexBy<coreV1.Pod> | undefined;
  /** Applications whose spec was changed, and that do not know it yet. */
  readonly #changed = new Set<string>();
  /** Applications that are being submitted, or wait for it. */
  readonly #submitting = new Set<string>();
  readonly #waiting: string[] = [];
  readonly #submissions = new Set<Timer>();
  readonly #ends: (() => void)[] = [];

  constructor(surroundings: Surroundings, options: SparkOperatorOptions = {}) {
    const { submissionSeconds = 3, submissionsAtOnce = 10, driverStartSeconds = 3, fail = () => {} } = options;
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock;
    this.#random = surroundings.random;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:spark-operator:spark-operator-controller");
    this.#recorder = new Recorder(surroundings, "spark-application-controller");
    this.#options = { submissionSeconds, submissionsAtOnce, driverStartSeconds, fail };
    this.#applications = new Workbench(surroundings, (key) => this.#reconcile(key));
    this.#drivers = new Workbench(surroundings, (key) => this.#drive(key));
  }

  start(): void {
    const { server } = this.#surroundings;
    install(server, sparkApplicationDefinition);
    this.#ends.push(
      whenServed(server, SparkApplication, () => {
        this.#executors = new IndexBy(server, coreV1.Pod, submissionOf);
        this.#ends.push(
          this.#api.onChange(SparkApplication, (event) => this.#onApplication(event)),
          this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
        );
        for (const { metadata } of this.#api.list(SparkApplication)) this.#applications.add(keyOf(metadata));
        for (const pod of this.#api.list(coreV1.Pod)) this.#onPod({ type: "ADDED", object: pod, before: undefined });
      }),
    );
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end();
    for (const timer of this.#submissions) timer.cancel();
    this.#applications.stop();
    this.#drivers.stop();
  }

  #onApplication({ type, object, before }: Event<SparkApplication>): void {
    const key = keyOf(object.metadata);
    if (type === "DELETED") this.#changed.delete(key);
    else {
      if (before && before.spec !== object.spec && !isSameRun(before.spec, object.spec)) this.#changed.add(key);
      this.#applications.add(key);
    }
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const { namespace, name = "", labels = {}, deletionTimestamp } = object.metadata;
    const role = labels[label.role];
    if (labels[label.launchedByOperator] !== "true" || (role !== "driver" && role !== "executor")) return;
    const isNews =
      type !== "MODIFIED" ||
      before?.status?.phase !== object.status?.phase ||
      before?.metadata.deletionTimestamp !== deletionTimestamp;
    if (!isNews) return;
    const appName = labels[label.appName];
    if (appName) this.#applications.addWithin(keyText({ namespace, name: appName }), role === "driver" ? 0 : QUEUE_MS);
    const driver = role === "driver" ? name : controllerOf(object)?.name;
    if (!driver) return;
    const key = keyText({ namespace, name: driver });
    if (role === "driver" && type === "DELETED" && deletionTimestamp !== undefined) this.#gone.set(key, object);
    this.#drivers.addWithin(key, role === "driver" ? 0 : EVENT_PROCESSING_MS);
  }

  #reconcile(key: string): void {
    const stored = this.#api.get(SparkApplication, placeOf(key));
    if (!stored || !isUsable(stored.spec) || this.#submitting.has(key)) return;
    const application = { ...stored, spec: withDefaults(stored.spec) };
    if (this.#changed.delete(key)) {
      this.#write(stored, invalidating(application));
      return;
    }
    const status = statusOf(stored);
    const driverName = status.driverInfo.podName ?? driverNameOf(application);
    const driver = this.#api.get(coreV1.Pod, { namespace: stored.metadata.namespace, name: driverName });
    const executors = this.#executorsOf(stored.metadata.namespace, status.submissionID);
    const decision = decide(application, { driver, executors }, this.#clock.now());
    if (decision.deleteDriver && driver) this.#api.delete(coreV1.Pod, placeOf(keyOf(driver.metadata)));
    if (decision.deleteApplication)
      this.#api.delete(SparkApplication, placeOf(key), { propagationPolicy: "Background" });
    if (decision.submit) this.#enqueue(key);
    if (decision.status) this.#write(stored, decision.status);
    if (decision.afterMs !== undefined) this.#applications.addWithin(key, decision.afterMs);
  }

  #write(application: SparkApplication, status: SparkApplicationStatus): void {
    if (equal(application.status, status)) return;
    const written = this.#api.updateStatus(SparkApplication, { ...application, status });
    for (const note of notesOn(application.metadata.name ?? "", statusOf(application), status)) {
      this.#recorder.tell(written, note);
    }
  }

  #enqueue(key: string): void {
    this.#submitting.add(key);
    if (this.#submissions.size >= this.#options.submissionsAtOnce) this.#waiting.push(key);
    else this.#beginSubmission(key);
  }

  #beginSubmission(key: string): void {
    const timer = this.#clock.setTimer(this.#options.submissionSeconds * 1000, () => {
      this.#submissions.delete(timer);
      this.#submitting.delete(key);
      const next = this.#waiting.shift();
      if (next !== undefined) this.#beginSubmission(next);
      this.#submit(key);
    });
    this.#submissions.add(timer);
  }

  /** What `spark-submit` does, and what the operator notes of it. */
  #submit(key: string): void {
    const stored = this.#api.get(SparkApplication, placeOf(key));
    // Who was deleted or changed in the meantime is looked at anew.
    const state = stored && statusOf(stored).applicationState.state;
    const isWanted = state === "" || state === "RESUMING" || state === "PENDING_RERUN" || state === "SUBMISSION_FAILED";
    if (!stored || !isWanted || this.#changed.has(key) || stored.metadata.deletionTimestamp !== undefined) {
      this.#applications.add(key);
      return;
    }
    const application = { ...stored, spec: withDefaults(stored.spec) };
    const submissionID = uuid(this.#random);
    let error: string | undefined;
    try {
      const submission = this.#submissionOf(application, submissionID);
      demandOf(submission.conf, "executor", application.spec.type); // `spark-submit` would find out, too
      const driver = this.#api.create(coreV1.Pod, driverPod(submission));
      const process = new SparkDriver(allocationOf(application, submission.conf));
      this.#running.set(keyOf(driver.metadata), { submission, process, askingAt: undefined });
    } catch (failure) {
      error = submissionFailure(failure);
    }
    this.#write(stored, submitted(application, submissionID, this.#clock.now(), error));
  }

  #submissionOf(application: SparkApplication, submissionID: string, appId?: string): Submission {
    const now = Math.floor(this.#clock.now()) % 2 ** 40;
    const unique = `${hexadecimal(this.#random, 6)}${now.toString(16)}`;
    return {
      application,
      conf: sparkConfOf(application, submissionID),
      appId: appId ?? `spark-${hexadecimal(this.#random, 32)}`,
      prefix: resourcePrefix(application.metadata.name ?? "", unique),
      localDirectory: `/var/data/spark-${uuid(this.#random)}`,
    };
  }

  /** What a driver's own process does. */
  #drive(key: string): void {
    const gone = this.#gone.get(key);
    if (gone) {
      this.#gone.delete(key);
      this.#shutDown(key, gone);
      this.#running.delete(key);
    }
    const pod = this.#api.get(coreV1.Pod, placeOf(key));
    if (pod?.metadata.labels?.[label.role] !== "driver") {
      this.#running.delete(key);
      return;
    }
    const { phase } = pod.status ?? {};
    if (phase === undefined || phase === "Pending") return;
    const driver = this.#runningDriver(key, pod);
    if (!driver) return;
    if (phase !== "Running" || pod.metadata.deletionTimestamp !== undefined) {
      this.#shutDown(key, pod);
      return;
    }
    const executors = this.#executorsOf(pod.metadata.namespace, pod.metadata.labels[label.submissionId]);
    const now = this.#clock.now();
    driver.askingAt ??= now + this.#options.driverStartSeconds * 1000;
    if (now < driver.askingAt) this.#drivers.addWithin(key, driver.askingAt - now);
    else this.#allocate(key, pod, driver, executors, now);
  }

  /** What Spark does when its driver ends. */
  #shutDown(key: string, pod: coreV1.Pod): void {
    const executors = this.#executorsOf(pod.metadata.namespace, pod.metadata.labels?.[label.submissionId]);
    const removed = this.#running.get(key)?.process.ending(pod, DRIVER_CONTAINER, executors) ?? [];
    for (const { metadata } of removed) this.#api.delete(coreV1.Pod, placeOf(keyOf(metadata)));
  }

  #allocate(key: string, pod: coreV1.Pod, driver: RunningDriver, executors: Iterable<coreV1.Pod>, now: number): void {
    const decision = driver.process.decide(executors, now);
    for (const { metadata } of decision.remove) this.#api.delete(coreV1.Pod, placeOf(keyOf(metadata)));
    for (const { metadata } of decision.retire) {
      const patch = { metadata: { labels: { [label.executorInactive]: "true" } } };
      this.#api.patch(coreV1.Pod, placeOf(keyOf(metadata)), patch);
    }
    if (decision.afterMs !== undefined) this.#drivers.addWithin(key, decision.afterMs);
    if (decision.giveUp !== undefined) this.#options.fail(sparkRunOf(pod), { exitCode: decision.giveUp });
    try {
      for (const id of decision.create) this.#api.create(coreV1.Pod, executorPod(driver.submission, pod, id));
    } catch (error) {
      if (!(error instanceof SubmissionError)) throw error;
      this.#options.fail(sparkRunOf(pod), { exitCode: 1, message: error.message });
    }
  }

  /** A driver that somebody else created is known by what it carries. */
  #runningDriver(key: string, { metadata: { namespace, labels = {} } }: coreV1.Pod): RunningDriver | undefined {
    const known = this.#running.get(key);
    if (known) return known;
    const stored = this.#api.get(SparkApplication, { namespace, name: labels[label.appName] ?? "" });
    if (!stored || !isUsable(stored.spec)) return undefined;
    const application = { ...stored, spec: withDefaults(stored.spec) };
    const { [label.submissionId]: submissionId = "", [label.appSelector]: appId } = labels;
    const submission = this.#submissionOf(application, submissionId, appId);
    const process = new SparkDriver(allocationOf(application, submission.conf));
    const driver = { submission, process, askingAt: undefined };
    this.#running.set(key, driver);
    return driver;
  }

  #executorsOf(namespace: string | undefined, submissionID: string | undefined): Iterable<coreV1.Pod> {
    if (submissionID === undefined) return [];
    return this.#executors?.get(`${namespace}/${submissionID}`).values() ?? [];
  }
}

function submissionOf({ metadata: { namespace, labels } }: coreV1.Pod): string | undefined {
  const submission = labels?.[label.submissionId];
  return submission === undefined || labels?.[label.role] !== "executor" ? undefined : `${namespace}/${submission}`;
}

/** Whether a changed spec leaves the run as it is: only suspension and time to live differ. */
function isSameRun(before: SparkApplicationSpec, after: SparkApplicationSpec): boolean {
  if (!isUsable(before) || !isUsable(after)) return false;
  const essential = ({ suspend: _, timeToLiveSeconds: __, ...rest }: SparkApplicationSpec) => rest;
  return equal(essential(withDefaults(before)), essential(withDefaults(after)));
}

/** Whether there is enough of a spec to do anything: somebody may have brought a definition that lets anything pass. */
function isUsable(spec: unknown): spec is SparkApplicationSpec {
  return isObject(spec) && isObject(spec.driver) && isObject(spec.executor) && typeof spec.sparkVersion === "string";
}

function submissionFailure(error: unknown): string {
  const prefix = "failed to submit spark application: failed to run spark-submit:";
  if (isAlreadyExists(error)) return `${prefix} driver pod already exist`;
  if (error instanceof ApiError || error instanceof SubmissionError) {
    return `${prefix} failed to run spark-submit: ${error.message}`;
  }
  throw error;
}

const keyOf = ({ namespace, name = "" }: SparkApplication["metadata"]) => keyText({ namespace, name });

function placeOf(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
