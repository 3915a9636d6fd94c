/** The schemas of Kubernetes' own kinds, as they are generated. */
import { readFileSync } from "node:fs";
import { Definitions } from "./definitions.ts";
import type { SchemaNode } from "./schema.ts";

/** The files of kinds/generated; written out, so that a bundler finds them. */
const files = {
  resources: new URL("../kinds/generated/resources.json", import.meta.url),
  schemas: new URL("../kinds/generated/schemas.json", import.meta.url),
  descriptions: new URL("../kinds/generated/descriptions.json", import.meta.url),
};

/** What stands in a file of kinds/generated. */
export function readGenerated<T>(name: keyof typeof files): T {
  return JSON.parse(readFileSync(files[name], "utf8"));
}

let definitions: Definitions | undefined;
let descriptions: ReturnType<typeof readDescriptions> | undefined;

const readDescriptions = () =>
  readGenerated<Readonly<Record<string, Readonly<Record<string, string>>>>>("descriptions");

/** By its name in OpenAPI: "io.k8s.api.core.v1.Pod". */
export function schemaNamed(name: string): SchemaNode {
  definitions ??= new Definitions(readGenerated("schemas"), () => {
    descriptions ??= readDescriptions();
    return descriptions;
  });
  const schema = definitions.get(name);
  if (!schema) throw new Error(`there is no schema "${name}"`);
  return schema;
}

let metadata: SchemaNode | undefined;

/** What `metadata` is, whatever kind of object it is of. */
export function objectMeta(): SchemaNode {
  metadata ??= schemaNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  return metadata;
}
