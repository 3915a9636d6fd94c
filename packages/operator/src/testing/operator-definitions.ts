/**
 * The custom resource definitions of the real operators, out of the packages that their projects publish. They are fetched
 * once, into the user's cache; none of them is in this repository.
 *
 * Guarantees: a file in the cache is complete (it is renamed into place) and has the checksum that is written here. Two
 * processes that fetch at once do the work twice.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "@berth/cluster";
import type { apiextensionsV1 } from "@berth/kube";
import { parse } from "yaml";

export interface PublishedDefinition {
  /** Which operator, and which version of it. */
  readonly title: string;
  /** The program that fetches it. */
  readonly needs: string;
  /** SHA-256 of the file. */
  readonly checksum: string;
  /** @param scratch - An empty folder, which goes afterwards. @returns The file's text. */
  readonly fetch: (scratch: string) => Promise<string>;
}

export const sparkOperator: PublishedDefinition = {
  title: "spark-operator v2.5.2",
  needs: "go",
  checksum: "ecd9c14fcadb9d5f8ced4c4ee31920548ea53a892e0a69c3e43aa758bfca6d94",
  fetch: async (scratch) => {
    const { stdout } = await run(
      "go",
      ["mod", "download", "-json", "github.com/kubeflow/spark-operator/v2@v2.5.2"],
      scratch,
    );
    const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
    return readFileSync(join(folder, "config/crd/bases/sparkoperator.k8s.io_sparkapplications.yaml"), "utf8");
  },
};

/**
 * Not the version whose behaviour Berth is written for, which is not to be had from everywhere; but the stricter one: it knows
 * every field of a pod template, and refuses all others.
 */
export const flinkOperator: PublishedDefinition = {
  title: "flink-kubernetes-operator 1.7.0",
  needs: "mvn",
  checksum: "9fe71c41c7bb7723bf294d0bec45848df2103a89bdac690fe0241c42f061711f",
  fetch: async (scratch) => {
    const file = "META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml";
    const settings = {
      artifact: "org.apache.flink:flink-kubernetes-operator-api:1.7.0:jar",
      "mdep.unpack.includes": file,
      outputDirectory: scratch,
    };
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack";
    const options = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`);
    await run("mvn", ["-B", "-ntp", "-q", goal, ...options], scratch);
    return readFileSync(join(scratch, file), "utf8");
  },
};

/** Why a definition cannot be had on this machine; `undefined` if it can. */
export function whyNoDefinition(definition: PublishedDefinition): string | undefined {
  if (existsSync(fileOf(definition)) || isInstalled(definition.needs)) return undefined;
  return `${definition.needs} is not installed, which would fetch the definition of ${definition.title}`;
}

/** Fetches a definition unless the cache has it. */
export async function publishedDefinition(
  definition: PublishedDefinition,
): Promise<apiextensionsV1.CustomResourceDefinition> {
  const file = fileOf(definition);
  if (!existsSync(file)) await fetchInto(file, definition);
  return parse(readFileSync(file, "utf8")) as apiextensionsV1.CustomResourceDefinition;
}

async function fetchInto(file: string, { title, checksum, fetch }: PublishedDefinition): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "berth-definition-"));
  try {
    const text = await fetch(scratch);
    const found = createHash("sha256").update(text).digest("hex");
    if (found !== checksum) {
      throw new Error(`the definition of ${title} has the checksum ${found}, but ${checksum} was expected`);
    }
    mkdirSync(definitionsFolder(), { recursive: true });
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, text);
    renameSync(unfinished, file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): Promise<{ stdout: string }> {
  // Nothing of a module or workspace around us; mirrors and proxies that the environment names stay.
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "" };
  return promisify(execFile)(program, [...args], { cwd, env, maxBuffer: 2 ** 24 });
}

function fileOf({ title, checksum }: PublishedDefinition): string {
  return join(definitionsFolder(), `${title.replaceAll(" ", "-")}-${checksum.slice(0, 8)}.yaml`);
}

function definitionsFolder(): string {
  return join(cacheFolder(), "definitions");
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
