/** The rules of CustomResourceDefinitions. */
import type { AnyObject } from "../api/json.ts";
import type { Rules } from "../api/resource.ts";
import { CLEANUP, type Definition } from "./definition.ts";
import { checkDefinition } from "./definition-check.ts";
import { withConditions } from "./status.ts";

const definitionOf = (object: AnyObject) => object as unknown as Definition;

export const definitionRules: Rules = {
  generation: true,
  default: (object) => {
    const { spec } = definitionOf(object);
    const { names } = spec;
    if (!names.singular) names.singular = names.kind.toLowerCase();
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
    spec.conversion ??= { strategy: "None" };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service) service.port ??= 443;
  },
  prepareForCreate: (object) => {
    const stored = storageVersionOf(definitionOf(object));
    const storedVersions = stored === undefined ? null : [stored];
    object.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions };
  },
  prepareForUpdate: (object) => {
    const { status } = definitionOf(object);
    const stored = storageVersionOf(definitionOf(object));
    const known = status?.storedVersions ?? [];
    if (stored !== undefined && !known.includes(stored)) {
      object.status = { ...status, storedVersions: [...known, stored] };
    }
  },
  validate: (object, errors) => checkDefinition(definitionOf(object), undefined, errors),
  validateUpdate: (object, before, errors) => checkDefinition(definitionOf(object), definitionOf(before), errors),
  prepareForDelete: (object, { time }) => {
    if (object.metadata.deletionTimestamp) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP)) object.metadata.finalizers = [...finalizers, CLEANUP];
    const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    const pending = { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message } as const;
    object.status = withConditions(definitionOf(object).status, [pending], time);
  },
  remains: ({ metadata }) => metadata.finalizers?.includes(CLEANUP) ?? false,
};

function storageVersionOf({ spec }: Definition): string | undefined {
  return spec.versions?.find(({ storage }) => storage)?.name;
}
