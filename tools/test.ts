/**
 * `npm test`: everything that must hold before a change lands, cheapest first. Stops at the first step that fails.
 *
 *   npm test                      all of it
 *   npm test -- kwok              the checks, then only test files whose path contains "kwok"
 *   npm run check                 the checks alone
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stopwatch } from "@berth/cluster";

const root = fileURLToPath(new URL("..", import.meta.url));
const module = (path: string) => join(root, "node_modules", path);

const args = process.argv.slice(2);
const checksOnly = args.includes("--no-tests");
const filters = args.filter((argument) => argument !== "--no-tests");

const biome = [module("@biomejs/biome/bin/biome"), "ci", "--colors=off", "--error-on-warnings", "."];
step("format and lint", process.execPath, biome);
step("types", process.execPath, [module("typescript/bin/tsc"), "--project", root]);
step("architecture", process.execPath, [join(root, "tools/architecture/check.ts")]);
if (checksOnly) process.exit(0);

prepareRealNodes();
runTests();

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

function runTests(): void {
  const report = join(root, ".tmp", "tests.json");
  mkdirSync(join(root, ".tmp"), { recursive: true });
  rmSync(report, { force: true });
  const vitest = [module("vitest/vitest.mjs"), "run", "--reporter=default", "--reporter=json"];
  const { status } = spawnSync(process.execPath, [...vitest, `--outputFile.json=${report}`, ...filters], {
    cwd: root,
    stdio: "inherit",
  });
  if (!existsSync(report)) process.exit(status || 1); // it did not get as far as the first test, and has said why
  const counts = JSON.parse(readFileSync(report, "utf8")) as Record<string, number>;
  const skipped = (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0);
  const skipsInCi = process.env.CI === "true" && skipped > 0;
  if (skipsInCi) console.error("✗ tests were skipped, which CI does not accept; each says why above");
  console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${skipped} skipped`);
  process.exit(status === 0 && skipsInCi ? 1 : (status ?? 1));
}
