/** Binding as an API server does it, as far as a scheduler can tell: for tests that have no other. */
import { kubernetesTime } from "@berth/kube";
import type { SubresourceHandler } from "../../api/api-server.ts";
import { conflict } from "../../api/refusal.ts";
import type { Pod } from "../pod-info.ts";

export const binding: SubresourceHandler = ({ api, request, resource, object, context }) => {
  const pod = object as unknown as Pod;
  const { name = "" } = pod.metadata;
  const { target } = request.body as { target: { name: string } };
  const refuse = (why: string) => conflict({ group: "", plural: "pods/binding" }, name, why);
  if (pod.metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if (pod.spec?.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const { nominatedNodeName: _, conditions = [], ...status } = pod.status ?? {};
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastTransitionTime: kubernetesTime(api.clock.now()),
  };
  const bound = {
    ...object,
    metadata: { ...object.metadata },
    spec: { ...pod.spec, nodeName: target.name },
    status: { ...status, conditions: [...conditions.filter(({ type }) => type !== "PodScheduled"), scheduled] },
  };
  return api.commit(object, bound, resource, context, {
    manager: "scheduler",
    operation: "Update",
    time: context.time,
  });
};
