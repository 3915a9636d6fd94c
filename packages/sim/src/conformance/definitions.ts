/** Custom resource definitions for tests: made, waited for, and taken away again. */
import { type apiextensionsV1, sleep, WallClock } from "@berth/kube";
import type { Target } from "./target.ts";

export type Definition = apiextensionsV1.CustomResourceDefinition;
export type JsonSchema = apiextensionsV1.JSONSchemaProps;
export type Version = apiextensionsV1.CustomResourceDefinitionVersion;

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON_BODY = { "content-type": "application/json" };
const PATIENCE_MS = 60_000;
const INTERVAL_MS = 50;
const clock = new WallClock();

/** What stands between braces, whatever it is. */
// biome-ignore lint/suspicious/noExplicitAny: answers have any shape
export type Any = any;

/** A request with a body that is JSON, answered with JSON. */
export async function send(target: Target, method: string, path: string, body?: unknown, type?: string): Promise<Any> {
  const headers = type ? { "content-type": type } : JSON_BODY;
  const options = body === undefined ? {} : { body: JSON.stringify(body), headers };
  const { text } = await target.http(method, path, options);
  return JSON.parse(text);
}

/** What a refusal says, without what both targets word by chance: the order of what is wrong. */
export function refusalOf({ code, reason, details }: Any) {
  const causes = (details?.causes ?? []).map((cause: Any) => `${cause.field}: ${cause.message}`);
  return { code, reason, causes: causes.sort() };
}

/** A definition of one version with a schema for the spec, and whatever else. */
export function definitionOf(kind: string, spec: JsonSchema, version: Partial<Version> = {}): Definition {
  const plural = `${kind.toLowerCase()}s`;
  const group = "conformance.example.org";
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [{ name: "v1", served: true, storage: true, schema, ...version }],
    },
  };
}

/** Where a definition's objects are. */
export function pathOf({ spec }: Definition, namespace = "default", version = spec.versions[0]?.name): string {
  const place = spec.scope === "Namespaced" ? `/namespaces/${namespace}` : "";
  return `/apis/${spec.group}/${version}${place}/${spec.names.plural}`;
}

/** An object of a definition. */
export function objectOf({ spec }: Definition, name: string, more: object = {}, version = spec.versions[0]?.name): Any {
  return { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind, metadata: { name }, ...more };
}

/** Runs with a definition that is served, and takes it away afterwards. */
export async function withDefinition(target: Target, definition: Definition, run: () => Promise<void>): Promise<void> {
  const made = await send(target, "POST", DEFINITIONS, definition);
  if (made.kind === "Status") throw new Error(made.message);
  try {
    await until(
      "it is established",
      async () => (await isEstablished(target, definition)) && isServed(target, definition),
    );
    await run();
  } finally {
    await send(target, "DELETE", `${DEFINITIONS}/${definition.metadata.name}`);
    await until("it is gone", async () => (await readDefinition(target, definition)).code === 404);
  }
}

export function readDefinition(target: Target, { metadata }: Definition): Promise<Any> {
  return send(target, "GET", `${DEFINITIONS}/${metadata.name}`);
}

async function isEstablished(target: Target, definition: Definition): Promise<boolean> {
  const { status } = await readDefinition(target, definition);
  return Boolean(status?.conditions?.some((each: Any) => each.type === "Established" && each.status === "True"));
}

/** The real server serves a moment after it says so. */
async function isServed(target: Target, definition: Definition): Promise<boolean> {
  const served = definition.spec.versions.filter((each) => each.served);
  const lists = await Promise.all(served.map(({ name }) => target.http("GET", pathOf(definition, "default", name))));
  return lists.every(({ status }) => status === 200);
}

/** Waits until something is so. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += INTERVAL_MS) {
    if (await isSo()) return;
    await sleep(clock, INTERVAL_MS);
  }
  throw new Error(`it never came true: ${what}`);
}
