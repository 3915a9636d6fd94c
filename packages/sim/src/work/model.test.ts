import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { WorkModelError, workModelErrors } from "./errors.ts";
import { defaultWorkModel, loadWorkModel, parseWorkModel, WorkModel } from "./model.ts";
import { workModelJsonSchema, workModelSchema } from "./schema.ts";

function refused(read: () => unknown): WorkModelError {
  try {
    read();
  } catch (error) {
    if (error instanceof WorkModelError) return error;
    throw error;
  }
  throw new Error("it was taken");
}
const problemsOf = (file: unknown) => refused(() => new WorkModel(file)).problems;
const kind = (more: object) => ({ kinds: [{ name: "k", work: 1, ...more }] });

describe("a work model", () => {
  it("fills in what kinds leave out: from the defaults, and else nothing special", () => {
    const model = parseWorkModel(`
      defaults: { serial: 0.1, overhead: { executor: 2 }, variation: { cv: 0.2 } }
      kinds:
        - { name: plain, work: 10 }
        - { name: own, work: unbounded, serial: 0, overhead: { application: 7 }, failures: { executor: 0.5 } }`);
    expect(model.kinds).toMatchObject([
      {
        ...{ name: "plain", work: 10, serial: 0.1, maxParallelism: Number.POSITIVE_INFINITY, class: undefined },
        overhead: { application: 0, executor: 2, shutdown: 0 },
        variation: { distribution: "lognormal", cv: 0.2 },
        failures: { application: 0, executor: 0, executorPerHour: 0 },
      },
      {
        ...{ name: "own", work: Number.POSITIVE_INFINITY, serial: 0 },
        overhead: { application: 7, executor: 2 },
        failures: { executor: 0.5 },
      },
    ]);
    expect(model.fallback.name).toBe("plain");
  });

  it("takes the slowdown of two kinds, else of their classes, else the default", () => {
    const model = new WorkModel({
      kinds: [
        { name: "a", work: 1, class: "cpu" },
        { name: "b", work: 1, class: "io" },
        { name: "c", work: 1 },
      ],
      interference: { default: 1.1, classes: { cpu: { io: 1.2 } }, kinds: { b: { a: 1.9 } } },
    });
    const [a, b, c] = ["a", "b", "c"].map((name) => model.kindNamed(name) as never);
    const between = (one?: never, other?: never) => model.slowdown(one as never, other as never);
    expect([between(a, b), between(b, a), between(a, a), between(c, b)]).toEqual([1.2, 1.9, 1.1, 1.1]);
  });

  it("finds the first kind of which all criteria of one entry hold", () => {
    const model = new WorkModel({
      kinds: [
        { name: "both", work: 1, match: { framework: "spark", mainClass: ["*.A", "*.B"], labels: { x: "1" } } },
        { name: "either", work: 1, match: [{ image: "*/b:*" }, { file: "*.py" }] },
        { name: "never", work: 1 },
      ],
    });
    const spark = { framework: "spark", labels: {} } as const;
    const find = (facts: object) => model.kindOf({ ...spark, ...facts })?.name;
    expect(find({ mainClass: "org.B", labels: { x: "1", y: "2" } })).toBe("both");
    expect(find({ mainClass: "org.B" })).toBeUndefined();
    expect(find({ mainClass: "org.B", labels: { x: "1" }, framework: "flink" })).toBeUndefined();
    expect(find({ image: "r/b:1" })).toBe("either");
    expect(find({ file: "pi.py", mainClass: "org.B", labels: { x: "1" } })).toBe("both");
    expect(model.kindNamed("constructor")).toBeUndefined();
  });

  it("takes a node's speed from the first entry whose labels it has", () => {
    const model = new WorkModel({
      kinds: [{ name: "k", work: 1 }],
      nodes: [
        { labels: { type: "slow", zone: "a" }, speed: 0.25 },
        { labels: { type: "slow" }, speed: 0.5 },
      ],
    });
    const speeds = [{ type: "slow", zone: "a" }, { type: "slow" }, { type: "other" }, {}].map((labels) =>
      model.nodeSpeed(labels as Record<string, string>),
    );
    expect(speeds).toEqual([0.25, 0.5, 1, 1]);
  });
});

