/**
 * A work model: which kinds of work there are, how much of it an application has, and who slows whom down. Made from a YAML
 * file (`schema.ts` says what may stand in it), checked once, and pure from then on.
 */
import { readFileSync } from "node:fs";
import { parse as parseYaml, YAMLParseError } from "yaml";
import type { z } from "zod";
import { WorkModelError, type WorkModelProblem } from "./errors.ts";
import { matchesGlob } from "./glob.ts";
import { type Criteria, type KindEntry, type WorkModelFile, workModelSchema } from "./schema.ts";

/** A kind of work, with everything filled in. */
export interface WorkKind {
  readonly name: string;
  /** Its place in the file. */
  readonly index: number;
  /** Executor-seconds; infinite if it never ends. */
  readonly work: number;
  /** 0 to 1. */
  readonly serial: number;
  /** Infinite if there is no limit. */
  readonly maxParallelism: number;
  readonly class: string | undefined;
  /** Seconds. */
  readonly overhead: { readonly application: number; readonly executor: number; readonly shutdown: number };
  readonly variation: { readonly distribution: "lognormal" | "uniform"; readonly cv: number };
  /** Probabilities. */
  readonly failures: { readonly application: number; readonly executor: number; readonly executorPerHour: number };
}

/** What is known of an application when its kind is asked for. */
export interface ApplicationFacts {
  readonly framework: "spark" | "flink" | "job" | "pod";
  readonly mainClass?: string | undefined;
  readonly file?: string | undefined;
  readonly image?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

type Labels = Readonly<Record<string, string>>;

/** How long which application takes. Read one with `loadWorkModel` or `parseWorkModel`. */
export class WorkModel {
  readonly kinds: readonly WorkKind[];
  /** For Spark and Flink applications that match no kind. */
  readonly fallback: WorkKind;
  readonly #byName: ReadonlyMap<string, WorkKind>;
  readonly #criteria: readonly (readonly Criteria[])[];
  readonly #slowdowns: readonly (readonly number[])[];
  readonly #nodes: readonly { readonly labels: Labels; readonly speed: number }[];

