/**
 * Our own server, asked directly and with nobody else in it: what a target is compared with when it is asked at random.
 * Where a real one differs from it, ours is wrong; a simulated one must be the same by way of HTTP.
 */
import { type ApiRequest, coreV1, type Kind, schedulingV1, VirtualClock } from "@berth/kube";
import { admissions } from "../admission/admissions.ts";
import { ApiServer } from "../api/api-server.ts";
import type { AnyObject, JsonObject } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { subresources } from "../kinds/subresources.ts";
import type { SchemaNode } from "../schema/schema.ts";
import type { Reply } from "./patching.ts";

const CALLER = { user: { username: "admin", groups: ["system:masters"] }, fieldValidation: "Warn" as const };

export class ObjectModel {
  readonly #server = new ApiServer({ clock: new VirtualClock(), admissions, subresources });
  readonly #namespace: string;

  /** @param namespace - Called as the target's is. */
  constructor(namespace: string) {
    this.#namespace = namespace;
    for (const resource of builtinResources()) this.#server.resources.add(resource);
    this.create(coreV1.Namespace, { metadata: { name: namespace } });
    this.create(coreV1.ServiceAccount, { metadata: { name: "default" } });
    const classes = { "system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000 };
    for (const [name, value] of Object.entries(classes)) {
      this.#server.request({ verb: "create", kind: schedulingV1.PriorityClass, body: { metadata: { name }, value } });
    }
  }

  schemaOf(kind: Kind): SchemaNode {
    return this.#server.resources.find(kind)?.schema as SchemaNode;
  }

  create(kind: Kind, body: JsonObject, parameters: ApiRequest["parameters"] = {}): Reply {
    return this.#ask({ verb: "create", kind, namespace: this.#namespace, body, parameters });
  }

  update(kind: Kind, name: string, body: JsonObject, parameters: ApiRequest["parameters"] = {}): Reply {
    return this.#ask({ verb: "update", kind, namespace: this.#namespace, name, body, parameters });
  }

  #ask(request: ApiRequest): Reply {
    try {
      const body: AnyObject = this.#server.request(request, CALLER);
      return { status: 200, body: structuredClone(body), warnings: [] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.body.code ?? 500, body: error.body, warnings: [] };
    }
  }
}
