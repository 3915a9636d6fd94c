/** What people write, good and bad, and what the API server says to it: the same on every cluster. */
import { readFileSync } from "node:fs";
import type { KubernetesObject } from "@berth/kube";
import { parseAllDocuments } from "yaml";
import { BatchJob } from "../batch-job.ts";
import { GROUP, VERSION } from "../common.ts";
import { Scheduling } from "../scheduling.ts";
import { Slot } from "../slot.ts";
import { Testbed } from "../testbed.ts";

const apiVersion = `${GROUP}/${VERSION}`;
export const kinds = { Testbed, Slot, BatchJob, Scheduling };

/** An object as it comes from outside. */
export interface Manifest extends KubernetesObject {
  readonly kind: keyof typeof kinds;
  readonly spec: object;
}

/** All objects of the examples. */
export function examples(): Manifest[] {
  return ["testbed", "batchjob", "scheduling"].flatMap((name) => {
    const text = readFileSync(new URL(`../../examples/${name}.yaml`, import.meta.url), "utf8");
    return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  });
}

const object = (kind: Manifest["kind"], spec: object, name = "x"): Manifest => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});
const testbed = (spec: object, name?: string) =>
  object(
    "Testbed",
    { slotsPerNode: 2, nodeLabel: "example.org/slots", resourcesPerSlot: { cpu: "1", memory: "1Gi" }, ...spec },
    name,
  );
const job = (spec: object, name?: string) => object("BatchJob", spec, name);
const scheduling = (spec: object) => object("Scheduling", { testbed: { name: "main" }, ...spec });
const jobSpec = { template: {} };

/** What is taken although one might think that it is not. */
export const accepted: readonly [title: string, manifest: Manifest][] = [
  ["whole numbers as quantities", testbed({ resourcesPerSlot: { cpu: 1, memory: "896Mi" } })],
  ["further resources", testbed({ resourcesPerSlot: { cpu: "1", memory: "1Gi", "example.org/gpu": 1 } })],
  ["a label without a domain", testbed({ nodeLabel: "slots" })],
  ["anything in the specs of applications", job({ sparkSpec: { any: { thing: [1, "two", null] } } })],
  ["anything that schedulers remember", job({ jobSpec, externalScheduler: { profile: { x: [1.5] } } })],
  ["an empty queue", scheduling({ queueBased: [] })],
  ["a job several times in a queue", scheduling({ queueBased: [{ name: "a" }, { name: "b" }, { name: "a" }] })],
  [
    "a slot for two jobs, one after the other",
    scheduling({
      slotBased: [
        { name: "a", slots: [0] },
        { name: "b", slots: [0] },
      ],
    }),
  ],
  [
    "two jobs of one name",
    scheduling({
      slotBased: [
        { name: "a", slots: [0] },
        { name: "a", namespace: "elsewhere", slots: [1] },
      ],
    }),
  ],
];

/** What is refused, and a part of what is said then. */
export const refused: readonly [title: string, manifest: Manifest, says: string][] = [
  ["no slots", testbed({ slotsPerNode: 0 }), "spec.slotsPerNode"],
  ["a fraction of a slot", testbed({ slotsPerNode: 1.5 }), "spec.slotsPerNode"],
  ["too many slots", testbed({ slotsPerNode: 257 }), "spec.slotsPerNode"],
  ["no label", testbed({ nodeLabel: "" }), "spec.nodeLabel"],
  ["a label that is none", testbed({ nodeLabel: "a/b/c" }), "spec.nodeLabel"],
  ["a label with its value", testbed({ nodeLabel: "example.org/slots=1" }), "spec.nodeLabel"],
  ["no memory", testbed({ resourcesPerSlot: { cpu: "1" } }), "cpu and memory must be said"],
  [
    "a quantity that is none",
    testbed({ resourcesPerSlot: { cpu: "much", memory: "1Gi" } }),
    "all amounts must be quantities",
  ],
  [
    "nothing of a resource",
    testbed({ resourcesPerSlot: { cpu: "0", memory: "1Gi" } }),
    "all amounts must be quantities above 0",
  ],
  [
    "less than nothing",
    testbed({ resourcesPerSlot: { cpu: "-1", memory: "1Gi" } }),
    "all amounts must be quantities above 0",
  ],
  ["a name that leaves no room", testbed({}, "x".repeat(41)), "at most 40 characters"],
  ["no application", job({}), "exactly one of sparkSpec, flinkSpec and jobSpec"],
  ["two applications", job({ jobSpec, flinkSpec: {} }), "exactly one of sparkSpec, flinkSpec and jobSpec"],
  ["a job's name that is no label", job({ jobSpec }, "a.b"), "the name must begin with a letter"],
  ["a job's name that begins with a digit", job({ jobSpec }, "1a"), "the name must begin with a letter"],
  ["a job's name that leaves no room", job({ jobSpec }, "x".repeat(39)), "at most 38 characters"],
  ["less executors at most than at least", job({ jobSpec, executors: { min: 3, max: 2 } }), "in this order"],
  ["more executors than there may be", job({ jobSpec, executors: { preferred: 3, max: 2 } }), "in this order"],
  ["no executors", job({ jobSpec, executors: { preferred: 0 } }), "spec.executors.preferred"],
  ["a retry less than none", job({ jobSpec, retry: { limit: -1 } }), "spec.retry.limit"],
  [
    "slots for nobody",
    job({ jobSpec, creationRequest: { testbed: { name: "m" }, slots: [0] } }),
    "activeScheduling must be given",
  ],
  [
    "a slot twice",
    job({ jobSpec, activeScheduling: { name: "s" }, creationRequest: { testbed: { name: "m" }, slots: [1, 1] } }),
    "spec.creationRequest.slots[1]",
  ],
  ["no strategy", scheduling({}), "exactly one of queueBased and slotBased"],
  ["both strategies", scheduling({ queueBased: [], slotBased: [] }), "exactly one of queueBased and slotBased"],
  ["a slot below the first", scheduling({ slotBased: [{ name: "a", slots: [-1] }] }), "spec.slotBased[0].slots[0]"],
  ["a slot twice for one job", scheduling({ slotBased: [{ name: "a", slots: [2, 2] }] }), "spec.slotBased[0].slots[1]"],
  [
    "slots for a job that has some already",
    scheduling({
      slotBased: [
        { name: "a", slots: [0] },
        { name: "b", slots: [1] },
        { name: "a", namespace: "", slots: [2] },
      ],
    }),
    'spec.slotBased[2]: Duplicate value: {"name":"a","namespace":""}',
  ],
  ["no slots for a job", scheduling({ slotBased: [{ name: "a", slots: [] }] }), "spec.slotBased[0].slots"],
  ["a job without a name", scheduling({ queueBased: [{ namespace: "a" }] }), "spec.queueBased[0].name"],
  ["no testbed", object("Scheduling", { queueBased: [] }), "spec.testbed"],
  ["a field that nobody knows", scheduling({ queueBased: [], priority: 1 }), 'unknown field "spec.priority"'],
];
