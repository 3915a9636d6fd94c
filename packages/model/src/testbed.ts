/** A pool of slots: equal, reserved pieces of the nodes that carry a label. */
import { defineResource, type ObjectOf } from "@berth/kube";
import { z } from "zod";
import { CATEGORIES, columns, conditions, GROUP, observedGeneration, slotResources, VERSION } from "./common.ts";

export const Testbed = defineResource({
  group: GROUP,
  version: VERSION,
  kind: "Testbed",
  shortNames: ["tb"],
  categories: CATEGORIES,
  description:
    "A pool of slots: equal pieces of the nodes that carry a label. Free slots are kept free by ghost pods, which do nothing but hold their place.",
  spec: z.object({
    slotsPerNode: z.int32().min(1).max(256).describe("How many slots each node has."),
    nodeLabel: z
      .string()
      .min(1)
      .max(317)
      .meta({ pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$" })
      .describe(
        "The name of a label. Nodes that have it belong to the testbed, whatever its value; the values say in which order slots are numbered.",
      ),
    resourcesPerSlot: slotResources.describe("What is reserved for each slot: cpu and memory, and others if you like."),
    tolerations: z
      .array(z.looseObject({}))
      .max(32)
      .optional()
      .describe("Taints that ghosts and executors put up with, as a pod's tolerations."),
  }),
  status: z.object({
    nodes: z.int32().optional().describe("How many nodes carry the label."),
    slots: z
      .object({
        total: z.int32(),
        free: z.int32(),
        reserved: z.int32(),
        occupied: z.int32(),
        unavailable: z.int32(),
      })
      .optional()
      .describe("How many slots there are, by their state."),
    observedGeneration: observedGeneration.optional(),
    conditions: conditions.optional(),
  }),
  printerColumns: [
    { name: "Nodes", type: "integer", jsonPath: ".status.nodes" },
    { name: "Slots", type: "integer", jsonPath: ".status.slots.total" },
    { name: "Free", type: "integer", jsonPath: ".status.slots.free" },
    { name: "Reserved", type: "integer", jsonPath: ".status.slots.reserved" },
    { name: "Occupied", type: "integer", jsonPath: ".status.slots.occupied" },
    { name: "Unavailable", type: "integer", jsonPath: ".status.slots.unavailable", priority: 1 },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    columns.age,
  ],
  rules: [
    {
      rule: "self.metadata.name.size() <= 40",
      message: "the name must have at most 40 characters, so that those of its slots fit",
    },
  ],
});
/** A pool of slots. */
export type Testbed = ObjectOf<typeof Testbed>;
