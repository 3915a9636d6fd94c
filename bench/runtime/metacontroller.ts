/**
 * Metacontroller, which is two processes and some objects: its own custom resource definitions, a CompositeController
 * that says what is reconciled, Metacontroller itself, and the hook that it asks for a Widget's Pod.
 */
import { join } from "node:path";
import { goBuild, type Recipe } from "./peer-build.ts";
import { type PeerProcess, type StartOptions, startProcess } from "./peer-process.ts";
import { apply, kubectl } from "./peer-readiness.ts";
import type { Workplace } from "./widget.ts";

const DEFINITIONS = "manifests/production/metacontroller-crds-v1.yaml";

export const metacontrollerRecipe: Recipe = {
  name: "metacontroller",
  needs: "Go",
  commands: [
    goBuild("metacontroller", "metacontroller"),
    // They come with its sources, in the version that fits.
    ["sh", "-c", `cp "$(go list -m -f '{{.Dir}}' metacontroller)/${DEFINITIONS}" definitions.yaml`],
  ],
};

export async function startMetacontroller(
  place: Workplace,
  folder: string,
  options: StartOptions,
): Promise<PeerProcess[]> {
  const { kubeconfig, signal } = options;
  const hook = startProcess("metacontroller-hook", [process.execPath, join(folder, "hook.mjs")], options);
  try {
    const port = (await hook.firstLine()).replace("listening ", "");
    await kubectl(kubeconfig, ["apply", "--server-side", "-f", join(folder, "definitions.yaml")], { signal });
    await kubectl(kubeconfig, ["wait", "--for=condition=Established", "crd", "--all"], { signal });
    await apply(kubeconfig, [compositeController(place, `http://127.0.0.1:${port}/`)], signal);
    return [startProcess("metacontroller", [join(folder, "metacontroller"), ...flags], options), hook];
  } catch (error) {
    await hook.stop();
    throw error;
  }
}

/** By default 5 workers share 5 requests a second. The metrics would want a port that others may have. */
const flags = ["--workers=64", "--client-go-qps=10000", "--client-go-burst=10000", "--debug-addr=0"];

/** Watches all namespaces, since Metacontroller cannot watch only one. */
function compositeController({ group, name }: Workplace, url: string): object {
  return {
    apiVersion: "metacontroller.k8s.io/v1alpha1",
    kind: "CompositeController",
    metadata: { name: `bench-${name}` },
    spec: {
      generateSelector: true,
      parentResource: { apiVersion: `${group}/v1`, resource: "widgets" },
      childResources: [{ apiVersion: "v1", resource: "pods" }],
      hooks: { sync: { webhook: { url } } },
    },
  };
}
