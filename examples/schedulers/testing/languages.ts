/** The schedulers of this folder, one for each language, as processes that a test starts and ends. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const folder = join(import.meta.dirname, "..");
const root = join(folder, "../..");

/** A program of its own, since `go run` would not pass a signal on. Git ignores where it is. */
const goProgram = join(root, ".tmp/schedulers", `fifo-${process.pid}`);

export interface Language {
  readonly title: string;
  readonly command: readonly [program: string, ...args: string[]];
}

export const languages: readonly Language[] = [
  { title: "Python", command: ["python3", "fifo.py"] },
  { title: "plain Python", command: ["python3", "fifo-plain.py"] },
  { title: "Bash", command: ["bash", "fifo.sh"] },
  { title: "Go", command: [goProgram] },
  { title: "Java", command: ["java", "Fifo.java"] },
  { title: "TypeScript", command: [process.execPath, "fifo.ts"] },
];

/** What has to be on a machine, how to see that it is, and where to get it. */
const needed = [
  { program: "python3", argument: "--version", from: "apt-get install python3" },
  { program: "curl", argument: "--version", from: "apt-get install curl" },
  { program: "jq", argument: "--version", from: "apt-get install jq" },
  { program: "javac", argument: "--version", from: "apt-get install default-jdk-headless" },
  { program: "go", argument: "version", from: "golang.org, 1.22 or later" },
];

/** Rejects if this machine lacks a language: no test is skipped for that. Builds what has to be built. */
export async function prepareLanguages(): Promise<void> {
  for (const { program, argument, from } of needed) {
    await promisify(execFile)(program, [argument]).catch((cause: unknown) => {
      throw new Error(`${program} does not run here; get it: ${from}`, { cause });
    });
  }
  mkdirSync(join(goProgram, ".."), { recursive: true });
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
  await promisify(execFile)("go", ["build", "-o", goProgram, "fifo.go"], { cwd: folder, env });
}

/** Removes what was built. */
export function cleanUpLanguages(): void {
  rmSync(goProgram, { force: true });
}

/** Python finds the client, and leaves nothing behind. */
export const pythonEnv = { ...process.env, PYTHONPATH: join(root, "clients/python"), PYTHONDONTWRITEBYTECODE: "1" };

/** A scheduler that runs. */
export class SchedulerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exit: Promise<string>;
  #isEnding = false;

  constructor({ command: [program, ...args] }: Language, url: string) {
    const env = { ...pythonEnv, BERTH_URL: url };
    this.#child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2000);
    });
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(error.message));
      this.#child.once("exit", (code, signal) => resolve(`${program} ended with ${signal ?? code}: ${said}`));
    });
  }

  /** Rejects if it ends before it is told to: for a race with what it is there for. */
  async died(): Promise<never> {
    const how = await this.#exit;
    if (this.#isEnding) return new Promise(() => {});
    throw new Error(how);
  }

  /** Sends a signal, and resolves when it has ended. */
  async end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<void> {
    this.#isEnding = true;
    this.#child.kill(signal);
    await this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
  }
}
