/** The rules of namespaces. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import type { LooseObject } from "../common/loose.ts";

export type Namespace = LooseObject<coreV1.Namespace>;

const NAME = "kubernetes.io/metadata.name";
/** Holds a namespace until everything in it is gone. */
const FINALIZER = "kubernetes";
const STANDARD = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

export const namespaceRules: Rules = {
  names: "label",
  generation: false,
  default: (namespace: Namespace) => label(namespace),
  defaultStatus: ({ status }: Namespace) => {
    if (status) status.phase ||= "Active";
  },
  prepareForCreate: (namespace: Namespace) => {
    label(namespace);
    namespace.status = { phase: "Active" };
    namespace.spec ??= {};
    const { finalizers = [] } = namespace.spec;
    if (!finalizers.includes(FINALIZER)) namespace.spec.finalizers = [...finalizers, FINALIZER];
  },
  validate: ({ spec = {} }: Namespace, errors) => {
    for (const name of spec.finalizers ?? []) checkFinalizer(name, "spec.finalizers", errors);
  },
  prepareForUpdate: (namespace: Namespace, before: Namespace) => {
    label(namespace);
    const { finalizers } = before.spec ?? {};
    namespace.spec = { ...namespace.spec };
    if (finalizers) namespace.spec.finalizers = finalizers;
    else delete namespace.spec.finalizers;
  },
  validateStatusUpdate: ({ status = {}, metadata }: Namespace, _before, errors) => {
    const expected = metadata.deletionTimestamp ? "Terminating" : "Active";
    if (status.phase === expected) return;
    const when = metadata.deletionTimestamp ? "not empty" : "empty";
    errors.invalid("status.Phase", status.phase ?? "", `may only be '${expected}' if \`deletionTimestamp\` is ${when}`);
  },
  fields: ({ status = {}, metadata }: Namespace) => ({ "status.phase": status.phase ?? "", name: metadata.name ?? "" }),
  remains: ({ spec = {} }: Namespace) => (spec.finalizers ?? []).length > 0,
  prepareForDelete: (namespace: Namespace) => {
    namespace.status = { ...namespace.status, phase: "Terminating" };
  },
};

/** Every namespace can be selected by its name. */
function label({ metadata }: Namespace): void {
  if (!metadata.name || metadata.labels?.[NAME] === metadata.name) return;
  metadata.labels = { ...metadata.labels, [NAME]: metadata.name };
}

/** What a finalizer is called: it is one of Kubernetes' own, or says whose it is. */
export function checkFinalizer(name: string, field: string, errors: FieldErrors): void {
  for (const problem of qualifiedNameProblems(name)) errors.invalid(field, name, problem);
  if (!name.includes("/") && !STANDARD.has(name)) {
    errors.invalid(field, name, "name is neither a standard finalizer name nor is it fully qualified");
  }
}
