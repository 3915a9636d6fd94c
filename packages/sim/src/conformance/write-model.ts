/**
 * Our own server, asked directly and with nobody else in it: what a target is compared with when it is written to at
 * random. Where a real one differs from it, ours is wrong; a simulated one must be the same by way of HTTP.
 */
import type { ApiRequest, Kind } from "@berth/kube";
import { VirtualClock } from "@berth/kube";
import { ApiServer } from "../api/api-server.ts";
import { type AnyObject, isObject, type JsonObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { Definition } from "../custom/definition.ts";
import { resourcesOf } from "../custom/resources.ts";
import { builtinResources } from "../kinds/builtin.ts";
import type { Reply } from "./patching.ts";
import { thingDefinition, types, type Writable, type Write } from "./random-writes.ts";

const NAMESPACE = "default";
const CALLER = {
  user: { username: "admin", groups: [] },
  fieldManager: "conformance",
  fieldValidation: "Warn" as const,
};

export class WriteModel {
  readonly #server = new ApiServer({ clock: new VirtualClock() });
  readonly #kind: Kind;

  constructor({ apiVersion, kind }: Writable) {
    for (const resource of builtinResources()) this.#server.resources.add(resource);
    for (const resource of resourcesOf(thingDefinition as Definition, { isNew: true, isGoing: () => false }))
      this.#server.resources.add(resource);
    this.#kind = this.#server.resources.findKind(apiVersion, kind) as Kind;
  }

  send({ method, where, type, body }: Write, name: string, present: JsonObject | undefined): Reply {
    const [subresource, query] = where.split("?") as [string, string];
    const patchType = Object.entries(types).find(([, each]) => each === type)?.[0] as ApiRequest["patchType"];
    const request: ApiRequest = {
      verb: method === "POST" ? "create" : method === "PUT" ? "update" : "patch",
      kind: this.#kind,
      namespace: NAMESPACE,
      ...(method !== "POST" && { name }),
      ...(subresource && { subresource: subresource.slice(1) }),
      ...(patchType && { patchType }),
      parameters: Object.fromEntries(new URLSearchParams(query)),
      body: body(present),
    };
    try {
      return { status: 200, body: this.#shown(this.#server.request(request, CALLER)), warnings: [] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.body.code ?? 500, body: error.body, warnings: [] };
    }
  }

  #shown(object: AnyObject): JsonObject {
    const managedFields = this.#server.ownership.managedFields(object);
    return structuredClone({ ...object, metadata: { ...object.metadata, managedFields } });
  }
}

/** What of an answer must be the same everywhere. */
export function comparable({ status, body }: Reply, { controlled }: Writable): unknown {
  if (status >= 300) {
    const { reason, message, details } = body;
    // What is said of single fields is for others to compare.
    if (status === 422 || status === 400) return { status, reason };
    const causes = [...(details?.causes ?? [])].map((cause) => JSON.stringify(cause, Object.keys(cause).sort())).sort();
    return { status, reason, message, causes };
  }
  const { metadata, ...rest } = structuredClone(body);
  for (const field of ["uid", "resourceVersion", "creationTimestamp", "namespace"]) delete metadata[field];
  const entries: readonly Entry[] = metadata.managedFields ?? [];
  metadata.managedFields = undefined;
  if (controlled) {
    rest.status = undefined;
    metadata.annotations = undefined;
  }
  const owners = entries
    .filter(({ manager }) => !manager.startsWith("kube"))
    // Times differ, and with them the order.
    .map(({ time, ...entry }) => JSON.stringify(sorted(controlled ? withoutAnnotations(entry) : entry)))
    .sort();
  return sorted(JSON.parse(JSON.stringify({ ...rest, metadata, owners })));
}

interface Entry {
  readonly manager: string;
  readonly time?: string;
  readonly fieldsV1: JsonObject;
}

/** Somebody else has written the first of them, so who else owns what of them is not comparable. */
function withoutAnnotations<T extends Omit<Entry, "time">>(entry: T): T {
  const { "f:metadata": metadata, ...fields } = entry.fieldsV1;
  if (!isObject(metadata)) return entry;
  const { "f:annotations": _, ...others } = metadata;
  const isEmpty = Object.keys(others).length === 0;
  return { ...entry, fieldsV1: { ...fields, ...(!isEmpty && { "f:metadata": others }) } };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
