/** `npm run bench -- NAME [--quick] [--json]`: measures us beside others and prints both. */
import { parseArgs } from "node:util";
import { today } from "@berth/cluster";
import { type Measurement, type MeasureOptions, machine, type Report, row, table } from "./report.ts";

interface Benchmark {
  measure(options: MeasureOptions): Promise<Measurement[]>;
}

/** Name → what it compares, and the module that measures it. A benchmark is loaded only when it is run. */
const benchmarks: Record<string, { about: string; load: () => Promise<Benchmark> }> = {
  cluster: {
    about: "start time and memory of a cluster with 10, 100 and 1000 nodes, beside kwokctl",
    load: () => import("./cluster.ts"),
  },
  runtime: {
    about: "custom resource to Pod, beside controller-runtime, Kopf, Java Operator SDK and Metacontroller",
    load: () => import("./runtime.ts"),
  },
  sim: {
    about: "executor life cycles, memory and start of the simulated cluster, beside a real control plane with KWOK",
    load: () => import("./sim.ts"),
  },
};

const usage = `Usage: npm run bench -- NAME [--quick] [--json]

  --quick   fewer and smaller measurements, to see whether it works
  --json    one JSON document on standard output instead of a table

Benchmarks:
${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join("\n")}`;

const { values, positionals } = parseArguments();
const [name] = positionals;
const benchmark = name === undefined ? undefined : benchmarks[name];
if (values.help) {
  console.log(usage);
} else if (name === undefined || !benchmark || positionals.length > 1) {
  fail(name !== undefined && !benchmark ? `there is no benchmark "${name}"` : "name one benchmark");
} else {
  const { measure } = await benchmark.load();
  const log = (line: string) => console.error(`… ${line}`);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupted.abort());
  try {
    const rows = (await measure({ quick: values.quick ?? false, log, signal: interrupted.signal })).map(row);
    const report: Report = { name, date: today().toISOString(), machine: machine(), rows };
    console.log(values.json ? JSON.stringify(report, null, 2) : table(report));
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    process.exitCode = 130;
  }
}

function parseArguments() {
  const options = {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(`bench: ${message}\n\n${usage}`);
  process.exit(2);
}
