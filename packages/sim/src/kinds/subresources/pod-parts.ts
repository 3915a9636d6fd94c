/** "pods/ephemeralcontainers" and "pods/resize": parts of a pod that can change only on their own. */
import type { SubresourceCall, SubresourceHandler } from "../../api/api-server.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import type { AnyObject } from "../../api/json.ts";
import { own } from "../common/maps.ts";
import type { ResourceList } from "../common/quantities.ts";
import { same } from "../common/semantic.ts";
import { checkPod } from "../pod/create.ts";
import { qosClass } from "../pod/qos.ts";
import type { Container, Pod, PodSpec } from "../pod/types.ts";
import { differences } from "../pod/update.ts";
import { checkMeant, wantedOf } from "./body.ts";

export const ephemeralContainers: SubresourceHandler = (call) => {
  const { request, object, resource } = call;
  if (request.verb === "get") return object;
  const wanted: Pod = wantedOf(call, object, resource);
  checkMeant(wanted, object, resource);
  const before: Pod = object;
  const containers = wanted.spec?.ephemeralContainers ?? [];
  const spec: PodSpec = { ...before.spec, ephemeralContainers: containers };
  const errors = new FieldErrors();
  checkPod({ ...before, spec }, errors);
  for (const old of before.spec?.ephemeralContainers ?? []) {
    const now = containers.find(({ name }) => name === old.name);
    const existing = `existing ephemeral containers ${JSON.stringify(old.name)} may not be`;
    if (!now) errors.forbidden("spec.ephemeralContainers", `${existing} removed\n`);
    else if (!same(now, old)) {
      errors.forbidden("spec.ephemeralContainers", `${existing} changed\n${differences(old, now)}`);
    }
  }
  return store(call, spec, errors);
};

export const resize: SubresourceHandler = (call) => {
  const { request, object, resource } = call;
  if (request.verb === "get") return object;
  const wanted: Pod = wantedOf(call, object, resource);
  checkMeant(wanted, object, resource);
  const { spec: old = {} }: Pod = object;
  const { spec: asked = {} } = wanted;
  const errors = new FieldErrors();
  const spec: PodSpec = { ...old };
  for (const list of ["containers", "initContainers"] as const) {
    const containers = resized(asked[list] ?? [], old[list] ?? [], `spec.${list}`, errors);
    if (containers.length > 0) spec[list] = containers;
  }
  if (!errors.found) {
    checkPod({ ...object, spec }, errors);
    const { status = {} }: Pod = object;
    if ((status.qosClass ?? qosClass(old)) !== qosClass(spec)) {
      errors.invalid("spec", status.qosClass, "Pod QOS Class may not change as a result of resizing");
    }
  }
  return store(call, spec, errors);
};

/** The old containers with new resources. */
function resized(
  asked: readonly Container[],
  before: readonly Container[],
  field: string,
  errors: FieldErrors,
): Container[] {
  const list = field.slice("spec.".length);
  if (asked.length !== before.length) {
    errors.forbidden(field, `${list} may not be added or removed on resize`);
    return [];
  }
  return before.map((old, index) => {
    const now = asked[index] ?? {};
    const place = `${field}[${index}]`;
    if (now.name !== old.name) errors.forbidden(`${place}.name`, `${list} may not be renamed or reordered on resize`);
    for (const side of ["requests", "limits"] as const) {
      checkSide(now.resources?.[side], old.resources?.[side], side, `${place}.resources`, errors);
    }
    const { resources, resizePolicy } = now;
    return { ...old, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

function checkSide(
  now: ResourceList | undefined,
  old: ResourceList | undefined,
  side: string,
  field: string,
  errors: FieldErrors,
): void {
  const names = new Set([...Object.keys(now ?? {}), ...Object.keys(old ?? {})]);
  for (const name of names) {
    if (own(now, name) === undefined) errors.forbidden(`${field}.${side}`, `resource ${side} cannot be removed`);
    else if (name !== "cpu" && name !== "memory" && own(now, name) !== own(old, name)) {
      errors.forbidden("spec", "only cpu and memory resources are mutable");
    }
  }
}

function store(call: SubresourceCall, spec: PodSpec, errors: FieldErrors): AnyObject {
  const { api, resource, object, context, manager } = call;
  errors.throwIfAny(resource, object.metadata.name ?? "");
  if (same(spec, object.spec)) return object;
  const metadata = { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 };
  return api.commit(object, { ...object, metadata, spec }, resource, context, manager);
}
