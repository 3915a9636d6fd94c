/** Whether a peer does its work, found out by trying: some of them cannot tell when their caches are synced. */
import { execFile } from "node:child_process";
import { findBinaries } from "@berth/cluster";
import { type Workplace, widget } from "./widget.ts";

/** The name of the Widget that is tried, which is gone afterwards. */
const TRIAL = "trial";
const TRIAL_WITHIN = "60s";

/** Returns once a Widget of this workplace has got its Pod. */
export async function untilReconciling(place: Workplace, kubeconfig: string, signal: AbortSignal): Promise<void> {
  const run = (...args: string[]) => kubectl(kubeconfig, ["--namespace", place.namespace, ...args], { signal });
  await apply(kubeconfig, [widget(place, TRIAL)], signal);
  await run("wait", "--for=create", `--timeout=${TRIAL_WITHIN}`, `pod/${TRIAL}`);
  await run("delete", `widgets.${place.group}`, TRIAL);
  await run("delete", "pod", TRIAL, "--ignore-not-found"); // the garbage collector would take a while to hear of a new kind of owner
}

export async function apply(kubeconfig: string, objects: readonly object[], signal: AbortSignal): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await kubectl(kubeconfig, ["apply", "--server-side", "-f", "-"], { input, signal });
}

/** Runs the kubectl of the cluster's own version. */
export async function kubectl(
  kubeconfig: string,
  args: readonly string[],
  { input = "", signal }: { input?: string; signal: AbortSignal },
): Promise<void> {
  const binaries = await findBinaries({ signal });
  await new Promise<void>((resolve, reject) => {
    const child = execFile(binaries.kubectl, ["--kubeconfig", kubeconfig, ...args], { signal }, (error) =>
      error ? reject(signal.aborted ? signal.reason : error) : resolve(),
    );
    child.stdin?.end(input);
  });
}
