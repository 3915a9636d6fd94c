/** A day at a small data centre, in two minutes: a dozen jobs of all kinds that come one after the other. Pure. */

export interface Arrival {
  /** Seconds after the start. */
  readonly at: number;
  /** As kubectl takes it. */
  readonly manifest: { readonly kind: "BatchJob"; readonly metadata: { readonly name: string }; readonly spec: object };
}

type Kind = "spark" | "flink" | "job";

interface Line {
  readonly at: number;
  readonly name: string;
  readonly kind: Kind;
  readonly executors: number;
  /** How long one executor alone would take. */
  readonly work: number;
  readonly team: string;
}

const DAY: readonly Line[] = [
  { at: 0, name: "wordcount", kind: "spark", executors: 4, work: 60, team: "search" },
  { at: 1, name: "pi", kind: "job", executors: 2, work: 30, team: "research" },
  { at: 2, name: "clickstream", kind: "flink", executors: 3, work: 60, team: "search" },
  { at: 4, name: "thumbnails", kind: "job", executors: 4, work: 60, team: "media" },
  { at: 6, name: "page-rank", kind: "spark", executors: 6, work: 120, team: "search" },
  { at: 8, name: "backup", kind: "job", executors: 1, work: 25, team: "media" },
  { at: 10, name: "fraud", kind: "flink", executors: 2, work: 40, team: "payments" },
  { at: 14, name: "terasort", kind: "spark", executors: 8, work: 200, team: "research" },
  { at: 16, name: "invoices", kind: "job", executors: 2, work: 30, team: "payments" },
  { at: 20, name: "k-means", kind: "spark", executors: 4, work: 80, team: "research" },
  { at: 26, name: "transcode", kind: "job", executors: 5, work: 90, team: "media" },
  { at: 32, name: "report", kind: "spark", executors: 2, work: 30, team: "payments" },
];

/** @param kinds - Those that the cluster can run; what it cannot is run as a plain Job. */
export function workload(kinds: readonly string[]): Arrival[] {
  return DAY.map((line) => {
    const kind = kinds.includes(line.kind) ? line.kind : "job";
    const { at, name, executors, team } = line;
    return {
      at,
      manifest: {
        kind: "BatchJob",
        metadata: { name, labels: { team } },
        spec: { executors: { preferred: executors, min: 1 }, ...specs[kind](line) },
      },
    };
  });
}

const specs: Readonly<Record<Kind, (line: Line) => object>> = {
  spark: ({ name, work }) => ({
    sparkSpec: {
      type: "Scala",
      mode: "cluster",
      sparkVersion: "3.5.6",
      image: "spark:3.5.6",
      mainClass: `org.example.${name.replaceAll("-", "")}`,
      mainApplicationFile: "local:///opt/jobs.jar",
      executor: { annotations: { "sim.berth.dev/work-seconds": String(work) } },
    },
  }),
  flink: ({ work }) => ({
    flinkSpec: {
      image: "flink:1.19",
      flinkVersion: "v1_19",
      podTemplate: { metadata: { annotations: { "sim.berth.dev/work-seconds": String(work) } } },
      job: { jarURI: "local:///opt/flink/jobs.jar" },
    },
  }),
  job: ({ work, executors }) => ({
    jobSpec: {
      template: {
        metadata: { annotations: { "berth.dev/run-time": `${Math.round(work / executors)}s` } },
        spec: { containers: [{ name: "main", image: "busybox", command: ["work"] }] },
      },
    },
  }),
};
