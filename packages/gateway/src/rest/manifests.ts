/** Manifests as kubectl takes them, made ready for the API server. */
import type { KubernetesObject } from "@berth/kube";
import { GROUP, VERSION } from "@berth/model";
import { z } from "zod";
import { GatewayError } from "../errors.ts";

export const manifest = z
  .looseObject({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: z.looseObject({ name: z.string().min(1).max(253) }),
    spec: z.looseObject({}),
  })
  .describe("A manifest, as kubectl takes it.");

export const MANIFEST_TYPES = ["application/json", "application/yaml"];

/** What a user may say of an object; the rest is the cluster's. */
const OF_USERS = ["name", "labels", "annotations"] as const;

/** @param kind - That it has to be, if it says what it is. */
export function objectOf(given: unknown, kind: string, namespace: string): KubernetesObject & { spec: unknown } {
  const { apiVersion, kind: said, metadata, spec } = given as z.output<typeof manifest>;
  const expected = `${GROUP}/${VERSION}`;
  if (said !== undefined && said !== kind) throw invalid("kind", `must be ${kind}, not ${said}`);
  if (apiVersion !== undefined && apiVersion !== expected) {
    throw invalid("apiVersion", `must be ${expected}, not ${apiVersion}`);
  }
  const { namespace: named } = metadata as { namespace?: unknown };
  if (named !== undefined && named !== namespace) {
    throw invalid("metadata.namespace", `must be ${namespace}, which this gateway serves, or absent`);
  }
  const kept = Object.fromEntries(OF_USERS.flatMap((key) => (key in metadata ? [[key, metadata[key]]] : [])));
  return { apiVersion: expected, kind, metadata: { ...kept, namespace }, spec } as KubernetesObject & { spec: unknown };
}

function invalid(field: string, message: string): GatewayError {
  return new GatewayError("BERTH_MANIFEST_INVALID", `${field}: ${message}`, {
    details: { errors: [{ field, message }] },
  });
}
