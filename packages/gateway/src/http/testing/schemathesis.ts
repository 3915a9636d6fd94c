/** Schemathesis, which fuzzes a server with the server's own description. */
import { type Ended, pythonWith, run } from "../../testing/python.ts";

/** Runs it. @param folder - Where it may leave files. */
export async function schemathesis(args: readonly string[], folder: string): Promise<Ended> {
  // Not by its own script, which knows only the folder that it was installed into.
  const start = "from schemathesis.cli import schemathesis; schemathesis()";
  return run(await pythonWith("schemathesis==4.32.5"), ["-c", start, ...args], folder);
}