  /** Throws a `WorkModelError` that names every field that is wrong. @param source - How messages call it. */
  constructor(file: unknown, source = "the work model") {
    const read = workModelSchema.safeParse(file);
    if (!read.success) throw new WorkModelError("SIM_WORK_MODEL_INVALID", source, read.error.issues.flatMap(problems));
    const { kinds, defaults = {}, fallback, interference = {}, nodes = [] } = read.data;
    this.kinds = kinds.map((entry, index) => completed(entry, defaults, index));
    this.#byName = new Map(this.kinds.map((kind) => [kind.name, kind]));
    const contradictions = contradictionsIn(read.data, this.#byName);
    if (contradictions.length > 0) throw new WorkModelError("SIM_WORK_MODEL_INVALID", source, contradictions);
    this.fallback = (fallback === undefined ? undefined : this.#byName.get(fallback)) ?? (this.kinds[0] as WorkKind);
    this.#criteria = kinds.map(({ match = [] }) => (Array.isArray(match) ? match : [match]));
    this.#slowdowns = this.kinds.map((kind) =>
      this.kinds.map((neighbour) => {
        const ofKinds = own(own(interference.kinds, kind.name), neighbour.name);
        const ofClasses = own(own(interference.classes, kind.class), neighbour.class);
        return ofKinds ?? ofClasses ?? interference.default ?? 1;
      }),
    );
    this.#nodes = nodes;
  }

  kindNamed(name: string): WorkKind | undefined {
    return this.#byName.get(name);
  }

  /** The first kind in the file that an application matches. */
  kindOf(facts: ApplicationFacts): WorkKind | undefined {
    return this.kinds.find((_, index) => this.#criteria[index]?.some((criteria) => holds(criteria, facts)));
  }

  /** By what factor one neighbour on the same node prolongs a kind's work. */
  slowdown(kind: WorkKind, neighbour: WorkKind): number {
    return this.#slowdowns[kind.index]?.[neighbour.index] ?? 1;
  }

  /** How fast a node with such labels is. */
  nodeSpeed(labels: Labels): number {
    const matching = this.#nodes.find(({ labels: wanted }) => hasLabels(labels, wanted));
    return matching?.speed ?? 1;
  }
}

/** Reads a work model from YAML. Throws a `WorkModelError`. @param source - How messages call it. */
export function parseWorkModel(yaml: string, source = "the work model"): WorkModel {
  return new WorkModel(parsed(yaml, source), source);
}

/** Reads a work model from a file. Throws a `WorkModelError`. */
export function loadWorkModel(path: string | URL): WorkModel {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : error}`;
    throw new WorkModelError("SIM_WORK_MODEL_NOT_FOUND", String(path), [{ path: "", message }], { cause: error });
  }
  return parseWorkModel(text, String(path));
}

let shipped: WorkModel | undefined;

/** The model that comes with this package: `work-models/default.yaml`. */
export function defaultWorkModel(): WorkModel {
  shipped ??= loadWorkModel(new URL("../../work-models/default.yaml", import.meta.url));
  return shipped;
}

/** The file of a model as an object, unchecked. */
function parsed(yaml: string, source: string): unknown {
  try {
    return parseYaml(yaml, { maxAliasCount: 100 });
  } catch (error) {
    const message = error instanceof YAMLParseError ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new WorkModelError("SIM_WORK_MODEL_NOT_YAML", source, [{ path: "", message }], { cause: error });
  }
}

type Common = NonNullable<z.output<typeof workModelSchema>["defaults"]>;

/** What an entry says, else what kinds usually are, else nothing special. */
function completed(entry: KindEntry, usual: Common, index: number): WorkKind {
  const { name, work, overhead = {}, failures = {} } = entry;
  return {
    name,
    index,
    work: work === "unbounded" ? Number.POSITIVE_INFINITY : work,
    serial: entry.serial ?? usual.serial ?? 0,
    maxParallelism: entry.maxParallelism ?? usual.maxParallelism ?? Number.POSITIVE_INFINITY,
    class: entry.class,
    overhead: {
      application: overhead.application ?? usual.overhead?.application ?? 0,
      executor: overhead.executor ?? usual.overhead?.executor ?? 0,
      shutdown: overhead.shutdown ?? usual.overhead?.shutdown ?? 0,
    },
    variation: entry.variation ?? usual.variation ?? { distribution: "lognormal", cv: 0 },
    failures: {
      application: failures.application ?? usual.failures?.application ?? 0,
      executor: failures.executor ?? usual.failures?.executor ?? 0,
      executorPerHour: failures.executorPerHour ?? usual.failures?.executorPerHour ?? 0,
    },
  };
}

/** What each field allows, but the whole does not. */
function contradictionsIn(
  { kinds, fallback, interference = {} }: z.output<typeof workModelSchema>,
  byName: ReadonlyMap<string, WorkKind>,
): WorkModelProblem[] {
  const found: WorkModelProblem[] = [];
  const known = [...byName.keys()].join(", ");
  kinds.forEach(({ name }, index) => {
    if (byName.get(name)?.index !== index)
      found.push({ path: `kinds[${index}].name`, message: `there is another kind "${name}"` });
  });
  if (fallback !== undefined && !byName.has(fallback)) {
    found.push({ path: "fallback", message: `there is no kind "${fallback}"; there are ${known}` });
  }
  const classes = new Set(kinds.map((kind) => kind.class).filter((each) => each !== undefined));
  const check = (field: "kinds" | "classes", has: (name: string) => boolean, all: string) => {
    for (const [name, row] of Object.entries(interference[field] ?? {})) {
      for (const each of [name, ...Object.keys(row)]) {
        if (has(each)) continue;
        const path = each === name ? `interference.${field}.${name}` : `interference.${field}.${name}.${each}`;
        found.push({ path, message: `no kind has ${field === "kinds" ? "the name" : "the class"} "${each}"; ${all}` });
      }
    }
  };
  check("kinds", (name) => byName.has(name), `there are ${known}`);
  check("classes", (name) => classes.has(name), `there are ${[...classes].join(", ") || "none"}`);
  return found;
}

function problems(issue: z.core.$ZodIssue): WorkModelProblem[] {
  // Of an "either … or" only what comes closest helps: that which got furthest into the file.
  if (issue.code === "invalid_union" && issue.errors.length > 0 && issue.message === "Invalid input") {
    const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map(({ path }) => path.length));
    const closest = issue.errors.reduce((best, each) => (depth(each) > depth(best) ? each : best));
    return closest.flatMap((each) => problems({ ...each, path: [...issue.path, ...each.path] }));
  }
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: pathOf([...issue.path, key]), message: "there is no such field" }));
  }
  return [{ path: pathOf(issue.path), message: issue.message }];
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

function holds({ framework, mainClass, file, image, labels }: Criteria, facts: ApplicationFacts): boolean {
  return (
    (framework === undefined || framework === facts.framework) &&
    isOneOf(mainClass, facts.mainClass) &&
    isOneOf(file, facts.file) &&
    isOneOf(image, facts.image) &&
    (labels === undefined || hasLabels(facts.labels, labels))
  );
}

function isOneOf(patterns: string | readonly string[] | undefined, text: string | undefined): boolean {
  if (patterns === undefined) return true;
  if (text === undefined) return false;
  return (typeof patterns === "string" ? [patterns] : patterns).some((pattern) => matchesGlob(pattern, text));
}

function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => own(labels, key) === value);
}

/** A field that an object has itself: names such as "constructor" are names like any other. */
function own<T>(object: Readonly<Record<string, T>> | undefined, key: string | undefined): T | undefined {
  return object !== undefined && key !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

export type { WorkModelFile };
