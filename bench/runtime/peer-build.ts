/**
 * Builds the peers from what they pin, once: sources are copied into the user's cache and built there, so that nothing
 * is ever written into the repository.
 *
 * Guarantees: a folder in the cache is complete (it is renamed into place), and other sources or another build command
 * are another folder.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, stopwatch } from "@berth/cluster";

export interface Recipe {
  /** The folder in `peers/` that has the sources. */
  readonly name: string;
  /** What has to be installed, for people: "Go". */
  readonly needs: string;
  /** Run one after the other in a copy of the sources. */
  readonly commands: readonly Command[];
}

export type Command = readonly [program: string, ...args: string[]];

export interface BuildOptions {
  /** Tells people how it gets on. */
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** As the control plane's binaries are built: -mod=readonly, or what go.sum does not name would be built too. */
export function goBuild(program: string, goPackage: string): Command {
  const flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"];
  return ["go", "build", ...flags, "-o", program, goPackage];
}

/** Where a recipe's results are, or will be. */
export function builtFolder(recipe: Recipe): string {
  const hash = createHash("sha256").update(JSON.stringify([recipe.commands, process.platform, process.arch]));
  const folder = sourceFolder(recipe);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of entries.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(`${file.slice(folder.length)}\0`).update(readFileSync(file));
  }
  return join(benchCache(), `${recipe.name}-${hash.digest("hex").slice(0, 8)}`);
}

/** Builds unless the cache has it. Two processes at once do the work twice; the first to finish wins. */
export async function build(recipe: Recipe, { log, signal }: BuildOptions): Promise<void> {
  const folder = builtFolder(recipe);
  if (existsSync(folder)) return;
  const elapsed = stopwatch();
  log(`building ${recipe.name}`);
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(benchCache(), { recursive: true });
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(sourceFolder(recipe), unfinished, { recursive: true });
  try {
    for (const command of recipe.commands) await run(recipe, command, unfinished, signal);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  log(`${recipe.name} built in ${(elapsed() / 1000).toFixed(0)} s`);
}

async function run(recipe: Recipe, command: Command, cwd: string, signal: AbortSignal): Promise<void> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd,
    // GOWORK: nothing that a workspace around us would swap in. MAVEN_OPTS and the like stay: they lead to mirrors.
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGINT",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-4000);
    });
  }
  child.on("error", (error) => {
    output += String(error); // also an abort; either way "close" follows
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  signal.throwIfAborted();
  if (code !== 0) {
    const what = `building ${recipe.name}, which needs ${recipe.needs}, failed: ${command.join(" ")}`;
    throw new Error(`${what}\n${output.trim()}`);
  }
}

function sourceFolder({ name }: Recipe): string {
  return fileURLToPath(new URL(`peers/${name}`, import.meta.url));
}

/** Beside the binaries of the control plane. */
export function benchCache(): string {
  return join(cacheFolder(), "bench");
}
