/** The programs a cluster consists of, and where they come from: a given folder, the user's cache, or a build. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ClusterError } from "../errors.ts";
import { isExecutable } from "../process/command.ts";
import { type BuildProgress, type BuildRecipe, build } from "./build.ts";

export const binaryNames = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
  "kubectl",
  "kubelet",
] as const;

export type BinaryName = (typeof binaryNames)[number];
export type Binaries = Readonly<Record<BinaryName, string>>;

const moduleFolder = fileURLToPath(new URL("../../go", import.meta.url));

/** The Kubernetes version that our Go module pins. */
export const kubernetesVersion = pinnedVersion("k8s.io/kubernetes");

const kubernetesRecipe: BuildRecipe = {
  name: `kubernetes-${kubernetesVersion}`,
  moduleFolder,
  // What Kubernetes' own build sets; without it every component calls itself v0.0.0 and kubectl warns of skew.
  ldflags: [
    "-s",
    "-w",
    `-X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
    `-X k8s.io/component-base/version.gitMajor=${kubernetesVersion.slice(1).split(".")[0]}`,
    `-X k8s.io/component-base/version.gitMinor=${kubernetesVersion.slice(1).split(".")[1]}`,
  ],
  packages: {
    etcd: "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    kwok: "sigs.k8s.io/kwok/cmd/kwok",
    kubectl: "k8s.io/kubernetes/cmd/kubectl",
    kubelet: "k8s.io/kubernetes/cmd/kubelet",
  },
};

export interface FindBinariesOptions {
  /** A folder with all binaries. Default: `KUBEBUILDER_ASSETS`; without that, the cache, filled by building. */
  assets?: string | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Finds the binaries, building those that neither a given folder nor the cache has. */
export async function findBinaries(options: FindBinariesOptions = {}): Promise<Binaries> {
  const assets = options.assets ?? (process.env.KUBEBUILDER_ASSETS || undefined);
  if (assets !== undefined) return binariesIn(resolve(assets));
  return binariesAt(await build(kubernetesRecipe, options));
}

/** Builds kwokctl, which no cluster of ours needs: `bench/cluster.ts` measures it beside us. */
export async function buildKwokctl(options: FindBinariesOptions = {}): Promise<string> {
  const recipe = {
    ...kubernetesRecipe,
    name: `kwokctl-${pinnedVersion("sigs.k8s.io/kwok")}`,
    packages: { kwokctl: "sigs.k8s.io/kwok/cmd/kwokctl" },
  };
  return join(await build(recipe, options), "kwokctl");
}

function binariesIn(folder: string): Binaries {
  const missing = binaryNames.filter((name) => !isExecutable(join(folder, name)));
  if (missing.length > 0) {
    const what = existsSync(folder) ? `has no executable ${missing.join(", ")}` : "does not exist";
    throw new ClusterError("BERTH_CLUSTER_ASSETS_WRONG", `the assets folder ${folder} ${what}`);
  }
  return binariesAt(folder);
}

function binariesAt(folder: string): Binaries {
  return Object.fromEntries(binaryNames.map((name) => [name, join(folder, name)])) as Binaries;
}

function pinnedVersion(module: string): string {
  const goMod = readFileSync(join(moduleFolder, "go.mod"), "utf8");
  const version = goMod.match(new RegExp(`^\\s+${module.replaceAll(".", "\\.")} (v\\S+)$`, "m"))?.[1];
  if (!version) throw new Error(`${moduleFolder}/go.mod does not require ${module}`);
  return version;
}
