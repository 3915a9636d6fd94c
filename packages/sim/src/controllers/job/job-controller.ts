/**
 * Makes Jobs happen: `assess.ts` (how does it stand?), `manage.ts` (which pods does it need?), `track.ts` (what is counted?),
 * `pods-of-job.ts` (what do its pods look like?).
 */
import { batchV1, controllerOf, coreV1, keyOf, kubernetesTime, withoutFinalizer } from "@berth/kube";
import { type Event, LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { podIndexes } from "../index-by.ts";
import { keyFrom, messageOf, Parents, textOf } from "../parents.ts";
import { isReady } from "../pod-order.ts";
import { Recorder } from "../recorder.ts";
import { type Assessment, assess, type Finish } from "./assess.ts";
import { type BackoffRecord, NO_FAILURES } from "./backoff.ts";
import { finalCondition, isManagedElsewhere, isNumber, isTracked, TRACKING_FINALIZER } from "./job-facts.ts";
import { planPods } from "./manage.ts";
import { podOfJob } from "./pods-of-job.ts";
import { type Counts, concluded, counted, suspension, track } from "./track.ts";

export interface JobControllerOptions {
  /** Changes of a Job's pods are looked at together, at most so long after the first of them. Default: 1000. */
  readonly batchMs?: number;
}

export class JobController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #orphans: Workbench;
  readonly #parents: Parents<batchV1.Job, coreV1.Pod>;
  readonly #batchMs: number;
  readonly #records = new Map<string, BackoffRecord>();
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings, { batchMs = 1000 }: JobControllerOptions = {}) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:job-controller");
    this.#recorder = new Recorder(surroundings, "job-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#orphans = new Workbench(surroundings, (key) => this.#release(key));
    this.#parents = new Parents({
      api: this.#api,
      kind: batchV1.Job,
      childKind: coreV1.Pod,
      selectorOf: ({ spec }) => spec?.selector,
      orphansIn: (namespace) => podIndexes(surroundings.server).orphans.get(namespace).values(),
      // A selector that the API server has made has the Job's own uid in it.
      mayFindOrphans: ({ spec }) => spec?.manualSelector ?? false,
      finalizer: TRACKING_FINALIZER,
    });
    this.#batchMs = batchMs;
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(batchV1.Job, (event) => this.#onJob(event)),
      this.#api.onChange(coreV1.Pod, (event) => this.#onPod(event)),
    ];
    for (const job of this.#api.list(batchV1.Job)) this.#bench.add(textOf(job));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
    this.#orphans.stop();
  }

  #onJob({ type, object, before }: Event<batchV1.Job>): void {
    const key = textOf(object);
    if (type === "DELETED") {
      this.#records.delete(object.metadata.uid ?? "");
      this.#parents.forget(object);
      this.#bench.forget(key);
      // Nobody will count its pods any more: they must not wait for that.
      for (const pod of this.#podsOf(object)) if (isTracked(pod)) this.#orphans.add(textOf(pod));
    } else if (object.metadata.generation === before?.metadata.generation) this.#bench.addWithin(key, this.#batchMs);
    else this.#bench.add(key);
  }

  #onPod({ type, object, before }: Event<coreV1.Pod>): void {
    const parent = this.#parents.of(object);
    const former = before && controllerOf(before)?.uid !== controllerOf(object)?.uid && this.#parents.of(before);
    if (former) this.#bench.addWithin(textOf(former), this.#batchMs);
    if (parent && !finalCondition(parent)) this.#bench.addWithin(textOf(parent), this.#batchMs);
    else if (type !== "DELETED" && isTracked(object)) this.#orphans.add(textOf(object));
    if (type !== "DELETED" && !controllerOf(object)) {
      for (const job of this.#parents.wanting(object, before)) this.#bench.add(textOf(job));
    }
  }

  /** A pod that no Job will count any more loses the finalizer by which it waits for that. */
  #release(key: string): void {
    const pod = this.#api.get(coreV1.Pod, keyFrom(key));
    if (!pod || !isTracked(pod)) return;
    const owner = controllerOf(pod);
    if (owner && (owner.kind !== "Job" || owner.apiVersion !== batchV1.Job.apiVersion)) return;
    const job = this.#parents.of(pod);
    if (job && (isManagedElsewhere(job) || !finalCondition(job))) return;
    this.#api.update(coreV1.Pod, withoutFinalizer(pod, TRACKING_FINALIZER));
  }

  #podsOf({ metadata }: batchV1.Job): coreV1.Pod[] {
    return [
      ...podIndexes(this.#surroundings.server)
        .byController.get(metadata.uid ?? "")
        .values(),
    ];
  }

  #sync(key: string): void {
    const job = this.#api.get(batchV1.Job, keyFrom(key));
    if (!job || isManagedElsewhere(job)) return;
    const { uid = "" } = job.metadata;
    if (finalCondition(job)) {
      this.#records.delete(uid);
      return;
    }
    const now = this.#surroundings.clock.now();
    const assessment = assess(
      job,
      this.#parents.claim(job, this.#podsOf(job)),
      this.#records.get(uid) ?? NO_FAILURES,
      now,
    );
    if (assessment.deadlineMs !== undefined && !assessment.finish) this.#bench.addWithin(key, assessment.deadlineMs);
    const { counts, problem, managed } = this.#managePods(job, key, assessment, now);
    this.#write(job, assessment, counts, managed, now);
    if (problem) throw problem;
  }

  /** Makes and deletes pods; gives how many there are then, and whether the Job is one that goes on. */
  #managePods(
    job: batchV1.Job,
    key: string,
    assessment: Assessment,
    now: number,
  ): { counts: Counts; problem: unknown; managed: boolean } {
    const { active, ready, terminating, finish } = assessment;
    const goesOn = !finish && job.metadata.deletionTimestamp === undefined;
    const { remove, make, waitMs } = finish
      ? { remove: active, make: [], waitMs: undefined }
      : goesOn
        ? planPods(job, assessment, now)
        : { remove: [], make: [], waitMs: undefined };
    if (waitMs !== undefined) this.#bench.addWithin(key, Math.max(waitMs, this.#batchMs));
    for (const pod of remove) this.#deletePod(job, pod, !finish);
    let [made, problem]: [number, unknown] = [0, undefined];
    for (const index of make) {
      try {
        this.#makePod(job, index, assessment);
        made++;
      } catch (error) {
        problem = error; // what refuses one pod refuses the next as well
        break;
      }
    }
    const counts = {
      active: active.length - remove.length + made,
      ready: ready - remove.filter(isReady).length,
      terminating: terminating + remove.length,
    };
    return { counts, problem, managed: goesOn };
  }

  #makePod(job: batchV1.Job, index: number | undefined, { lastFailed }: Assessment): void {
    const replaced = index === undefined ? undefined : lastFailed.get(index);
    try {
      const pod = this.#api.create(coreV1.Pod, podOfJob(job, index, replaced));
      this.#recorder.tell(job, { reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
    } catch (error) {
      const message = `Error creating: ${messageOf(error)}`;
      this.#recorder.tell(job, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  }

  #deletePod(job: batchV1.Job, pod: coreV1.Pod, uncounted: boolean): void {
    if (uncounted && isTracked(pod)) this.#api.update(coreV1.Pod, withoutFinalizer(pod, TRACKING_FINALIZER));
    if (!this.#api.delete(coreV1.Pod, keyOf(pod))) return;
    this.#recorder.tell(job, { reason: "SuccessfulDelete", message: `Deleted pod: ${pod.metadata.name}` });
  }

  /** Writes the status: first what is about to be counted, then finalizers are removed, then what has been counted. */
  #write(job: batchV1.Job, assessment: Assessment, counts: Counts, managed: boolean, now: number): void {
    const finish = assessment.finish ?? completion(job, assessment, counts);
    const { conditions, changed } =
      finish || !managed ? { conditions: job.status?.conditions ?? [] } : suspension(job, now);
    const { status, release, isPartial } = track(job, assessment, counts, finish, conditions, now);
    if (changed === "Resumed") status.startTime = kubernetesTime(now);
    if (changed === "Suspended") delete status.startTime;
    if (changed) this.#recorder.tell(job, { reason: changed, message: `Job ${changed.toLowerCase()}` });
    const stored = this.#api.updateStatus(batchV1.Job, { ...job, status });
    if (stored !== job) this.#records.set(job.metadata.uid ?? "", assessment.record);
    for (const pod of release) this.#countPod(pod);
    const waiting = new Set(assessment.pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ""));
    for (const { metadata } of release) waiting.delete(metadata.uid ?? "");
    if (release.length === 0 && !finish) return;
    const after = counted(stored.status ?? {}, waiting);
    const last = finish && !isPartial ? concluded(after, finish, now) : undefined;
    this.#api.updateStatus(batchV1.Job, { ...stored, status: last ?? after });
    if (last && finish) this.#tellOfEnd(stored, last, finish);
  }

  #countPod(pod: coreV1.Pod): void {
    // As it is now: it may just have been deleted.
    const present = this.#api.get(coreV1.Pod, keyOf(pod));
    if (present?.metadata.uid !== pod.metadata.uid || !present || !isTracked(present)) return;
    this.#api.update(coreV1.Pod, withoutFinalizer(present, TRACKING_FINALIZER));
  }

  #tellOfEnd(job: batchV1.Job, { succeeded = 0 }: batchV1.JobStatus, { type, reason, message }: Finish): void {
    const { completions } = job.spec ?? {};
    if (type === "Failed") {
      this.#recorder.tell(job, { type: "Warning", reason, message });
      return;
    }
    if (isNumber(completions) && succeeded > completions) {
      const tooMany = "Too many succeeded pods running after completion count reached";
      this.#recorder.tell(job, { type: "Warning", reason: "TooManySucceededPods", message: tooMany });
    }
    this.#recorder.tell(job, { reason: "Completed", message: "Job completed" });
  }
}

/** That all completions are reached. */
function completion({ spec }: batchV1.Job, { succeeded }: Assessment, { active }: Counts): Finish | undefined {
  const enough = isNumber(spec?.completions) ? succeeded >= spec.completions : succeeded > 0;
  if (!enough || active > 0) return undefined;
  return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}
