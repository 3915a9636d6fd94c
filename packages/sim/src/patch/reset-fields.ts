/** Fields that a write cannot change, because the server puts them back: nobody comes to own them by it. */
import type { Resource } from "../api/resource.ts";
import { EMPTY, type FieldSet, setOf } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";

const path = (...names: string[]) => names.map(fieldElement);

const STATUS = setOf(path("status"));
const SPEC = setOf(path("spec"));
const ALL_BUT_STATUS = setOf(path("metadata"), path("spec"));

/** What writes to the status of a kind leave alone, where it is not just the spec. */
const underStatus: Readonly<Record<string, FieldSet>> = {
  "/pods": setOf(path("spec"), path("metadata", "deletionTimestamp"), path("metadata", "ownerReferences")),
  "apps/deployments": setOf(path("spec"), path("metadata", "labels")),
  "certificates.k8s.io/certificatesigningrequests": setOf(path("spec"), path("status", "conditions")),
  ...Object.fromEntries(
    [
      "admissionregistration.k8s.io/validatingadmissionpolicies",
      "flowcontrol.apiserver.k8s.io/flowschemas",
      "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
      "networking.k8s.io/servicecidrs",
      "resource.k8s.io/resourceclaims",
      "storage.k8s.io/volumeattachments",
    ].map((kind) => [kind, ALL_BUT_STATUS]),
  ),
};

/** What writes to the kind itself leave alone, where it is not just the status. */
const underMain: Readonly<Record<string, FieldSet>> = {
  "certificates.k8s.io/certificatesigningrequests": setOf(path("spec"), path("status")),
};

/** Those of a resource, or of one of its subresources. */
export function resetFields(resource: Resource, subresource: string | undefined): FieldSet {
  const kind = `${resource.group}/${resource.plural}`;
  if (subresource === "status") return resource.custom ? ALL_BUT_STATUS : (underStatus[kind] ?? SPEC);
  if (!resource.hasStatus || subresource !== undefined) return EMPTY;
  return underMain[kind] ?? STATUS;
}
