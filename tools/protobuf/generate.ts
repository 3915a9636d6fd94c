/**
 * `node_modules/node/bin/node tools/protobuf/generate.ts`: writes which number stands for which field in the bodies that
 * kubectl sends, into packages/sim/src/http/protobuf. To be run again when Kubernetes' version changes.
 */
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Field, messagesIn, reachable, written } from "./proto-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = join(root, "packages/sim/src/http/protobuf/messages.txt");
const resources = join(root, "packages/sim/src/kinds/generated/resources.json");

interface Served {
  readonly schema: string;
  readonly subresources: readonly { readonly schema?: string }[];
}

/** The file as it should be. */
export async function generate(): Promise<string> {
  const modules = ["api", "apimachinery", "apiextensions-apiserver"].map((module) => `k8s.io/${module}`);
  const folder = join(root, "packages/cluster/go");
  const { stdout } = await promisify(execFile)("go", ["list", "-m", "-f", "{{.Dir}}", ...modules], { cwd: folder });
  const files = stdout
    .trim()
    .split("\n")
    .flatMap((path) => globSync("**/generated.proto", { cwd: path }).map((file) => join(path, file)));
  const messages = new Map<string, readonly Field[]>(
    files.flatMap((file) => [...messagesIn(readFileSync(file, "utf8"))]),
  );
  const served = JSON.parse(readFileSync(resources, "utf8")) as readonly Served[];
  const schemas = served.flatMap(({ schema, subresources }) => [schema, ...subresources.map((each) => each.schema)]);
  // OpenAPI calls it "io.k8s.api.core.v1.Pod".
  const names = schemas.filter((schema) => schema !== undefined).map((schema) => schema.replace(/^io\.k8s/, "k8s.io"));
  return written(reachable(messages, [...names, "k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions"]));
}

/** The file as it is. */
export function readGenerated(): string {
  return readFileSync(target, "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(target, await generate());
  console.log(`${target} written`);
}
