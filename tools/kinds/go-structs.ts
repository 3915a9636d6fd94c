/**
 * What Go makes of a field that is left out or empty. OpenAPI does not say it, and the server's answers depend on it: a
 * field without a pointer is always there, one with `omitempty` never is when it is empty. The structs' source does.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface GoField {
  readonly pointer: boolean;
  /** As `json:"…,omitempty"`. */
  readonly omitEmpty: boolean;
  /** As `json:"…,omitzero"`, which also leaves out structs. */
  readonly omitZero: boolean;
}

/** By the fields' names in JSON, those of inlined structs included. */
export type GoStruct = ReadonlyMap<string, GoField>;

const STRUCT = /^type (\w+) struct ?\{(?:\}|\n([\s\S]*?)^\})/gm;
/** With a name of its own, or embedded under the name of its type. */
const FIELD = /^\t(?:\w+\s+)?([\w*[].*?)\s+`json:"([\w.$-]+)((?:,\w+)*)"/;
const INLINE = /^\t(?:\w+\.)?(\w+)\s+`json:",inline"/;

/** The structs of a package, by name: pure, from the text of its files. */
export function structsIn(source: string): Map<string, GoStruct> {
  const bodies = new Map([...source.matchAll(STRUCT)].map(([, name = "", body = ""]) => [name, body.split("\n")]));
  const fieldsOf = (name: string): [string, GoField][] =>
    (bodies.get(name) ?? []).flatMap((line) => {
      const inlined = line.match(INLINE)?.[1];
      if (inlined === "TypeMeta") return [...typeMeta];
      if (inlined !== undefined) return fieldsOf(inlined);
      const [, type = "", field, options = ""] = line.match(FIELD) ?? [];
      if (field === undefined || field === "-") return [];
      const given = options.split(",");
      return [
        [
          field,
          {
            pointer: type.startsWith("*"),
            omitEmpty: given.includes("omitempty"),
            omitZero: given.includes("omitzero"),
          },
        ],
      ];
    });
  return new Map([...bodies.keys()].map((name) => [name, new Map(fieldsOf(name))]));
}

const optional: GoField = { pointer: false, omitEmpty: true, omitZero: false };
/** Comes from another package everywhere. */
const typeMeta: readonly [string, GoField][] = [
  ["apiVersion", optional],
  ["kind", optional],
];

/** Finds structs by the names that OpenAPI gives them: "io.k8s.api.core.v1.PodSpec". */
export type FindStruct = (schema: string) => GoStruct | undefined;

/** @param folder - Of the `go.mod` that says which version of Kubernetes it is. */
export async function goStructs(folder: string): Promise<FindStruct> {
  const modules = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"];
  const args = ["list", "-m", "-f", "{{.Dir}}", ...modules.map((module) => `k8s.io/${module}`)];
  const { stdout } = await promisify(execFile)("go", args, { cwd: folder });
  const folders = new Map(
    stdout
      .trim()
      .split("\n")
      .map((path, index) => [modules[index], path]),
  );
  const packages = new Map<string, Map<string, GoStruct>>();
  return (schema) => {
    const [, , module, ...rest] = schema.split(".");
    const name = rest.pop() ?? "";
    const path = join(folders.get(module) ?? "", ...rest);
    const structs = packages.get(path) ?? structsIn(sourceOf(path));
    packages.set(path, structs);
    return structs.get(name);
  };
}

function sourceOf(path: string): string {
  const files = readdirSync(path).filter(
    (file) => /^[a-z].*\.go$/.test(file) && !/_test\.go$|^zz_|\.pb\.go$/.test(file),
  );
  return files.map((file) => readFileSync(join(path, file), "utf8")).join("\n");
}
