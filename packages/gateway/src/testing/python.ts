/** Programs in Python that tests use, each in an environment of its own in the user's cache. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "@berth/cluster";

/** How a program has ended, and what it has said. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** The Python that has a package; it is installed before, if the cache does not have it. @param requirement - "name==1.2.3". */
export async function pythonWith(requirement: string): Promise<string> {
  const folder = join(cacheFolder(), `python-${requirement.replace("==", "-")}`);
  if (!existsSync(folder)) await installInto(folder, requirement);
  return join(folder, "bin", "python");
}

/** Two processes at once do the work twice; the first to finish wins. */
async function installInto(folder: string, requirement: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(cacheFolder(), { recursive: true });
  try {
    await succeeded(run("python3", ["-m", "venv", unfinished]));
    await succeeded(run(join(unfinished, "bin", "python"), ["-m", "pip", "install", "-q", requirement]));
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function succeeded(running: Promise<Ended>): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new Error(`a package of Python could not be installed: ${output}`);
}

/** Runs a program until it ends. @param cwd - Where it may leave files. Default: here. */
export function run(program: string, args: readonly string[], cwd?: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", NO_COLOR: "1" };
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], ...(cwd !== undefined && { cwd }) });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
