/** `berth cluster …`: another command, which knows all about real clusters on this machine. */
import { spawn } from "node:child_process";

export async function cluster(given: readonly string[]): Promise<void> {
  const entry = new URL(import.meta.resolve("@berth/cluster"));
  const program = new URL("./cli/main.ts", entry).pathname;
  const child = spawn(process.execPath, [program, ...given], { stdio: "inherit" });
  process.exitCode = await new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}
