/**
 * `npm test`: everything that must hold before a change lands, cheapest first. Stops at the first step that fails.
 *
 *   npm test                      all of it
 *   npm test -- kwok              the checks, then only test files whose path contains "kwok"
 *   npm run check                 the checks alone
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stopwatch } from "@berth/cluster";
import { WallClock } from "@berth/kube";

const root = fileURLToPath(new URL("..", import.meta.url));
const module = (path: string) => join(root, "node_modules", path);

/** No run of all tests takes so long, on any machine: one of them has got stuck where no time limit of its own reaches it. */
const LONGEST_RUN_MS = 60 * 60_000;

const args = process.argv.slice(2);
const checksOnly = args.includes("--no-tests");
const filters = args.filter((argument) => argument !== "--no-tests");

const biome = [module("@biomejs/biome/bin/biome"), "ci", "--colors=off", "--error-on-warnings", "."];
step("format and lint", process.execPath, biome);
step("types", process.execPath, [module("typescript/bin/tsc"), "--project", root]);
step("architecture", process.execPath, [join(root, "tools/architecture/check.ts")]);
if (checksOnly) process.exit(0);

prepareRealNodes();
await runTests();

/** Runs a command and ends everything if it fails. Its output is shown only then. */
function step(name: string, command: string, args: string[]): void {
  const elapsed = stopwatch();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    console.error(`${stdout}${stderr}\n✗ ${name}`);
    process.exit(1);
  }
  console.log(`✓ ${name} (${(elapsed() / 1000).toFixed(1)} s)`);
}

/** Real nodes need programs that npm does not have. As root on Debian they are installed; elsewhere tests say what is missing. */
function prepareRealNodes(): void {
  const isDebian = spawnSync("apt-get", ["--version"]).status === 0;
  if (process.getuid?.() !== 0 || !isDebian) return;
  const { status } = spawnSync("sh", [join(root, "tools/install-debian-packages.sh")], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

async function runTests(): Promise<void> {
  const report = join(root, ".tmp", "tests.json");
  mkdirSync(join(root, ".tmp"), { recursive: true });
  rmSync(report, { force: true });
  const vitest = [module("vitest/vitest.mjs"), "run", "--reporter=default", "--reporter=json"];
  const status = await run([...vitest, `--outputFile.json=${report}`, ...filters]);
  if (!existsSync(report)) process.exit(status || 1); // it did not get as far as the first test, and has said why
  const counts = JSON.parse(readFileSync(report, "utf8")) as Record<string, number>;
  const skipped = (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0);
  const skipsInCi = process.env.CI === "true" && skipped > 0;
  if (skipsInCi) console.error("✗ tests were skipped, which CI does not accept; each says why above");
  console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${skipped} skipped`);
  process.exit(status === 0 && skipsInCi ? 1 : status);
}

/** In a process group of its own, so that all of it can be ended: a worker that counts for ever does not listen. */
function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", detached: true });
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {} // it is over already
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end(signal));
  const limit = new WallClock().setTimer(LONGEST_RUN_MS, () => {
    console.error("✗ the tests did not come to an end; the files without a line above are those that had not finished");
    end("SIGKILL");
  });
  return new Promise((resolve) => {
    child.once("exit", (code) => {
      limit.cancel();
      resolve(code ?? 1);
    });
  });
}
