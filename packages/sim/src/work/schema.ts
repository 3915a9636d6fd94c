/** What may stand in a work model's file. `model.ts` makes it usable; `docs/reference/work-model.md` explains it. */
import { z } from "zod";

const seconds = z.number().min(0).max(1e9);
const probability = z.number().min(0).max(1);
const patterns = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const labels = z.record(z.string().min(1), z.string());
const name = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, {
  error: "must be lower-case letters, digits, '-' and '.', and at most 63 of them",
});
const slowdown = z.number().min(1, { error: "must be 1 (no slowdown) or more: 1.25 is a quarter slower" }).max(1000);

const overhead = z.strictObject({
  application: seconds.optional().describe("From the start of the driver or JobManager until there is work to do."),
  executor: seconds.optional().describe("From the start of an executor until it works."),
  shutdown: seconds.optional().describe("From the end of the work until the driver ends."),
});

const variation = z
  .strictObject({
    distribution: z.enum(["lognormal", "uniform"]).default("lognormal"),
    cv: z.number().min(0).max(10).describe("Standard deviation over mean. The mean stays what `work` says."),
  })
  .refine(({ distribution, cv }) => distribution !== "uniform" || cv <= LARGEST_UNIFORM_CV, {
    path: ["cv"],
    error: "must be at most 0.577 for a uniform distribution, or some work would be negative",
  });

/** 1/√3: half the width of a uniform distribution around 1 is √3·cv, and must not be more than 1. */
const LARGEST_UNIFORM_CV = 1 / Math.sqrt(3);

const failures = z.strictObject({
  application: probability.optional().describe("That the driver fails, at a random point of the work."),
  executor: probability.optional().describe("That an executor fails, at a random point of the work that is left."),
  executorPerHour: probability
    .refine((value) => value < 1, { error: "must be less than 1" })
    .optional()
    .describe("That an executor fails within an hour, whatever it does."),
});

const criteria = z
  .strictObject({
    framework: z.enum(["spark", "flink", "job", "pod"]).optional(),
    mainClass: patterns.optional().describe("spec.mainClass or spec.job.entryClass; `*` stands for anything."),
    file: patterns.optional().describe("spec.mainApplicationFile or spec.job.jarURI; `*` stands for anything."),
    image: patterns.optional().describe("The image of the main container; `*` stands for anything."),
    labels: labels.optional().describe("Labels of the application or its pods."),
  })
  .refine((given) => Object.keys(given).length > 0, { error: "must have at least one criterion" });

/** What kinds have in common that do not say otherwise. */
const common = {
  serial: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Share of the work that no number of executors makes faster (Amdahl). Default: 0."),
  maxParallelism: z.int().min(1).max(1e6).optional().describe("More executors than this are of no use. Default: none."),
  overhead: overhead.optional().describe("Seconds that are no work. Default: 0 each."),
  variation: variation.optional().describe("How much runs of the same application differ. Default: not at all."),
  failures: failures.optional().describe("Default: none."),
};

const WORK = { error: 'must be a number of executor-seconds above 0, and at most 1e12, or "unbounded"' };

const kind = z.strictObject({
  name,
  description: z.string().optional(),
  match: z
    .union([criteria, z.array(criteria).min(1)])
    .optional()
    .describe(
      "Applications of this kind: all criteria of one entry hold. Without it only an annotation names the kind.",
    ),
  work: z
    .union([z.number(WORK).positive(WORK).max(1e12, WORK), z.literal("unbounded")], WORK)
    .describe("Executor-seconds: what one executor alone takes, on a node of speed 1 and without neighbours."),
  class: name.optional().describe("What it uses most; see `interference.classes`."),
  ...common,
});

const matrix = z.record(z.string(), z.record(z.string(), slowdown));

/** The whole file. */
export const workModelSchema = z.strictObject({
  defaults: z.strictObject(common).optional().describe("What holds for kinds that do not say otherwise."),
  fallback: z
    .string()
    .optional()
    .describe("The kind of Spark and Flink applications that match none. Default: the first."),
  kinds: z.array(kind).min(1).max(10_000),
  interference: z
    .strictObject({
      default: slowdown.optional().describe("For pairs that are not named below. Default: 1."),
      classes: matrix.optional().describe("Class → class of the neighbour → slowdown."),
      kinds: matrix.optional().describe("Kind → kind of the neighbour → slowdown. Counts more than classes."),
    })
    .optional(),
  nodes: z
    .array(z.strictObject({ labels, speed: z.number().positive().max(1000) }))
    .optional()
    .describe("How fast nodes are: the first entry whose labels a node has. Default: 1."),
});

/** A work model as it stands in its file. */
export type WorkModelFile = z.input<typeof workModelSchema>;
export type KindEntry = z.output<typeof kind>;
export type Criteria = z.output<typeof criteria>;

/** The same for editors: JSON Schema. `work-models/schema.json` has it. */
export function workModelJsonSchema(): object {
  return z.toJSONSchema(workModelSchema, { io: "input" });
}
