/** `berth version`. */
import { readFileSync } from "node:fs";

export function version(): void {
  const own = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  console.log(`berth ${own.version}\nnode ${process.version}\nresources berth.dev/v1alpha1`);
}
