/**
 * A cluster whose jobs and Schedulings are written through the gateway's REST interface: submitted, decided, changed and deleted as
 * a user of it would. Everything else, and all that is read, goes to the API server, so that it is the cluster that says what
 * came of it.
 */
import { Gateway } from "@berth/gateway";
import { ApiError, type ApiRequest, Client, type Clock, type KubernetesObject, type Transport } from "@berth/kube";
import type { Target } from "@berth/operator/scenarios";

const PATHS: Readonly<Record<string, string>> = { BatchJob: "/v1/jobs", Scheduling: "/v1/schedulings" };

/** @param clock - Of the cluster. */
export function throughGateway(target: Target, clock: Clock): Target & { readonly asked: () => number } {
  const { transport } = target.client;
  const gateways = new Map<string, Promise<Gateway>>();
  let asked = 0;
  const gatewayOf = (namespace: string): Promise<Gateway> => {
    const known = gateways.get(namespace) ?? Gateway.start({ transport, namespace, clock });
    gateways.set(namespace, known);
    return known;
  };
  const request: Transport["request"] = async (each) => {
    const path = PATHS[each.kind.kind];
    if (path === undefined || each.namespace === undefined || each.subresource !== undefined || !isWrite(each)) {
      return transport.request(each);
    }
    asked++;
    const { url } = await gatewayOf(each.namespace);
    const { body, name = (body as KubernetesObject | undefined)?.metadata?.name ?? "" } = each;
    await ask(`${url}${path}`, each, name);
    if (each.verb === "delete") return { kind: "Status", apiVersion: "v1", status: "Success" };
    return transport.request({ verb: "get", kind: each.kind, namespace: each.namespace, name });
  };
  const wrapped: Transport = {
    namespace: transport.namespace,
    request,
    watch: (each, onEvent) => transport.watch(each, onEvent),
    bytes: (each) => transport.bytes(each),
    exec: (each) => transport.exec(each),
    close: async () => {},
  };
  return {
    ...target,
    client: new Client(wrapped, { clock }),
    asked: () => asked,
    close: async () => {
      for (const gateway of gateways.values()) await (await gateway).stop();
      await target.close();
    },
  };
}

/** What the interface offers: a job's spec is nobody's to change there. */
function isWrite({ verb, kind, patchType }: ApiRequest): boolean {
  if (verb === "create" || verb === "delete") return true;
  return kind.kind === "Scheduling" && (verb === "update" || (verb === "patch" && patchType === "merge"));
}

const METHODS: Readonly<Record<string, string>> = { create: "POST", delete: "DELETE", update: "PUT", patch: "PATCH" };

async function ask(url: string, { verb, body }: ApiRequest, name: string): Promise<void> {
  const hasBody = verb !== "delete" && body !== undefined;
  const type = verb === "patch" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(verb === "create" ? url : `${url}/${name}`, {
    method: METHODS[verb] ?? "GET",
    ...(hasBody && { headers: { "content-type": type }, body: JSON.stringify(body) }),
  });
  if (response.ok) return;
  const { status, detail } = (await response.json()) as { status: number; detail: string };
  const reason = { 404: "NotFound", 409: "AlreadyExists", 412: "Conflict", 422: "Invalid" }[status] ?? "Unknown";
  throw new ApiError({ code: status === 412 ? 409 : status, reason, message: detail });
}
