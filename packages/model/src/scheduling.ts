/** A scheduler's decision: which jobs are to run where, or in which order. */
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

export const SCHEDULING_PHASES = [
  "Acquire",
  "Submission",
  "Confirmation",
  "AwaitCompletion",
  "Completed",
  "Failed",
] as const;
export type SchedulingPhase = (typeof SCHEDULING_PHASES)[number];

const name = z.string().min(1).max(253).describe("The name of a BatchJob.");
const namespace = z.string().max(63).optional().describe("Its namespace. Default: that of the Scheduling.");

export const Scheduling = defineResource({
  group: GROUP,
  version: VERSION,
  kind: "Scheduling",
  shortNames: ["sched"],
  categories: CATEGORIES,
  description:
    "A scheduler's decision: which jobs are to run in which slots of a testbed, or in which order in whatever slots become free. It can be edited while it is carried out.",
  spec: z.object({
    testbed: reference("The testbed in whose slots the jobs are to run."),
    queueBased: z
      .array(z.object({ name, namespace }))
      .max(5000)
      .optional()
      .describe(
        "Jobs in the order in which they are to start, in the first slots that are free. The same job n times means n executors.",
      ),
    slotBased: z
      .array(
        z.object({
          name,
          // A key of the list has to have a value.
          namespace: namespace.meta({ default: "" }).describe("Its namespace. Empty: that of the Scheduling."),
          slots: slotList.describe("One executor in each of these."),
        }),
      )
      .max(5000)
      // Each job once. A rule that says so would have to compare each with each, which the server finds too costly.
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "namespace"] })
      .optional()
      .describe("Jobs in the order in which they are to start, each once, and in the slots that are named."),
    exclusive: z
      .boolean()
      .default(false)
      .describe(
        "True: nobody else gets slots of the testbed until this Scheduling is over, and it waits until everybody else's are free.",
      ),
    reason: z.string().max(1024).optional().describe("Why it was decided so, in the words of whoever decided."),
    ttlSecondsAfterFinished: z.int32().min(0).default(3600).describe("For how long it is kept when it is over."),
  }),
  status: z.object({
    phase: z.enum(SCHEDULING_PHASES).optional(),
    jobs: z
      .array(
        z.object({
          name: z.string(),
          namespace: z.string().optional(),
          phase: z.enum(["Waiting", "InQueue", "Submitted", "Scheduled", "Running", "Completed", "Failed", "Released"]),
          slots: z.array(position).optional(),
          message: z.string().optional(),
          run: z.int32().optional(),
          missingSince: time("Since when there is no such job; after a minute it is given up.").optional(),
        }),
      )
      .optional()
      .describe("How it stands with each of the jobs."),
    startTime: time("When the first job was claimed.").optional(),
    completionTime: time("When it was over.").optional(),
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  printerColumns: [
    { name: "Testbed", type: "string", jsonPath: ".spec.testbed.name" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Jobs", type: "string", jsonPath: ".status.jobs[*].name" },
    columns.message,
    columns.age,
  ],
  rules: [
    {
      rule: "has(self.spec.queueBased) != has(self.spec.slotBased)",
      message: "exactly one of queueBased and slotBased must be given",
    },
  ],
});
/** A scheduler's decision. */
export type Scheduling = ObjectOf<typeof Scheduling>;
