/** Orders for tests of applications: one of each kind, with as little in it as possible. */
import type { BatchJob } from "@berth/model";
import type { RunOrder } from "../apps/application.ts";

export const minimal = {
  sparkSpec: {
    type: "Scala",
    sparkVersion: "3.5.6",
    image: "spark:3.5.6",
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  },
  flinkSpec: {
    image: "flink:1.19",
    flinkVersion: "v1_19",
    job: { jarURI: "local:///opt/flink/examples/batch/WordCount.jar" },
  },
  jobSpec: { template: { spec: { containers: [{ name: "main", image: "busybox", command: ["sleep", "60"] }] } } },
} as const;

export type ApplicationSpec = "sparkSpec" | "flinkSpec" | "jobSpec";

/** An order for three slots of the size in the README. @param spec - Over the minimal one. */
export function orderFor(kind: ApplicationSpec, spec: object = {}, order: Partial<RunOrder> = {}): RunOrder {
  const job = {
    metadata: { namespace: "default", name: "sample" },
    spec: { [kind]: { ...minimal[kind], ...spec } },
  } as unknown as BatchJob;
  return {
    job,
    name: "sample-1",
    run: 1,
    testbed: { namespace: "lab", name: "main" },
    slots: [2, 3, 5],
    resources: { cpu: "700m", memory: "896Mi" },
    tolerations: [],
    placement: { type: "gate" },
    ...order,
  };
}

/** The object; an error with the problem if there is none. */
export function objectOf<T>(rendered: { readonly object: T } | { readonly problem: { readonly message: string } }): T {
  if ("problem" in rendered) throw new Error(rendered.problem.message);
  return rendered.object;
}

/** The problem, if there is one. */
export function problemOf<P>(rendered: { readonly object: unknown } | { readonly problem: P }): P | undefined {
  return "problem" in rendered ? rendered.problem : undefined;
}
