/**
 * Our runtime and those that it is measured beside, each with the same small operator in `ours/` and `peers/`: how they
 * are built and how they are run. `peers/README.md` says how each of them is tuned.
 */
import { join } from "node:path";
import { metacontrollerRecipe, startMetacontroller } from "./metacontroller.ts";
import { buildOurs, oursFile, oursFlags, production } from "./ours.ts";
import { type BuildOptions, build, builtFolder, type Command, goBuild, type Recipe } from "./peer-build.ts";
import { type PeerProcess, type StartOptions, startProcess } from "./peer-process.ts";
import { untilReconciling } from "./peer-readiness.ts";
import { type Workplace, workplace } from "./widget.ts";

export interface Peer extends Workplace {
  /** Builds it unless the cache has it. */
  build(options: BuildOptions): Promise<void>;
  /** Starts it in a cluster that has its workplace, and returns once it has answered a first Widget with a Pod. */
  start(options: StartOptions): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** All processes whose time and memory count. */
  readonly pids: readonly number[];
  /** Aborted when one of them ends before it is told to. */
  readonly died: AbortSignal;
  stop(): Promise<void>;
}

const controllerRuntime: Recipe = { name: "controller-runtime", needs: "Go", commands: [goBuild("operator", ".")] };

const kopf: Recipe = {
  name: "kopf",
  needs: "Python 3.11 or newer with venv",
  commands: [
    ["python3", "-m", "venv", "environment"],
    // Everything is pinned, so nothing is to be resolved; and nothing compiled, which would need a compiler.
    ["environment/bin/python", "-m", "pip", "install", "--no-deps", "--only-binary=:all:", "-r", "requirements.txt"],
  ],
};

const josdk: Recipe = {
  name: "josdk",
  needs: "Java 17 or newer and Maven",
  commands: [["mvn", "-B", "-ntp", "package"]],
};

export const ours: Peer = operator(workplace("ours"), buildOurs, (place, options) => {
  const env = { ...options.env, ...production };
  const command: Command = [process.execPath, ...oursFlags, oursFile("operator")];
  return tellingReady(startProcess(place.name, command, { ...options, env }));
});

export const peers: readonly Peer[] = [
  peer(controllerRuntime, (place, folder, options) =>
    tellingReady(startProcess(place.name, [join(folder, "operator")], options)),
  ),
  peer(kopf, async (place, folder, options) => [startProcess(place.name, kopfCommand(place, folder), options)]),
  peer(josdk, (place, folder, options) => tellingReady(startProcess(place.name, javaCommand(folder), options))),
  peer(metacontrollerRecipe, startMetacontroller),
];

/** Quiet: a line of log per Widget would be measured as well. Standalone: it does not look for other operators. */
function kopfCommand({ namespace }: Workplace, folder: string): Command {
  const python = join(folder, "environment", "bin", "python");
  const flags = ["--quiet", "--standalone", "--namespace", namespace];
  return [python, "-m", "kopf", "run", ...flags, join(folder, "widget_operator.py")];
}

/** The collector for throughput, a heap that a container would get, a log of what goes wrong, and our kind of keys. */
function javaCommand(folder: string): Command {
  const target = join(folder, "target");
  const flags = [
    "-XX:+UseParallelGC",
    "-Xmx512m",
    "-Dkubernetes.certs.client.key.algo=EC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
  ];
  const classes = `${join(target, "widget-operator.jar")}:${join(target, "libraries")}/*`;
  return ["java", ...flags, "-cp", classes, "dev.berth.bench.Main"];
}

function peer(
  recipe: Recipe,
  start: (place: Workplace, folder: string, options: StartOptions) => Promise<PeerProcess[]>,
): Peer {
  return operator(
    workplace(recipe.name),
    (options) => build(recipe, options),
    (place, options) => start(place, builtFolder(recipe), options),
  );
}

function operator(
  place: Workplace,
  build: (options: BuildOptions) => Promise<void>,
  startProcesses: (place: Workplace, options: StartOptions) => Promise<PeerProcess[]>,
): Peer {
  return {
    ...place,
    build,
    start: async (options) => {
      const processes = await startProcesses(place, options);
      const died = AbortSignal.any(processes.map((process) => process.died));
      const stop = async () => {
        await Promise.all(processes.map((process) => process.stop()));
      };
      try {
        await untilReconciling(place, options.kubeconfig, AbortSignal.any([options.signal, died]));
      } catch (error) {
        await stop();
        throw error;
      }
      return { pids: processes.map(({ pid }) => pid), died, stop };
    },
  };
}

/** An operator that prints "ready" when its caches are synced. Whether it then does its work is tried all the same. */
async function tellingReady(operator: PeerProcess): Promise<PeerProcess[]> {
  try {
    await operator.firstLine();
    return [operator];
  } catch (error) {
    await operator.stop();
    throw error;
  }
}
