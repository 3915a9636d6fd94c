/** Kubernetes' own resources, as the server serves them. */
import * as kube from "@berth/kube";
import type { Resource } from "../api/resource.ts";
import { columns } from "./columns.ts";
import { rules } from "./rules.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

export function builtinResources(): Resource[] {
  const modules = Object.entries(kube)
    .filter(([name]) => /V\d+$/.test(name))
    .map(([, module]) => module as object);
  const kinds = modules.flatMap((module) => Object.values(module)).filter(isKind);
  return kinds.map((kind) => {
    const id = `${kind.group}/${kind.plural}`;
    return {
      ...kind,
      singular: kind.kind.toLowerCase(),
      shortNames: [],
      categories: [],
      verbs: VERBS,
      subresources: [
        { name: "status", kind: kind.kind, apiVersion: kind.apiVersion, verbs: ["get", "patch", "update"] },
        { name: "binding", kind: "Binding", apiVersion: "v1", verbs: ["create"] },
        { name: "eviction", kind: "Eviction", apiVersion: "policy/v1", verbs: ["create"] },
        { name: "scale", kind: "Scale", apiVersion: "autoscaling/v1", verbs: ["get", "patch", "update"] },
      ],
      hasStatus: true,
      schema: { type: "any" },
      rules: rules[id] ?? {},
      columns: columns[id] ?? [],
      storage: id,
    };
  });
}

function isKind(value: unknown): value is kube.Kind {
  return typeof value === "object" && value !== null && "plural" in value && Boolean(value.plural);
}
