/** `berth submit`, `explain`, `release`, `retry`, `delete`: what can be done with jobs. */
import { readFileSync } from "node:fs";
import type { BerthClient } from "@berth/sdk";
import { parseAllDocuments } from "yaml";
import { CliError } from "../errors.ts";
import type { TargetFlags } from "../flags.ts";
import { asking } from "../target.ts";

export interface WriteFlags extends TargetFlags {
  readonly dryRun?: boolean;
}

const tried = (dryRun: boolean | undefined) => (dryRun ? " (dry run)" : "");

/** @param files - "-" is standard input. */
export async function submit(files: readonly string[], flags: WriteFlags): Promise<void> {
  const manifests = files.flatMap(manifestsIn);
  if (manifests.length === 0) throw new CliError("BERTH_CLI_FILE", `there is nothing in ${files.join(", ")}`);
  await asking(flags, async ({ client }) => {
    for (const manifest of manifests) {
      const options = { ...(flags.dryRun && { dryRun: true }) };
      const isDecision = (manifest as { kind?: unknown }).kind === "Scheduling";
      const { name } = isDecision ? await client.schedule(manifest, options) : await client.submit(manifest, options);
      console.log(`${isDecision ? "scheduling" : "job"}/${name} submitted${tried(flags.dryRun)}`);
    }
  });
}

function manifestsIn(file: string): object[] {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CliError("BERTH_CLI_FILE", `${file} cannot be read: ${(error as Error).message}`);
  }
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new CliError("BERTH_CLI_FILE", `${file} is no YAML: ${error.message}`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null || value === undefined) return [];
    if (typeof value !== "object") throw new CliError("BERTH_CLI_FILE", `${file} is no manifest`);
    return [value];
  });
}

export async function explain(name: string, flags: TargetFlags): Promise<void> {
  await asking(flags, async ({ client }) => {
    const { phase, summary, reasons } = await client.explain(name);
    console.log(`job/${name}: ${phase}\n  ${summary}`);
    for (const reason of reasons) console.log(`  - ${reason}`);
    const { history } = await client.job(name);
    for (const { number, outcome, runtime, slots, message } of history.slice(0, 3)) {
      const took = runtime === undefined ? "" : ` after ${runtime} s`;
      const where = slots ? ` in slot ${slots.join(", ")}` : "";
      console.log(`  run ${number}: ${outcome}${took}${where}${outcome === "Failed" && message ? `: ${message}` : ""}`);
    }
  });
}

/** Does the same with each of some jobs. */
export async function withJobs(
  names: readonly string[],
  flags: WriteFlags,
  done: string,
  act: (client: BerthClient, name: string) => Promise<unknown>,
): Promise<void> {
  await asking(flags, async ({ client }) => {
    for (const name of names) {
      await act(client, name);
      console.log(`job/${name} ${done}${tried(flags.dryRun)}`);
    }
  });
}
