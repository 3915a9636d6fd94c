/** `npm run bench -- NAME [--quick] [--sizes N,M] [--json]`: measures us beside others and prints both. */
import { parseArgs } from "node:util";
import { today } from "@berth/cluster";
import { type Measurement, type MeasureOptions, machine, type Report, row, table } from "./report.ts";

interface Benchmark {
  measure(options: MeasureOptions): Promise<Measurement[]>;
}

/** Name → what it compares, and the module that measures it. A benchmark is loaded only when it is run. */
const benchmarks: Record<string, { about: string; load: () => Promise<Benchmark> }> = {
  chaos: {
    about:
      "200 jobs on 160 slots while nodes are lost and processes killed: what goes wrong, on sim and on a real cluster",
    load: () => import("./chaos.ts"),
  },
  cluster: {
    about: "start time and memory of a cluster with 10, 100 and 1000 nodes, beside kwokctl",
    load: () => import("./cluster.ts"),
  },
  placement: {
    about: "80 and 1000 executors from their gate to their slots, by Gate and by Extender, beside ordinary pods",
    load: () => import("./placement.ts"),
  },
  runtime: {
    about: "custom resource to Pod, beside controller-runtime, Kopf, Java Operator SDK and Metacontroller",
    load: () => import("./runtime.ts"),
  },
  scale: {
    about: "the operator's processor time, memory and writes for 100, 300 and 1000 nodes and jobs, and how they grow",
    load: () => import("./scale.ts"),
  },
  sim: {
    about: "executor life cycles, memory and start of the simulated cluster, beside a real control plane with KWOK",
    load: () => import("./sim.ts"),
  },
  turn: {
    about: "the interface: a turn, a claim on a real API server, jobs in a second, and 1000 subscribers",
    load: () => import("./turn.ts"),
  },
};

const usage = `Usage: npm run bench -- NAME [--quick] [--sizes N,M] [--json]

  --quick       fewer and smaller measurements, to see whether it works
  --sizes N,M   other sizes than its own: executors of placement, nodes and jobs of scale
  --json        one JSON document on standard output instead of a table

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
    const { quick = false } = values;
    const rows = (await measure({ quick, sizes: sizesIn(values.sizes), log, signal: interrupted.signal })).map(row);
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
    sizes: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function sizesIn(text: string | undefined): number[] | undefined {
  if (text !== undefined && !/^[1-9]\d{0,5}(,[1-9]\d{0,5})*$/.test(text)) {
    return fail(`--sizes wants whole numbers, as in 100,300; not "${text}"`);
  }
  return text?.split(",").map(Number);
}

function fail(message: string): never {
  console.error(`bench: ${message}\n\n${usage}`);
  process.exit(2);
}
