/** Manifests as kubectl takes them, made ready for the API server. */
import type { KubernetesObject } from "@berth/kube";
import { GROUP, VERSION } from "@berth/model";
import { z } from "zod";
import { GatewayError } from "../errors.ts";

const texts = z.record(z.string(), z.string()).nullish();

/** As much of a manifest as matters here; the API server checks the rest. */
export const manifest = z
  .looseObject({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: z.looseObject({ name: z.string().min(1).max(253), labels: texts, annotations: texts }),
    spec: z.looseObject({}),
  })
  .describe("A manifest, as kubectl takes it.");

/** How manifests may be written. */
export const MANIFEST_TYPES = ["application/json", "application/yaml"];

/** What a user may say of an object; the rest is the cluster's, and comes along when a manifest was read from there. */
const OF_USERS = ["name", "labels", "annotations"] as const;

/** The object that a manifest describes. @param kind - That it has to be, if it says what it is. */
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
  const kept = Object.fromEntries(OF_USERS.flatMap((key) => (metadata[key] == null ? [] : [[key, metadata[key]]])));
  return { apiVersion: expected, kind, metadata: { ...kept, namespace }, spec } as KubernetesObject & { spec: unknown };
}

/** The error for a field that is wrong. */
export function invalid(field: string, message: string): GatewayError {
  return new GatewayError("BERTH_MANIFEST_INVALID", `${field}: ${message}`, {
    details: { errors: [{ field, message }] },
  });
}
