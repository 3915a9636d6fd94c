/** One slot of a testbed, for people and tools to look at. */
import { defineResource, type ObjectOf } from "@berth/kube";
import { z } from "zod";
import { CATEGORIES, conditions, GROUP, position, slotResources, time, VERSION } from "./common.ts";

/** What can be said of a slot. */
export const SLOT_STATES = ["free", "reserved", "occupied", "unavailable"] as const;
export type SlotState = (typeof SLOT_STATES)[number];

export const Slot = defineResource({
  group: GROUP,
  version: VERSION,
  kind: "Slot",
  categories: CATEGORIES,
  description:
    "One slot of a testbed, made by the operator. It shows how things stand and decides nothing, but for spec.unschedulable, which is yours to set.",
  spec: z.object({
    testbed: z.string().describe("The testbed that it belongs to."),
    nodeName: z.string().describe("The node that it is a piece of."),
    nodeId: z.string().describe("The value of the testbed's label on that node."),
    position: position.describe("Its number in the testbed: what schedulers call it."),
    positionOnNode: position.describe("Its number on the node."),
    resources: slotResources.describe("What is reserved for it."),
    unschedulable: z
      .boolean()
      .default(false)
      .describe("True: whoever is in it may finish, and nobody is put into it any more."),
  }),
  status: z.object({
    state: z
      .enum(SLOT_STATES)
      .optional()
      .describe(
        "free: a ghost holds it. reserved: a job has it, its executor is not there yet. occupied: an executor is in it. unavailable: nobody can be put into it, see reason.",
      ),
    reason: z.string().optional().describe("Why it is unavailable."),
    podName: z.string().optional().describe("Who is in it: an executor or a ghost."),
    podUID: z.string().optional(),
    job: z.string().optional().describe("The job that has it, as namespace/name."),
    scheduling: z.string().optional().describe("The Scheduling that gave it to the job, as namespace/name."),
    since: time("Since when it has been so.").optional(),
    established: z
      .boolean()
      .optional()
      .describe("Its place was held once: should somebody take it while an executor leaves, it is taken back."),
    conditions: conditions.optional(),
  }),
  printerColumns: [
    { name: "Slot", type: "integer", jsonPath: ".spec.position" },
    { name: "Node", type: "string", jsonPath: ".spec.nodeName" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Job", type: "string", jsonPath: ".status.job" },
    { name: "Pod", type: "string", jsonPath: ".status.podName" },
    { name: "Reason", type: "string", jsonPath: ".status.reason", priority: 1 },
    { name: "Since", type: "date", jsonPath: ".status.since" },
  ],
});
/** One slot of a testbed. */
export type Slot = ObjectOf<typeof Slot>;
