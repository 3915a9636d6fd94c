/** From a definition to the resources that are served for it. */
import { type AnyObject, frozen, shared } from "../api/json.ts";
import { forbidden } from "../api/refusal.ts";
import type { Conversion, Resource, Rules, Subresource } from "../api/resource.ts";
import { fillIn } from "../schema/defaults.ts";
import { pruned } from "../schema/prune.ts";
import type { SchemaNode } from "../schema/schema.ts";
import { columnsOf } from "./columns.ts";
import type { Definition, Version } from "./definition.ts";
import { jsonPath } from "./json-path.ts";
import { schemaNode } from "./schema-node.ts";

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];

/** The name under which a definition's objects are stored, whatever their version. */
export function storageOf({ spec }: Definition): string {
  return `${spec.group}/${spec.names.plural}`;
}

/** What a definition does not say itself. */
export interface Circumstances {
  /** Whether all objects that there are were written by it. */
  readonly isNew: boolean;
  /** Whether it is about to go, now. */
  readonly isGoing: () => boolean;
}

/** One resource for each version that is served. */
export function resourcesOf(definition: Definition, circumstances: Circumstances): Resource[] {
  const stored = definition.spec.versions.find(({ storage }) => storage);
  if (!stored) return [];
  return definition.spec.versions
    .filter(({ served }) => served)
    .map((version) => resourceOf(definition, version, stored, circumstances));
}

function resourceOf(
  definition: Definition,
  version: Version,
  stored: Version,
  { isNew, isGoing }: Circumstances,
): Resource {
  const { group, names, scope } = definition.spec;
  const accepted = definition.status?.acceptedNames ?? names;
  const apiVersion = `${group}/${version.name}`;
  const schema = schemaOf(version);
  const scale = version.subresources?.scale;
  const conversion = version === stored && isNew ? undefined : conversionBetween(version, stored, group);
  return {
    group,
    version: version.name,
    apiVersion,
    kind: accepted.kind,
    plural: accepted.plural,
    singular: accepted.singular ?? "",
    shortNames: accepted.shortNames ?? [],
    categories: accepted.categories ?? [],
    namespaced: scope === "Namespaced",
    verbs: VERBS,
    subresources: subresourcesOf(version, accepted.kind, apiVersion),
    hasStatus: version.subresources?.status !== undefined,
    schema,
    rules: rulesOf(definition, version, isGoing),
    columns: columnsOf(version.additionalPrinterColumns),
    custom: {
      ...(scale && {
        scale: {
          specReplicas: scale.specReplicasPath,
          statusReplicas: scale.statusReplicasPath,
          ...(scale.labelSelectorPath && { labelSelector: scale.labelSelectorPath }),
        },
      }),
    },
    storage: storageOf(definition),
    ...(conversion && { conversion }),
  };
}

function schemaOf({ schema }: Version): SchemaNode {
  return schemaNode(schema?.openAPIV3Schema ?? { type: "object" });
}

function subresourcesOf({ subresources }: Version, kind: string, apiVersion: string): Subresource[] {
  return [
    ...(subresources?.status ? [{ name: "status", kind, apiVersion, verbs: SUBRESOURCE_VERBS }] : []),
    ...(subresources?.scale
      ? [{ name: "scale", kind: "Scale", apiVersion: "autoscaling/v1", verbs: SUBRESOURCE_VERBS }]
      : []),
  ];
}

function rulesOf(definition: Definition, { selectableFields }: Version, isGoing: () => boolean): Rules {
  const { group, names } = definition.spec;
  const prepareForCreate = ({ metadata }: AnyObject) => {
    if (!isGoing()) return;
    const why = "create not allowed while custom resource definition is terminating";
    throw forbidden({ group, plural: names.plural }, metadata.name ?? "", why);
  };
  const fields = (selectableFields ?? []).map((each) => ({
    name: each.jsonPath.replace(/^\./, ""),
    find: jsonPath(each.jsonPath) ?? (() => []),
  }));
  return {
    generation: true,
    leavesFrozen: true, // what a definition fills in is there by then
    prepareForCreate,
    ...(fields.length > 0 && {
      fields: (object: AnyObject) => {
        const entries = fields.map(({ name, find }) => [name, String(find(object)[0] ?? "")] as const);
        return Object.fromEntries(entries);
      },
    }),
  };
}

/**
 * Versions differ in their name and in what they know: what one does not know is dropped on the way. What was stored
 * before a definition changed is read as if it had been written now.
 */
function conversionBetween(version: Version, stored: Version, group: string): Conversion {
  const [here, there] = [schemaOf(version), schemaOf(stored)];
  const read = new WeakMap<AnyObject, AnyObject>();
  return {
    toStored: (object) => inVersion(object, there, `${group}/${stored.name}`),
    fromStored: (object) => {
      const known = read.get(object);
      if (known) return known;
      const filled = inVersion(object, there, `${group}/${stored.name}`);
      fillIn(filled, there);
      const result = frozen(shared(object, inVersion(filled, here, `${group}/${version.name}`)));
      read.set(object, result);
      return result;
    },
  };
}

function inVersion(object: AnyObject, schema: SchemaNode, apiVersion: string): AnyObject {
  return { ...(pruned({ ...object, apiVersion }, schema, []) as AnyObject), metadata: { ...object.metadata } };
}
