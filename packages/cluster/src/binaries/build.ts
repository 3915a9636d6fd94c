/**
 * Builds Go programs from the module proxy into the user's cache.
 *
 * Guarantees: a program in the output folder is complete (it is renamed into place); two processes that build the same
 * thing at once do the work once; a build that was cut off goes on where it stopped.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { every, stopwatch } from "../clock.ts";
import { ClusterError } from "../errors.ts";
import { cacheFolder } from "../places.ts";
import { withLock } from "../process/lock.ts";

export interface BuildRecipe {
  /** Becomes part of the output folder's name. */
  readonly name: string;
  /** A folder with go.mod and go.sum that pin everything. */
  readonly moduleFolder: string;
  readonly ldflags: readonly string[];
  /** Program → Go package, in the order of building. */
  readonly packages: Readonly<Record<string, string>>;
}

export interface BuildProgress {
  readonly state: "waiting" | "building" | "built";
  readonly program: string;
  /** Which of how many programs this is, from 1. */
  readonly index: number;
  readonly of: number;
  /** How long the whole build has taken so far. */
  readonly elapsedMs: number;
}

export interface BuildOptions {
  /** Told when a program is begun, every second while it is built, and when it is done. */
  onProgress?: ((progress: BuildProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Where a recipe's programs go: a changed pin or flag is another folder, so old and new versions live side by side. */
export function outputFolder(recipe: BuildRecipe): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(recipe.moduleFolder, file)));
  hash.update(JSON.stringify([recipe.ldflags, process.platform, process.arch]));
  return join(cacheFolder(), "bin", `${recipe.name}-${hash.digest("hex").slice(0, 8)}`);
}

/** Builds what is missing and returns the folder that holds all programs of the recipe. */
export async function build(recipe: BuildRecipe, { onProgress, signal }: BuildOptions = {}): Promise<string> {
  const folder = outputFolder(recipe);
  const programs = Object.keys(recipe.packages);
  const missing = () => programs.filter((program) => !existsSync(join(folder, program)));
  if (missing().length === 0) return folder;

  const elapsed = stopwatch();
  const tell = (state: BuildProgress["state"], program: string) =>
    onProgress?.({
      state,
      program,
      index: programs.indexOf(program) + 1,
      of: programs.length,
      elapsedMs: elapsed(),
    });

  await requireGo();
  mkdirSync(folder, { recursive: true });
  await withLock(
    join(folder, ".lock"),
    async () => {
      for (const program of missing()) {
        tell("building", program);
        const stopTicking = every(1000, () => tell("building", program));
        try {
          await goBuild(recipe, program, folder, signal);
        } finally {
          stopTicking();
        }
        tell("built", program);
      }
    },
    { onWait: () => tell("waiting", missing()[0] ?? ""), signal },
  );
  return folder;
}

async function requireGo(): Promise<void> {
  await promisify(execFile)("go", ["version"]).catch((cause: unknown) => {
    throw new ClusterError(
      "BERTH_CLUSTER_GO_MISSING",
      "the control plane's binaries are neither given nor cached, and there is no Go to build them: " +
        "install Go (golang.org, or your distribution's package), " +
        "or set KUBEBUILDER_ASSETS to a folder that has them",
      { cause },
    );
  });
}

async function goBuild(recipe: BuildRecipe, program: string, folder: string, signal?: AbortSignal): Promise<void> {
  // Named after this process: the compiler of one that was killed may still be writing.
  const unfinished = join(folder, `.${program}.${process.pid}`);
  const goPackage = recipe.packages[program] as string;
  // -mod=readonly: what go.sum does not name is not built. GOWORK=off: nor what a workspace around us would swap in.
  const args = ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", recipe.ldflags.join(" ")];
  const child = spawn("go", [...args, "-o", unfinished, goPackage], {
    cwd: recipe.moduleFolder,
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    stdio: ["ignore", "ignore", "pipe"],
    // What a person at the keyboard would send: Go then ends its compilers and removes its scratch folder.
    ...(signal && { signal, killSignal: "SIGINT" as const }),
  });
  let message = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    message = (message + text).slice(-4000);
  });
  child.on("error", () => {}); // an abort is reported as an error too; either way "close" follows
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  try {
    signal?.throwIfAborted();
    if (code !== 0) {
      throw new ClusterError("BERTH_CLUSTER_BUILD_FAILED", `go build ${goPackage} failed:\n${message.trim()}`);
    }
    renameSync(unfinished, join(folder, program));
  } finally {
    rmSync(unfinished, { force: true });
  }
}
