/** A resource with something of everything that a schema may have; tests ask both us and the API server about it. */
import { z } from "zod";
import { defineResource } from "../define-resource.ts";
import { intOrString } from "../structural.ts";

export const Sample = defineResource({
  group: "example.org",
  version: "v1alpha1",
  kind: "Sample",
  description: "Something of everything.",
  shortNames: ["smp"],
  categories: ["tests"],
  spec: z
    .object({
      name: z
        .string()
        .min(2)
        .max(10)
        .regex(/^[a-z]+$/)
        .describe("A short name | in lower case."),
      count: z.int().min(1).max(100).default(2).describe("How many."),
      small: z.int32().optional(),
      share: z.number().gt(0).lte(1).optional(),
      mode: z.enum(["Gate", "Extender"]).default("Gate"),
      fixed: z.literal("always").optional(),
      note: z.string().nullable().optional(),
      tags: z.array(z.string()).max(3).meta({ "x-kubernetes-list-type": "set" }).optional(),
      jobs: z.array(z.object({ name: z.string(), slots: z.array(z.int().min(0)).optional() })).optional(),
      limits: z.record(z.string(), z.int().min(0)).optional(),
      port: intOrString().optional(),
      free: z.unknown().optional().describe("Whatever a scheduler keeps here."),
      open: z.looseObject({ known: z.boolean().optional() }).optional(),
      enabled: z.boolean().optional(),
    })
    .meta({
      "x-kubernetes-validations": [
        { rule: "self.count <= 50 || self.mode == 'Gate'", message: "more than 50 need the Gate" },
      ],
    }),
  status: z.object({ phase: z.enum(["Ready", "Failed"]).optional(), ready: z.int().optional() }),
  printerColumns: [{ name: "Count", type: "integer", jsonPath: ".spec.count" }],
  rules: [{ rule: "self.metadata.name != 'forbidden'", message: "this name is taken" }],
});

const base = { name: "abc" };

/** Specs that must be accepted. */
export const goodSpecs: Record<string, unknown>[] = [
  base,
  { ...base, count: 100, mode: "Gate", small: 5, share: 1, fixed: "always", enabled: false },
  {
    ...base,
    note: null,
    tags: ["a", "b"],
    jobs: [{ name: "j", slots: [0, 3] }, { name: "k" }],
    limits: { a: 0, "b/c": 5 },
  },
  { ...base, port: 80 },
  { ...base, port: "http" },
  { ...base, free: { anything: [1, { goes: true }] }, open: { known: true, unknown: 1 } },
  { ...base, free: 5 },
];

/** Specs that must be refused, with where. */
export const badSpecs: [where: string, spec: Record<string, unknown>][] = [
  ["spec.name", {}],
  ["spec.name", { name: "a" }],
  ["spec.name", { name: "abcdefghijk" }],
  ["spec.name", { name: "ABC" }],
  ["spec.name", { name: 5 }],
  ["spec.name", { name: null }],
  ["spec.count", { ...base, count: 0 }],
  ["spec.count", { ...base, count: 101 }],
  ["spec.count", { ...base, count: 1.5 }],
  ["spec.count", { ...base, count: "3" }],
  ["spec.share", { ...base, share: 0 }],
  ["spec.share", { ...base, share: 1.5 }],
  ["spec.mode", { ...base, mode: "Other" }],
  ["spec.fixed", { ...base, fixed: "never" }],
  ["spec.tags", { ...base, tags: ["a", "b", "c", "d"] }],
  ["spec.jobs[0].name", { ...base, jobs: [{}] }],
  ["spec.jobs[1].slots[0]", { ...base, jobs: [{ name: "a" }, { name: "b", slots: [-1] }] }],
  ["spec.limits.a", { ...base, limits: { a: -1 } }],
  ["spec.port", { ...base, port: true }],
  ["spec.open.known", { ...base, open: { known: "yes" } }],
  ["spec.extra", { ...base, extra: 1 }],
  ["spec.jobs[0].extra", { ...base, jobs: [{ name: "a", extra: 1 }] }],
];

/** Specs that only rules in CEL refuse, which only the API server evaluates. */
export const badByRule: Record<string, unknown>[] = [{ ...base, count: 60, mode: "Extender" }];
