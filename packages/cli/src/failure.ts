/** How a failure is told, and with which number a command ends: 1 for an error, 2 for a wrong call. */
import { BerthError } from "@berth/sdk";
import { CommanderError } from "commander";
import { CliError } from "./errors.ts";

/** Writes to standard error; gives the exit code. */
export function report(error: unknown, called: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // it has said so itself
  if (error instanceof BerthError) {
    const { detail, code, remedy, errors = [] } = error.problem;
    console.error(`${called}: ${detail} (${code})`);
    for (const { field, message } of errors.slice(0, 10)) console.error(`  ${field}: ${message}`);
    if (remedy !== undefined) console.error(remedy);
    return 1;
  }
  if (error instanceof CliError) {
    console.error(`${called}: ${error.message} (${error.code})\n${error.remedy}`);
    return error.code === "BERTH_CLI_USAGE" ? 2 : 1;
  }
  const { code, remedy } = error as { code?: string; remedy?: string };
  if (remedy !== undefined) {
    console.error(`${called}: ${(error as Error).message}${code === undefined ? "" : ` (${code})`}\n${remedy}`);
    return 1;
  }
  if (error instanceof TypeError && error.cause instanceof Error) {
    const unreachable = new CliError("BERTH_CLI_NO_GATEWAY", `the gateway cannot be reached: ${error.cause.message}`);
    return report(unreachable, called);
  }
  console.error(`${called}: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
}
