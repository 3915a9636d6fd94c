/** A kind for tests of server-side apply, with every way to see lists and maps, and a server that serves it. */
import { type KubernetesObject, kindOf, VirtualClock } from "@berth/kube";
import { ApiServer } from "../api/api-server.ts";
import type { AnyObject, JsonObject } from "../api/json.ts";
import { Refusal, type StatusBody } from "../api/refusal.ts";
import type { Resource } from "../api/resource.ts";
import type { SchemaNode } from "../schema/schema.ts";

const text: SchemaNode = { type: "string" };
const integer: SchemaNode = { type: "integer" };
const pair: SchemaNode = { type: "object", fields: { a: text, b: text } };

export const appSchema: SchemaNode = {
  type: "object",
  fields: {
    spec: {
      type: "object",
      fields: {
        replicas: integer,
        image: text,
        nullable: { type: "string", nullable: true },
        selector: { type: "map", element: text, mapType: "atomic" },
        pair,
        labels: { type: "map", element: text },
        pairs: { type: "map", element: pair },
        args: { type: "array", element: text },
        tags: { type: "array", listType: "set", element: text },
        containers: {
          type: "array",
          listType: "map",
          mapKeys: ["name"],
          element: {
            type: "object",
            required: ["name"],
            fields: { name: text, image: text, env: { type: "map", element: text } },
          },
        },
        ports: {
          type: "array",
          listType: "map",
          mapKeys: ["port", "protocol"],
          element: {
            type: "object",
            required: ["port"],
            fields: { port: integer, protocol: { type: "string", default: "TCP" }, note: text },
          },
        },
        free: { type: "any", preserveUnknown: true },
      },
    },
    status: { type: "object", fields: { phase: text, ready: integer } },
  },
};

const App = kindOf<KubernetesObject>("test.io/v1", "App", "apps");

export const appResource = (more: Partial<Resource> = {}): Resource => ({
  ...App,
  singular: "app",
  shortNames: [],
  categories: [],
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  subresources: [{ name: "status", kind: "App", apiVersion: "test.io/v1", verbs: ["get", "patch", "update"] }],
  hasStatus: true,
  schema: appSchema,
  rules: {},
  columns: [],
  custom: {},
  storage: "test.io/apps",
  ...more,
});

interface Sent {
  readonly as?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly under?: "status";
}

/** One app on a server, written by many. */
export class AppServer {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly resource: Resource;

  constructor(resource = appResource()) {
    this.resource = resource;
    this.server = new ApiServer({ clock: this.clock });
    this.server.resources.add(resource);
  }

  create(fields: JsonObject, sent: Sent = {}): AnyObject {
    return this.#send("create", { ...identity, ...fields, metadata: { ...meta(fields), name: "it" } }, undefined, sent);
  }

  update(object: object, sent: Sent = {}): AnyObject {
    return this.#send("update", object, undefined, sent);
  }

  merge(body: object, sent: Sent = {}): AnyObject {
    return this.#send("patch", body, "merge", sent);
  }

  json(body: readonly object[], sent: Sent = {}): AnyObject {
    return this.#send("patch", body, "json", sent);
  }

  apply(fields: JsonObject, sent: Sent = {}): AnyObject {
    const body = { ...identity, ...fields, metadata: { ...meta(fields), name: "it" } };
    return this.#send("patch", body, "apply", sent);
  }

  get(): AnyObject {
    return this.server.get(this.resource, "default", "it");
  }

  /** Who owns what: `{"ann/Update": {"f:spec": …}}`. */
  owners(object = this.get()): Record<string, unknown> {
    const entries = this.server.ownership.managedFields(object, this.resource);
    return Object.fromEntries(
      entries.map(({ manager, operation, subresource, fieldsV1 }) => [
        `${manager}/${operation}${subresource ? `/${subresource}` : ""}`,
        fieldsV1,
      ]),
    );
  }

  times(): Record<string, string | undefined> {
    const entries = this.server.ownership.managedFields(this.get(), this.resource);
    return Object.fromEntries(entries.map(({ manager, time }) => [manager, time]));
  }

  #send(
    verb: "create" | "update" | "patch",
    body: unknown,
    patchType: undefined | "merge" | "json" | "apply",
    sent: Sent,
  ) {
    const { as = "tester", force, dryRun, under } = sent;
    const parameters = { fieldManager: as, ...(force && { force: true }), ...(dryRun && { dryRun: "All" }) };
    const place = { namespace: "default", ...(verb !== "create" && { name: "it" }) };
    const how = { ...(patchType && { patchType }), ...(under && { subresource: under }) };
    return this.server.request({ verb, kind: App, ...place, ...how, parameters, body });
  }
}

const identity = { apiVersion: "test.io/v1", kind: "App" };
const meta = (fields: JsonObject) => fields.metadata as JsonObject | undefined;

/** What somebody is answered who is refused. */
export function refusalOf(write: () => unknown): StatusBody {
  try {
    write();
  } catch (error) {
    if (error instanceof Refusal) return error.body;
    throw error;
  }
  throw new Error("nobody refused");
}
