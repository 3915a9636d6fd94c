/** Makes a Job whenever a CronJob's schedule says so, and clears away old ones. */
import { batchV1, controllerOf, isAlreadyExists, keyOf, kubernetesTime } from "@berth/kube";
import { LocalApi } from "../../api/local-api.ts";
import { type Component, type Surroundings, Workbench } from "../component.ts";
import { IndexBy } from "../index-by.ts";
import { finalCondition } from "../job/job-facts.ts";
import { keyFrom, messageOf, referenceTo, textOf } from "../parents.ts";
import { Recorder } from "../recorder.ts";
import { type Schedule, scheduleFrom } from "./schedule.ts";

const LONGEST_NAME = 52;

export class CronJobController implements Component {
  readonly #surroundings: Surroundings;
  readonly #api: LocalApi;
  readonly #recorder: Recorder;
  readonly #bench: Workbench;
  readonly #jobs: IndexBy<batchV1.Job>;
  #stops: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#api = new LocalApi(surroundings.server, "system:serviceaccount:kube-system:cronjob-controller");
    this.#recorder = new Recorder(surroundings, "cronjob-controller");
    this.#bench = new Workbench(surroundings, (key) => this.#sync(key));
    this.#jobs = new IndexBy(surroundings.server, batchV1.Job, (job) => {
      const owner = controllerOf(job);
      return owner?.kind === "CronJob" ? owner.uid : undefined;
    });
  }

  start(): void {
    this.#stops = [
      this.#api.onChange(batchV1.CronJob, ({ type, object }) => {
        if (type === "DELETED") this.#bench.forget(textOf(object));
        else this.#bench.add(textOf(object));
      }),
      this.#api.onChange(batchV1.Job, ({ object }) => {
        const owner = controllerOf(object);
        if (owner?.kind === "CronJob") this.#bench.add(`${object.metadata.namespace}/${owner.name}`);
      }),
    ];
    for (const cronJob of this.#api.list(batchV1.CronJob)) this.#bench.add(textOf(cronJob));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#bench.stop();
  }

  #sync(key: string): void {
    const found = this.#api.get(batchV1.CronJob, keyFrom(key));
    if (!found) return;
    const cronJob = this.#followJobs(found);
    if (cronJob.metadata.deletionTimestamp !== undefined) return;
    this.#clearHistory(cronJob);
    const { schedule: text = "", timeZone, suspend } = cronJob.spec ?? {};
    if (suspend) return;
    const schedule = scheduleFrom(text, timeZone);
    if (!schedule) {
      this.#tell(cronJob, "UnparseableSchedule", `unparseable schedule: ${JSON.stringify(text)}`, "Warning");
      return;
    }
    this.#startIfDue(cronJob, schedule);
    const next = schedule.next(this.#surroundings.clock.now());
    if (next !== undefined) this.#bench.addWithin(key, next - this.#surroundings.clock.now());
  }

  #jobsOf({ metadata }: batchV1.CronJob): batchV1.Job[] {
    return [...this.#jobs.get(metadata.uid ?? "").values()];
  }

  /** Notes which of its Jobs still run, and when one last succeeded. */
  #followJobs(cronJob: batchV1.CronJob): batchV1.CronJob {
    const jobs = new Map(this.#jobsOf(cronJob).map((job) => [job.metadata.uid, job]));
    const status = { ...cronJob.status };
    const active = status.active?.filter(({ uid, name }) => {
      const job = jobs.get(uid);
      const end = job && finalCondition(job);
      if (!job) this.#tell(cronJob, "MissingJob", `Active job went missing: ${name}`);
      else if (end) this.#tell(cronJob, "SawCompletedJob", `Saw completed job: ${name}, condition: ${end.type}`);
      return job && !end;
    });
    const successes = [...jobs.values()].map((job) => job.status?.completionTime).filter((time) => time !== undefined);
    const last = successes.toSorted().at(-1);
    if (last !== undefined && last > (status.lastSuccessfulTime ?? "")) status.lastSuccessfulTime = last;
    if (active?.length) status.active = active;
    else delete status.active;
    return this.#api.updateStatus(batchV1.CronJob, { ...cronJob, status });
  }

  #startIfDue(cronJob: batchV1.CronJob, schedule: Schedule): void {
    const now = this.#surroundings.clock.now();
    const { startingDeadlineSeconds: deadline, concurrencyPolicy } = cronJob.spec ?? {};
    const { lastScheduleTime, active = [] } = cronJob.status ?? {};
    const since = Date.parse(lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? "");
    const earliest = deadline === undefined || deadline === null ? since : Math.max(since, now - deadline * 1000);
    const due = lastDue(schedule, earliest, now);
    if (due === undefined) return;
    if (concurrencyPolicy === "Forbid" && active.length > 0) {
      const why = "Not starting job because prior execution is running and concurrency policy is Forbid";
      this.#tell(cronJob, "JobAlreadyActive", why);
      return;
    }
    if (concurrencyPolicy === "Replace") {
      for (const { name = "", namespace } of active) {
        this.#api.delete(batchV1.Job, { namespace, name }, { propagationPolicy: "Background" });
        this.#tell(cronJob, "SuccessfulDelete", `Deleted job ${name}`);
      }
    }
    const job = this.#create(cronJob, due);
    if (!job) return;
    const { apiVersion, kind, metadata } = job;
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata;
    const reference = {
      apiVersion: apiVersion ?? "batch/v1",
      kind: kind ?? "Job",
      name,
      namespace,
      uid,
      resourceVersion,
    };
    const kept = concurrencyPolicy === "Replace" ? [] : active;
    const status = { ...cronJob.status, active: [...kept, reference], lastScheduleTime: kubernetesTime(due) };
    this.#api.updateStatus(batchV1.CronJob, { ...cronJob, status });
  }

  #create(cronJob: batchV1.CronJob, due: number): batchV1.Job | undefined {
    const { metadata, spec } = cronJob;
    const { metadata: template, spec: jobSpec } = spec?.jobTemplate ?? {};
    const annotations = {
      ...template?.annotations,
      "batch.kubernetes.io/cronjob-scheduled-timestamp": kubernetesTime(due),
    };
    const name = `${(metadata.name ?? "").slice(0, LONGEST_NAME)}-${Math.floor(due / 60_000)}`;
    try {
      const job = this.#api.create(batchV1.Job, {
        metadata: {
          name,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
          ...(template?.labels && { labels: template.labels }),
          annotations,
          ownerReferences: [referenceTo(cronJob, batchV1.CronJob)],
        },
        ...(jobSpec && { spec: jobSpec }),
      });
      this.#tell(cronJob, "SuccessfulCreate", `Created job ${name}`);
      return job;
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      this.#tell(cronJob, "FailedCreate", `Error creating job: ${messageOf(error)}`, "Warning");
      throw error;
    }
  }

  #clearHistory(cronJob: batchV1.CronJob): void {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec ?? {};
    for (const [type, limit] of [
      ["Complete", successfulJobsHistoryLimit],
      ["Failed", failedJobsHistoryLimit],
    ] as const) {
      if (limit === undefined || limit === null) continue;
      const ended = this.#jobsOf(cronJob).filter(
        (job) => finalCondition(job)?.type === type && job.metadata.deletionTimestamp === undefined,
      );
      const order = ({ metadata, status }: batchV1.Job) => `${status?.startTime ?? ""}${metadata.name}`;
      const inOrder = ended.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
      for (const job of inOrder.slice(0, Math.max(0, ended.length - limit))) {
        this.#api.delete(batchV1.Job, keyOf(job), { propagationPolicy: "Background" });
        this.#tell(cronJob, "SuccessfulDelete", `Deleted job ${job.metadata.name}`);
      }
    }
  }

  #tell(cronJob: batchV1.CronJob, reason: string, message: string, type: "Normal" | "Warning" = "Normal"): void {
    this.#recorder.tell(cronJob, { type, reason, message });
  }
}

/** The last moment that was due after one and not after the other; whatever was missed before it stays missed. Pure. */
export function lastDue(schedule: Schedule, after: number, until: number): number | undefined {
  const first = schedule.next(after);
  if (first === undefined || first > until) return undefined;
  const second = schedule.next(first);
  if (second === undefined || second > until) return first;
  // Not one by one: a clock that was set wrong can be decades behind. But schedules have gaps, as nights and weekends.
  let window = second - first;
  let next = schedule.next(until - window);
  while (until - window > first && (next === undefined || next > until)) {
    window *= 2;
    next = schedule.next(Math.max(first, until - window));
  }
  let last = first;
  for (; next !== undefined && next <= until; next = schedule.next(next)) last = next;
  return last;
}
