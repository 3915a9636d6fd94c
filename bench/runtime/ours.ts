/**
 * Our own side, as it would be in a container: bundled into one file of JavaScript, and told that this is production.
 * Run as it is in development, the time and memory for reading TypeScript would be measured as well.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import type { FilledInformer, FillOptions } from "./client-go-informer.ts";
import { type BuildOptions, benchCache } from "./peer-build.ts";

type Program = "operator" | "informer" | "stream";

export const production = { NODE_ENV: "production" };

/** What the README recommends for operators: otherwise V8 keeps a third more memory after a burst, for nothing. */
export const oursFlags = ["--max-semi-space-size=4"];

export const oursFile = (program: Program) => join(benchCache(), "ours", `${program}.js`);

/** Takes less than a second, so it is done every time. */
export async function buildOurs({ signal }: BuildOptions): Promise<void> {
  for (const program of ["operator", "informer", "stream"] as const) {
    signal.throwIfAborted();
    const input = join(import.meta.dirname, "ours", `${program}.ts`);
    await using bundle = await rolldown({ input, platform: "node", logLevel: "warn" });
    await bundle.write({ file: oursFile(program), format: "esm" });
  }
}

/** Fills our informer once, or only reads what it would read, in a process of its own. */
export async function fillOurs(
  program: "informer" | "stream",
  { kubeconfig, signal }: FillOptions,
): Promise<FilledInformer> {
  const env = { ...process.env, ...production, KUBECONFIG: kubeconfig };
  const { stdout } = await promisify(execFile)(process.execPath, [oursFile(program)], { env, signal });
  return JSON.parse(stdout) as FilledInformer;
}
