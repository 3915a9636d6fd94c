/** Custom resource definitions, and where the real server says that something in them is wrong. */
import type { apiextensionsV1 } from "@berth/kube";
import { equal } from "../api/json.ts";

/** A definition as it is stored. */
export type Definition = apiextensionsV1.CustomResourceDefinition;
export type Version = apiextensionsV1.CustomResourceDefinitionVersion;
export type Names = apiextensionsV1.CustomResourceDefinitionNames;
export type JsonSchema = apiextensionsV1.JSONSchemaProps;
export type DefinitionStatus = apiextensionsV1.CustomResourceDefinitionStatus;
export type DefinitionCondition = apiextensionsV1.CustomResourceDefinitionCondition;

/** What every version says for itself, and what the real server has once for all of them if they all say the same. */
type Common = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

const COMMON_NAMES: Readonly<Record<Common, string>> = {
  schema: "validation",
  subresources: "subresources",
  additionalPrinterColumns: "additionalPrinterColumns",
  selectableFields: "selectableFields",
};

/** What is to be checked, and what its path is in errors. */
export interface Placed<Field extends Common> {
  readonly version: Version;
  readonly value: NonNullable<Version[Field]>;
  readonly path: string;
}

/**
 * What the versions say, where the real server sees it: it has an older form of definitions inside, in which what all
 * versions have in common stands only once, and its errors speak of that.
 */
export function placesOf<Field extends Common>(versions: readonly Version[], field: Field): Placed<Field>[] {
  const [first] = versions;
  if (first?.[field] !== undefined && versions.every((version) => equal(version[field], first[field]))) {
    return [{ version: first, value: first[field], path: `spec.${COMMON_NAMES[field]}` }];
  }
  return versions.flatMap((version, index) => {
    const value = version[field];
    return value ? [{ version, value, path: `spec.versions[${index}].${field}` }] : [];
  });
}

export function conditionOf(definition: Definition, type: string): DefinitionCondition | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type);
}

export function isTrue(definition: Definition, type: string): boolean {
  return conditionOf(definition, type)?.status === "True";
}

/** Stays on a definition until all of its objects are gone. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";
