/** "scale": how many there are to be of something, whatever it is. */
import type { SubresourceCall, SubresourceHandler } from "../../api/api-server.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import { type AnyObject, copyOf, frozen, isObject, type JsonObject } from "../../api/json.ts";
import { badRequest, internal, otherMeant } from "../../api/refusal.ts";
import type { CustomRules, Resource } from "../../api/resource.ts";
import { schemaNamed } from "../../schema/builtin-schemas.ts";
import { compiledSelector } from "../common/selectors.ts";
import { wantedOf } from "./body.ts";

type Paths = NonNullable<CustomRules["scale"]>;

const OF_BUILT_IN: Paths = { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas" };

export const scale: SubresourceHandler = (call) => {
  const { api, request, resource, object, caller } = call;
  const paths = resource.custom?.scale ?? OF_BUILT_IN;
  const present = scaleOf(object, resource, paths);
  if (request.verb === "get") {
    if (read(object, paths.specReplicas) === undefined) {
      throw internal(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
    }
    return present;
  }
  const wanted = wantedOf(call, present, scaleResource(resource));
  const { name = "", namespace, uid } = object.metadata;
  const spec = wanted.spec as { replicas?: number } | undefined;
  const replicas = spec?.replicas ?? 0;
  checkWanted(call, wanted, replicas);
  const next = copyOf(object);
  write(next, paths.specReplicas, replicas);
  if (wanted.metadata.resourceVersion) next.metadata.resourceVersion = wanted.metadata.resourceVersion;
  else delete next.metadata.resourceVersion;
  if (uid) next.metadata.uid = uid;
  const { parameters } = request;
  const body = next;
  const changed = api.request(
    { verb: "update", kind: resource, namespace, name, body, ...(parameters && { parameters }) },
    { ...caller, subresource: "scale" },
  );
  return scaleOf(changed, resource, paths);
};

function checkWanted({ resource, object }: SubresourceCall, { metadata }: AnyObject, replicas: number): void {
  const { name = "", uid } = object.metadata;
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name ?? ""}) does not match the name on the URL (${name})`);
  }
  const errors = new FieldErrors();
  if (replicas < 0) errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
  errors.throwIfAny({ group: "autoscaling", kind: "Scale" }, name);
  if (metadata.uid && metadata.uid !== uid) throw otherMeant(resource, object.metadata, "UID", metadata.uid);
}

function scaleOf(object: AnyObject, resource: Resource, paths: Paths): AnyObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = resource.custom ? textAt(object, paths.labelSelector) : selectorText(object);
  return frozen({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: copyOf({ name, namespace, uid, resourceVersion, creationTimestamp }) as AnyObject["metadata"],
    spec: { ...(numberAt(object, paths.specReplicas) !== 0 && { replicas: numberAt(object, paths.specReplicas) }) },
    status: { replicas: numberAt(object, paths.statusReplicas), ...(selector && { selector }) },
  });
}

/** Either a selector, or labels that all must be there. */
function selectorText(object: AnyObject): string {
  const selector = read(object, ".spec.selector");
  if (!isObject(selector)) return "";
  const isPlain = Object.values(selector).every((value) => typeof value === "string");
  return compiledSelector(isPlain ? { matchLabels: selector as Record<string, string> } : selector)?.toString() ?? "";
}

function scaleResource(resource: Resource): Resource {
  const { custom: _, ...rest } = resource;
  return {
    ...rest,
    group: "autoscaling",
    version: "v1",
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    schema: schemaNamed("io.k8s.api.autoscaling.v1.Scale"),
    rules: {},
  };
}

const stepsOf = (path: string) => path.split(".").filter((step) => step !== "");

function read(object: AnyObject, path: string): unknown {
  let value: unknown = object;
  for (const step of stepsOf(path)) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

function numberAt(object: AnyObject, path: string): number {
  const value = read(object, path);
  return typeof value === "number" ? value : 0;
}

function textAt(object: AnyObject, path: string | undefined): string {
  const value = path === undefined ? undefined : read(object, path);
  return typeof value === "string" ? value : "";
}

function write(object: AnyObject, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop() as string;
  let place: JsonObject = object;
  for (const step of steps) {
    const inner = place[step];
    const next: JsonObject = isObject(inner) ? inner : {};
    place[step] = next;
    place = next;
  }
  place[last] = value;
}
