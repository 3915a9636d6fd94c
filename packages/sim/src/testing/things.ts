/** A kind for tests of the server itself: a thing has a spec and a status, and nothing is known of either. */
import { type KubernetesObject, kindOf, VirtualClock } from "@berth/kube";
import { ApiServer, type ApiServerOptions } from "../api/api-server.ts";
import type { Resource } from "../api/resource.ts";

export interface Thing extends KubernetesObject {
  spec?: { size?: number; list?: string[]; [field: string]: unknown };
  status?: { phase?: string };
}

export const Thing = kindOf<Thing>("test.io/v1", "Thing", "things");
/** Without namespaces. */
export const Place = kindOf<Thing>("test.io/v1", "Place", "places", "Cluster");

export const thingResource = (more: Partial<Resource> = {}): Resource => ({
  ...Thing,
  singular: "thing",
  shortNames: [],
  categories: [],
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  subresources: [{ name: "status", kind: "Thing", apiVersion: "test.io/v1", verbs: ["get", "patch", "update"] }],
  hasStatus: true,
  schema: {
    type: "object",
    fields: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "any" },
      spec: { type: "any" },
      status: { type: "any" },
    },
  },
  rules: { fields: ({ status }) => ({ "status.phase": (status as Thing["status"])?.phase ?? "" }) },
  columns: [],
  storage: "test.io/things",
  ...more,
});

/** A server that has things and places, on a virtual clock. */
export function thingServer(options: ApiServerOptions = {}): { server: ApiServer; clock: VirtualClock } {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, ...options });
  server.resources.add(thingResource());
  server.resources.add(thingResource({ ...Place, singular: "place", storage: "test.io/places" }));
  return { server, clock };
}
