/** "pods/binding": a scheduler says on which node a pod is to run. */

import { topologyOf } from "../../admission/topology-labels.ts";
import type { SubresourceCall, SubresourceHandler } from "../../api/api-server.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import { badRequest, conflict, otherMeant, Refusal } from "../../api/refusal.ts";
import { schemaNamed } from "../../schema/builtin-schemas.ts";
import type { Pod } from "../pod/types.ts";
import { bodyOf, SUCCESS } from "./body.ts";
import { withCondition } from "./conditions.ts";

const PODS = { group: "", plural: "pods" };
const BINDINGS = { group: "", plural: "pods/binding" };

export const bindPod: SubresourceHandler = (call) => {
  const { api, resource, object, context } = call;
  const binding = bodyOf(call, "Binding", schemaNamed("io.k8s.api.core.v1.Binding"));
  const { metadata, target } = binding;
  const pod: Pod = object;
  const { name = "" } = pod.metadata;
  if (metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
  const node = checkTarget(target as { kind?: string; name?: string } | undefined);
  checkPreconditions(call, metadata);
  checkFree(pod, name);
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const { annotations, labels } = pod.metadata;
  const topology = (target as { kind?: string }).kind === "Node" ? topologyOf(node, context.lookup) : undefined;
  const given = { ...metadata.labels, ...topology };
  const bound: Pod = {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(metadata.annotations && { annotations: { ...annotations, ...metadata.annotations } }),
      ...(Object.keys(given).length > 0 && { labels: { ...labels, ...given } }),
    },
    spec: { ...pod.spec, nodeName: node },
    status: {
      ...status,
      conditions: withCondition(status.conditions, { type: "PodScheduled", status: "True" }, context),
    },
  };
  api.commit(object, bound, resource, context);
  return SUCCESS;
};

function checkTarget({ kind = "", name = "" }: { kind?: string; name?: string } = {}): string {
  const errors = new FieldErrors();
  if (kind !== "" && kind !== "Node") errors.notSupported("target.kind", kind, ["Node", "<empty>"]);
  if (name === "") errors.required("target.name");
  const problems = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  // The real server forgets to say what kind of error this is.
  if (problems.length > 0)
    throw new Refusal(500, "", problems.length > 1 ? `[${problems.join(", ")}]` : (problems[0] as string));
  return name;
}

function checkPreconditions({ object }: SubresourceCall, { uid, resourceVersion }: Pod["metadata"]): void {
  const { metadata } = object;
  if (uid && uid !== metadata.uid) throw otherMeant(PODS, metadata, "UID", uid);
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw otherMeant(PODS, metadata, "ResourceVersion", resourceVersion);
  }
}

function checkFree({ metadata, spec = {} }: Pod, name: string): void {
  const refuse = (why: string) => conflict(BINDINGS, name, `pod ${name} ${why}`);
  if (metadata.deletionTimestamp) throw refuse("is being deleted, cannot be assigned to a host");
  if (spec.nodeName) throw refuse(`is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if (spec.schedulingGates?.length) throw refuse("has non-empty .spec.schedulingGates");
}
