/** What suites about patches have in common: sending them, and reading who owns what. */
import { apiextensionsV1, isAlreadyExists } from "@berth/kube";
import type { JsonObject } from "../api/json.ts";
import { thingDefinition, types } from "./random-writes.ts";
import type { Target } from "./target.ts";

export type PatchName = keyof typeof types;

/** An answer, read. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers have any shape
  readonly body: any;
  readonly warnings: readonly string[];
}

/** Sends requests as JSON, and reads the answers. */
export async function send(
  target: Target,
  method: string,
  path: string,
  body?: unknown,
  type = "application/json",
): Promise<Reply> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const options = body === undefined ? {} : { body: text, headers: { "content-type": type } };
  const answer = await target.http(method, path, options);
  const warnings = [answer.headers.warning ?? []].flat();
  return { status: answer.status, body: read(answer.text), warnings };
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** One object at one place, changed in all ways. */
export class Subject {
  readonly #target: Target;
  readonly #collection: string;
  readonly #name: string;

  constructor(target: Target, collection: string, name = "it") {
    this.#target = target;
    this.#collection = collection;
    this.#name = name;
  }

  /** Without a name it gets this one. */
  async create(object: JsonObject, query = ""): Promise<Reply> {
    const metadata = { name: this.#name, ...(object.metadata as JsonObject) };
    return send(this.#target, "POST", this.#collection + query, { ...object, metadata });
  }

  get(): Promise<Reply> {
    return send(this.#target, "GET", this.#path(""));
  }

  update(object: unknown, query = ""): Promise<Reply> {
    return send(this.#target, "PUT", this.#path(query), object);
  }

  /** Creates something under it, as a binding. */
  post(where: string, body: unknown): Promise<Reply> {
    return send(this.#target, "POST", this.#path(where), body);
  }

  /** @param where - "/status?fieldManager=a" */
  patch(type: PatchName, body: unknown, where = ""): Promise<Reply> {
    return send(this.#target, "PATCH", this.#path(where), body, types[type]);
  }

  delete(): Promise<Reply> {
    return send(this.#target, "DELETE", this.#path("?gracePeriodSeconds=0"));
  }

  #path(where: string): string {
    return `${this.#collection}/${this.#name}${where}`;
  }
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly fieldsV1: JsonObject;
}

/** Who owns what: `{"ann/Update": {"f:spec": …}, "kubelet/Update/status": …}`; without those who live in the cluster. */
export function owners({ body }: Reply): Record<string, JsonObject> {
  const entries: readonly Entry[] = body.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries
      .filter(({ manager }) => !manager.startsWith("kube"))
      .map(({ manager, operation, subresource, fieldsV1 }) => [
        [manager, operation, ...(subresource ? [subresource] : [])].join("/"),
        fieldsV1,
      ]),
  );
}

/** What an answer says that is a refusal. */
export function refusal({ status, body }: Reply) {
  const { reason, message, details } = body;
  return { status, reason, message, ...(details?.causes && { causes: details.causes }) };
}

/** Sees to it that there are things: custom resources whose definition has all kinds of lists and maps. */
export async function serveThings(target: Target): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await target.client
    .create(apiextensionsV1.CustomResourceDefinition, structuredClone(thingDefinition))
    .catch((error) => {
      if (!isAlreadyExists(error)) throw error;
    });
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await send(target, "GET", `${path}/${thingDefinition.metadata.name}`);
    const established = body.status?.conditions?.some(
      (each: { type: string; status: string }) => each.type === "Established" && each.status === "True",
    );
    const { status } = await send(target, "GET", "/apis/patch.berth.dev/v1/drafts");
    if (established && status === 200) return;
  }
  throw new Error("the definition is not served");
}
