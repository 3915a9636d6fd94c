/** An application that runs again and again, where and when a scheduler says. */
import { defineResource, type ObjectOf } from "@berth/kube";
import { z } from "zod";
import {
  CATEGORIES,
  columns,
  conditions,
  GROUP,
  observedGeneration,
  position,
  reference,
  slotList,
  time,
  VERSION,
} from "./common.ts";

/** From created to ended; no phase in between has to be seen. */
export const JOB_PHASES = ["Ready", "InQueue", "Submitted", "Scheduled", "Running", "Completed", "Failed"] as const;
export type JobPhase = (typeof JOB_PHASES)[number];

/** The kinds of applications. */
export const APPLICATION_KINDS = ["spark", "flink", "job"] as const;
export type ApplicationKind = (typeof APPLICATION_KINDS)[number];

const count = z.int32().min(1).max(5000);

const run = z.object({
  number: z.int32().describe("Counts from 1."),
  outcome: z.enum(["Completed", "Failed", "Released"]),
  message: z.string().optional(),
  startTime: time("When the application began to run.").optional(),
  completionTime: time("When it ended."),
  seconds: z.number().optional().describe("How long it ran."),
  testbed: z.string().optional(),
  slots: z.array(position).optional(),
  neighbours: z.array(z.string()).optional().describe("Jobs that had slots on the same nodes while it ran."),
  scheduling: z.string().optional(),
});

export const BatchJob = defineResource({
  group: GROUP,
  version: VERSION,
  kind: "BatchJob",
  shortNames: ["bj"],
  categories: CATEGORIES,
  description:
    "An application of Spark, Flink or plain Kubernetes that a Scheduling runs in slots of a testbed, one executor in each. It can be run again and again.",
  spec: z.object({
    sparkSpec: z
      .looseObject({})
      .optional()
      .describe("The spec of a SparkApplication (sparkoperator.k8s.io/v1beta2), or as much of it as there is to say."),
    flinkSpec: z
      .looseObject({})
      .optional()
      .describe("The spec of a FlinkDeployment (flink.apache.org/v1beta1), or as much of it as there is to say."),
    jobSpec: z.looseObject({}).optional().describe("The spec of a Job (batch/v1): at least its template."),
    executors: z
      .object({ preferred: count.optional(), min: count.optional(), max: count.optional() })
      .meta({
        "x-kubernetes-validations": [
          {
            rule: "(!has(self.min) || !has(self.max) || self.min <= self.max) && (!has(self.min) || !has(self.preferred) || self.min <= self.preferred) && (!has(self.preferred) || !has(self.max) || self.preferred <= self.max)",
            message: "min, preferred and max must be in this order",
          },
        ],
      })
      .optional()
      .describe("How many executors do it good: a hint for schedulers."),
    externalScheduler: z.looseObject({}).optional().describe("Whatever schedulers want to remember about this job."),
    retry: z
      .object({
        limit: z
          .int32()
          .min(0)
          .max(100)
          .default(0)
          .describe("How often a run that failed is tried again, in the same slots."),
        backoffSeconds: z
          .int32()
          .min(0)
          .max(86_400)
          .default(10)
          .describe("How long to wait before the first time; twice as long before each further one."),
      })
      .optional(),
    activeScheduling: reference(
      "The Scheduling that has the job. Remove it to release the job: its application is removed, too.",
    ).optional(),
    creationRequest: z
      .object({
        testbed: reference("The testbed of the slots."),
        slots: slotList.describe("One executor for each of these."),
        claimTime: time(
          "When they were claimed: should two jobs ever have claimed the same slot, the earlier one has it.",
        ).optional(),
      })
      .optional()
      .describe("Where the job is to run. Written by the operator for the Scheduling that has it."),
  }),
  status: z.object({
    phase: z.enum(JOB_PHASES).optional(),
    executors: z
      .object({ requested: z.int32(), placed: z.int32(), running: z.int32() })
      .optional()
      .describe("How many there are to be, how many have got their slot, and how many run."),
    startTime: time("When the present run began to run.").optional(),
    completionTime: time("When it ended.").optional(),
    application: z
      .object({ kind: z.string(), name: z.string(), uid: z.string().optional() })
      .optional()
      .describe("The application of the present run."),
    run: z.int32().optional().describe("The number of the present run."),
    claimTime: time("Which claim the present run is for: when it was made.").optional(),
    attempt: z.int32().optional().describe("How often the present run was tried again."),
    retryTime: time("When it will be tried again.").optional(),
    runs: z.array(run).max(20).optional().describe("The last runs, the latest first."),
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  printerColumns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Executors", type: "integer", jsonPath: ".status.executors.requested" },
    { name: "Running", type: "integer", jsonPath: ".status.executors.running" },
    { name: "Slots", type: "string", jsonPath: ".spec.creationRequest.slots" },
    { name: "Scheduling", type: "string", jsonPath: ".spec.activeScheduling.name" },
    columns.message,
    columns.age,
  ],
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && self.metadata.name.size() <= 38",
      message:
        "the name must begin with a letter, have only lower case letters, digits and '-', and at most 38 characters, so that those of its applications fit",
    },
    {
      rule: "[has(self.spec.sparkSpec), has(self.spec.flinkSpec), has(self.spec.jobSpec)].filter(given, given).size() == 1",
      message: "exactly one of sparkSpec, flinkSpec and jobSpec must be given",
    },
    {
      rule: "!has(self.spec.creationRequest) || has(self.spec.activeScheduling)",
      message: "creationRequest is for the Scheduling that has the job: activeScheduling must be given as well",
    },
  ],
});
/** An application that runs again and again. */
export type BatchJob = ObjectOf<typeof BatchJob>;
/** One run of a job, as its history has it. */
export type JobRun = z.output<typeof run>;

/** What kind of application a job is. */
export function applicationKindOf({ spec }: Pick<BatchJob, "spec">): ApplicationKind {
  return spec.sparkSpec ? "spark" : spec.flinkSpec ? "flink" : "job";
}
