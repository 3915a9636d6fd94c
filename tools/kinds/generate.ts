/**
 * `node_modules/node/bin/node tools/kinds/generate.ts`: writes the types of Kubernetes' own kinds, into
 * packages/kube/src/kinds, and what packages/sim has to know of them, from what a real API server says of them. To be run
 * again when Kubernetes' version changes.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Api, startCluster } from "@berth/cluster";
import { goStructs } from "./go-structs.ts";
import type { Discovery, GroupVersion, OpenApi } from "./openapi.ts";
import { simulatedFiles } from "./simulated.ts";
import { typescriptOf } from "./typescript.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const types = "packages/kube/src/kinds";
const simulated = "packages/sim/src/kinds/generated";
const biome = join(root, "node_modules/@biomejs/biome/bin/biome");

/** The stable ones that programs have to do with. Left out: those of the server's own workings, and runtime classes. */
const GROUP_VERSIONS = [
  "api/v1",
  "apis/admissionregistration.k8s.io/v1",
  "apis/apiextensions.k8s.io/v1",
  "apis/apps/v1",
  "apis/authentication.k8s.io/v1",
  "apis/authorization.k8s.io/v1",
  "apis/autoscaling/v1",
  "apis/autoscaling/v2",
  "apis/batch/v1",
  "apis/certificates.k8s.io/v1",
  "apis/coordination.k8s.io/v1",
  "apis/discovery.k8s.io/v1",
  "apis/events.k8s.io/v1",
  "apis/networking.k8s.io/v1",
  "apis/policy/v1",
  "apis/rbac.authorization.k8s.io/v1",
  "apis/resource.k8s.io/v1",
  "apis/scheduling.k8s.io/v1",
  "apis/storage.k8s.io/v1",
];

/** What a server has beside them that people meet: extensions of the API, runtime classes, priorities of requests. */
const ONLY_SIMULATED = [
  "apis/apiregistration.k8s.io/v1",
  "apis/flowcontrol.apiserver.k8s.io/v1",
  "apis/node.k8s.io/v1",
];

/** File → text, as the files should be. */
export async function generate(api: Api): Promise<Map<string, string>> {
  const { major, minor } = await api.get<{ major: string; minor: string }>("/version");
  const read = (paths: readonly string[]) => Promise.all(paths.map((path) => readGroupVersion(api, path)));
  const [groupVersions, more] = await Promise.all([read(GROUP_VERSIONS), read(ONLY_SIMULATED)]);
  const files = new Map<string, string>();
  for (const [file, text] of typescriptOf(groupVersions, `the OpenAPI documents of Kubernetes v${major}.${minor}`)) {
    files.set(`${types}/${file}`, await formatted(`${types}/${file}`, text));
  }
  const structs = await goStructs(join(root, "packages/cluster/go"));
  for (const [file, text] of simulatedFiles([...groupVersions, ...more], structs))
    files.set(`${simulated}/${file}`, text);
  return files;
}

/** File → text, as the files are. */
export function readGenerated(): Map<string, string> {
  const files = [types, simulated].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
  );
  const generated = files.filter((file) => !file.endsWith(".test.ts"));
  return new Map(generated.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

async function readGroupVersion(api: Api, path: string): Promise<GroupVersion> {
  const [openApi, discovery] = await Promise.all([
    api.get<OpenApi>(`/openapi/v3/${path}`),
    api.get<Discovery>(`/${path}`),
  ]);
  return { openApi, discovery };
}

/** As `npm run format` would leave the file. */
async function formatted(file: string, text: string): Promise<string> {
  const args = ["check", "--write", "--colors=off", `--stdin-file-path=${file}`];
  const running = promisify(execFile)(process.execPath, [biome, ...args], { cwd: root });
  running.child.stdin?.end(text);
  return (await running).stdout;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await using cluster = await startCluster({ name: `kinds-${process.pid}`, nodes: 0 });
  const files = await generate(cluster.api);
  for (const [file, text] of files) writeFileSync(join(root, file), text);
  for (const file of readGenerated().keys()) if (!files.has(file)) rmSync(join(root, file));
  console.log(`${files.size} files written to ${types} and ${simulated}`);
}