describe("a work model that is wrong", () => {
  it.each([
    ["no object", [], "", /expected object/i],
    ["no kinds", {}, "kinds", /expected array/i],
    ["a field that does not exist", { ...kind({}), kindz: [] }, "kindz", /no such field/],
    ["a field of a kind that does not exist", kind({ seriall: 1 }), "kinds[0].seriall", /no such field/],
    ["work of a wrong type", kind({ work: "many" }), "kinds[0].work", /executor-seconds.*unbounded/],
    ["no work", kind({ work: 0 }), "kinds[0].work", /above 0/],
    ["work that is not a number", kind({ work: Number.NaN }), "kinds[0].work", /above 0/],
    ["a share above 1", kind({ serial: 2 }), "kinds[0].serial", /1/],
    ["a name with capitals", { kinds: [{ name: "K", work: 1 }] }, "kinds[0].name", /lower-case/],
    ["a name twice", { kinds: [...kind({}).kinds, ...kind({}).kinds] }, "kinds[0].name", /another kind "k"/],
    ["criteria without any", kind({ match: {} }), "kinds[0].match", /at least one/],
    ["a criterion of a wrong type", kind({ match: [{ image: 1 }] }), "kinds[0].match[0].image", /string/i],
    [
      "too wide a variation",
      kind({ variation: { distribution: "uniform", cv: 0.6 } }),
      "kinds[0].variation.cv",
      /0.577/,
    ],
    [
      "a certain failure",
      kind({ failures: { executorPerHour: 1 } }),
      "kinds[0].failures.executorPerHour",
      /less than 1/,
    ],
    ["a speed-up", { ...kind({}), interference: { kinds: { k: { k: 0.5 } } } }, "interference.kinds.k.k", /1.25/],
    ["an unknown kind", { ...kind({}), interference: { kinds: { k: { x: 2 } } } }, "interference.kinds.k.x", /are k/],
    ["an unknown class", { ...kind({}), interference: { classes: { x: {} } } }, "interference.classes.x", /are none/],
    ["an unknown fallback", { ...kind({}), fallback: "x" }, "fallback", /there are k/],
    ["a node that goes backwards", { ...kind({}), nodes: [{ labels: {}, speed: -1 }] }, "nodes[0].speed", /0/],
  ])("is refused with its path: %s", (_, file, path, message) => {
    const [problem] = problemsOf(file);
    expect(problem?.path).toBe(path);
    expect(problem?.message).toMatch(message);
  });

  it("is refused with all that is wrong, a code and a remedy", () => {
    const error = refused(() => parseWorkModel("kinds: [{name: A, work: 0}]", "m.yaml"));
    expect(error.code).toBe("SIM_WORK_MODEL_INVALID");
    expect(error.problems).toHaveLength(2);
    expect(error.message).toMatch(/^m\.yaml: kinds\[0\]\.name: .*; kinds\[0\]\.work: /);
    expect(error.remedy).toContain("docs/reference/work-model.md");
  });

  it("is refused if it is no YAML, or not there", () => {
    expect(refused(() => parseWorkModel("kinds: [")).code).toBe("SIM_WORK_MODEL_NOT_YAML");
    expect(refused(() => parseWorkModel("a: 1\na: 2")).code).toBe("SIM_WORK_MODEL_NOT_YAML");
    expect(refused(() => loadWorkModel("/does/not/exist.yaml")).code).toBe("SIM_WORK_MODEL_NOT_FOUND");
  });
});

describe("the schema for editors", () => {
  it("is that of the code", () => {
    const file = readFileSync(new URL("../../work-models/schema.json", import.meta.url), "utf8");
    expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(workModelJsonSchema())));
  });

  it("has every field that the documentation has, and the other way round", () => {
    const page = readFileSync(new URL("../../../../docs/reference/work-model.md", import.meta.url), "utf8");
    const table = page.slice(page.indexOf("## Fields"), page.indexOf("## Errors"));
    const documented = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, field]) => field);
    const { kinds, interference, nodes, ...top } = workModelSchema.shape;
    const ofKinds = Object.keys(kinds.element.shape).flatMap((field) =>
      field === "failures" ? ["application", "executor", "executorPerHour"].map((each) => `failures.${each}`) : [field],
    );
    const fields = [
      ...ofKinds.map((field) => `kinds[].${field}`),
      ...Object.keys(interference.unwrap().shape).map((field) => `interference.${field}`),
      ...Object.keys(top),
      "nodes[]",
    ];
    expect(documented.sort()).toEqual(fields.sort());
  });

  it("has errors that are documented", () => {
    const page = readFileSync(new URL("../../../../docs/reference/work-model.md", import.meta.url), "utf8");
    const documented = [...page.matchAll(/`(SIM_WORK_MODEL_[A-Z_]+)`/g)].map(([, code]) => code);
    expect(documented.sort()).toEqual(Object.keys(workModelErrors).sort());
  });
});

describe("the model that comes with the package", () => {
  const model = defaultWorkModel();

  it("knows the usual examples", () => {
    const spark = (facts: object) => model.kindOf({ framework: "spark", labels: {}, ...facts })?.name;
    const flink = (facts: object) => model.kindOf({ framework: "flink", labels: {}, ...facts })?.name;
    expect(spark({ mainClass: "org.apache.spark.examples.SparkPi" })).toBe("spark-pi");
    expect(spark({ file: "local:///opt/spark/examples/src/main/python/pi.py" })).toBe("spark-pi");
    expect(spark({ mainClass: "org.apache.spark.examples.SparkPageRank" })).toBe("spark-pagerank");
    expect(spark({ mainClass: "com.intel.hibench.sparkbench.micro.ScalaTeraSort" })).toBe("spark-terasort");
    expect(flink({ file: "local:///opt/flink/examples/batch/WordCount.jar" })).toBe("flink-wordcount");
    expect(flink({ file: "local:///opt/flink/examples/streaming/StateMachineExample.jar" })).toBe("flink-streaming");
    expect(spark({ mainClass: "org.example.Other" })).toBeUndefined();
    expect(model.fallback.name).toBe("generic");
  });

  it("hurts those most who use the same thing", () => {
    for (const kind of model.kinds) {
      const same = model.slowdown(kind, kind);
      expect(same).toBeGreaterThan(1);
      expect(Math.max(...model.kinds.map((other) => model.slowdown(kind, other)))).toBeLessThanOrEqual(
        kind.class === "cpu" ? 1.1 : same,
      );
    }
  });
});
