/** Where in an API server's URLs a request goes. Pure. */
import { KubeError } from "../errors.ts";
import type { ApiRequest, Parameters, PatchType, Verb, WatchRequest } from "./transport.ts";

const METHODS = {
  get: "GET",
  list: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
} as const satisfies Record<Verb, string>;

export type Method = (typeof METHODS)[Verb];

export const methodOf = (verb: Verb): Method => METHODS[verb];

/** Every JSON text is YAML too, so an object to be applied needs no other form. */
const PATCH_CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

export const contentTypeOf = ({ patchType }: ApiRequest): string =>
  patchType ? PATCH_CONTENT_TYPES[patchType] : "application/json";

/** "/apis/batch/v1/namespaces/default/jobs/pi/status?fieldManager=me" */
export function pathOf(request: ApiRequest | WatchRequest): string {
  const { kind, namespace, name, parameters = {} } = request;
  const subresource = "subresource" in request ? request.subresource : undefined;
  const parts = [kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`];
  if (kind.namespaced && namespace) parts.push("namespaces", segment(namespace));
  parts.push(kind.plural);
  if (name !== undefined) parts.push(segment(name));
  else if ("verb" in request && NAMED.has(request.verb)) parts.push(segment("")); // or one would be meant, and all be hit
  if (subresource) parts.push(segment(subresource));
  const query = queryOf(parameters);
  return query ? `${parts.join("/")}?${query}` : parts.join("/");
}

/** What is done to one object. */
const NAMED: ReadonlySet<Verb> = new Set(["get", "update", "patch", "delete"]);

/** A name that is no name must not lead to another object: "", "..", "a/b". */
function segment(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new KubeError("KUBE_API_BAD_REQUEST", `"${name}" cannot be the name of an object`);
  }
  return encodeURIComponent(name);
}

function queryOf(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) query.append(key, String(each));
  }
  return query.toString();
}
