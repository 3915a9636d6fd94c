/** Puts everything into a cluster that the operator needs there. */
import { type Client, type Clock, sleep } from "@berth/kube";
import { resources } from "@berth/model";
import { type InstallationOptions, installation } from "./installation.ts";
import { isServed } from "./served.ts";

/** May be done again at any time, also with another version. Returns when Berth's resources are served. */
export async function install(client: Client, clock: Clock, options: InstallationOptions = {}): Promise<void> {
  for (const { kind, object } of installation(options)) await client.apply(kind, object, { force: true });
  // The API server takes a moment to serve a new kind.
  for (const resource of resources) {
    while (!(await isServed(client, resource))) await sleep(clock, 50);
  }
}
