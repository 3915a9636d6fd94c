/** The rules of pods. */
import type { Rules } from "../../api/resource.ts";
import { beginPod, checkNewPod, dropUnserved } from "./create.ts";
import { defaultPod } from "./defaults.ts";
import { checkStatus, keepStatus } from "./status.ts";
import type { Pod } from "./types.ts";
import { checkChangedPod } from "./update.ts";

export const podRules: Rules = {
  keepsStatus: true,
  leavesFrozen: true,
  default: (pod: Pod) => defaultPod(pod),
  prepareForCreate: (pod: Pod, context) => beginPod(pod, context),
  validate: (pod: Pod, errors) => checkNewPod(pod, errors),
  prepareForUpdate: ({ spec }: Pod) => {
    if (spec) dropUnserved(spec);
  },
  validateUpdate: (pod: Pod, before: Pod, errors) => checkChangedPod(pod, before, errors),
  prepareForStatusUpdate: (pod: Pod, before: Pod) => keepStatus(pod, before),
  validateStatusUpdate: (pod: Pod, before: Pod, errors) => checkStatus(pod, before, errors),
  fields: (pod: Pod) => podFields(pod),
  gracePeriod: (pod: Pod, asked) => podGrace(pod, asked),
};

function podFields({ spec = {}, status = {} }: Pod): Record<string, string> {
  return {
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "",
    "spec.hostNetwork": String(spec.hostNetwork ?? false),
    "status.phase": status.phase ?? "",
    "status.podIP": status.podIP ?? "",
    "status.nominatedNodeName": status.nominatedNodeName ?? "",
  };
}

/** A pod that nobody runs, or that has ended, needs no notice. */
function podGrace({ spec = {}, status = {} }: Pod, asked: number | undefined): number {
  if (!spec.nodeName || status.phase === "Failed" || status.phase === "Succeeded") return 0;
  const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
