/** What the resources have in common. */
import { intOrString, type PrinterColumn } from "@berth/kube";
import { z } from "zod";

export const GROUP = "berth.dev";
export const VERSION = "v1alpha1";
/** `kubectl get berth` shows all of them. */
export const CATEGORIES = ["berth"];

/** Conditions say how it stands in words, for people and for `kubectl wait`. */
export const conditions = z
  .array(
    z.object({
      type: z.string().max(316),
      status: z.enum(["True", "False", "Unknown"]),
      reason: z.string().max(1024),
      message: z.string().max(32_768),
      lastTransitionTime: z.string(),
      observedGeneration: z.int().optional(),
    }),
  )
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
  .describe("How it stands, and why.");

export const observedGeneration = z.int().describe("The generation of the spec that this status is about.");

/** Another object, by name. */
export const reference = (what: string) =>
  z
    .object({
      name: z.string().min(1).max(253).describe("Its name."),
      namespace: z.string().max(63).optional().describe("Its namespace. Default: that of this object."),
    })
    .describe(what);

const POSITIVE = {
  rule: "self.all(name, quantity(string(self[name])).isGreaterThan(quantity('0')))",
  message: "all amounts must be quantities above 0",
};

/** CPUs and memory, and whatever else nodes count. */
export const slotResources = z.record(z.string(), intOrString()).meta({
  maxProperties: 8,
  "x-kubernetes-validations": [
    { rule: "'cpu' in self && 'memory' in self", message: "cpu and memory must be said" },
    {
      rule: "self.all(name, isQuantity(string(self[name])))",
      message: "all amounts must be quantities: 700m, 896Mi",
    },
    POSITIVE,
  ],
});

/** Columns of `kubectl get` that several resources have. */
export const columns = {
  age: { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  message: {
    name: "Message",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Progressing")].message',
    priority: 1,
  },
} as const satisfies Record<string, PrinterColumn>;

export const time = (what: string) => z.string().meta({ format: "date-time" }).describe(what);

/** The number of a slot in its testbed. */
export const position = z.int32().min(0);

/** The slots of one job. */
export const slotList = z.array(position).min(1).max(5000).meta({ "x-kubernetes-list-type": "set" });
