/** The rules of priority classes and of classes of runtimes. */
import type { coreV1, ObjectMeta, schedulingV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkLabels } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkChoice, checkLabel, checkUnchanged } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";
import { own } from "../common/maps.ts";
import { roundResources } from "../common/quantities.ts";
import { textsOf } from "../common/selectors.ts";
import { checkOverhead } from "../pod/resources.ts";
import { checkTolerations } from "../pod/tolerations.ts";

type PriorityClass = LooseObject<schedulingV1.PriorityClass>;
export type RuntimeClass = LooseObject<{
  metadata: ObjectMeta;
  handler: string;
  overhead?: { podFixed?: Record<string, string> };
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: coreV1.Toleration[] };
}>;

/** The highest that is not kept for the system. */
export const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

export const priorityClassRules: Rules = {
  generation: true,
  default: (kind: PriorityClass) => {
    kind.preemptionPolicy ??= "PreemptLowerPriority";
  },
  validate: (kind: PriorityClass, errors) => {
    const { value = 0, metadata, preemptionPolicy } = kind;
    const { name = "" } = metadata;
    if (name.startsWith("system-")) checkSystem(kind, name, errors);
    else if (value > HIGHEST_PRIORITY) {
      errors.forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`);
    }
    checkChoice(preemptionPolicy, ["PreemptLowerPriority", "Never"], "preemptionPolicy", errors);
  },
  validateUpdate: (kind: PriorityClass, before: PriorityClass, errors) => {
    if ((kind.value ?? 0) !== (before.value ?? 0)) errors.forbidden("value", "may not be changed in an update.");
    const isSame = kind.preemptionPolicy === before.preemptionPolicy;
    checkUnchanged(isSame, kind.preemptionPolicy, "preemptionPolicy", errors);
  },
};

/** Names that are kept for the system's own. */
function checkSystem({ value = 0, globalDefault }: PriorityClass, name: string, errors: FieldErrors): void {
  const expected = own(SYSTEM, name);
  const known = `${name} is not a known system priority class`;
  const problem =
    expected === undefined
      ? known
      : value !== expected
        ? `value of ${name} PriorityClass must be ${expected}`
        : globalDefault
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined;
  if (problem === undefined) return;
  const reserved = "priority class names with 'system-' prefix are reserved for system use only";
  errors.forbidden("metadata.name", `${reserved}. error: ${problem}`);
}

export const runtimeClassRules: Rules = {
  needsVersion: true,
  default: ({ overhead }: RuntimeClass) => roundResources(overhead?.podFixed),
  validate: ({ handler, overhead, scheduling }: RuntimeClass, errors) => {
    if (!handler) errors.required("handler");
    else checkLabel(handler, "handler", errors);
    if (overhead?.podFixed) checkOverhead(overhead.podFixed, "overhead", errors);
    if (!scheduling) return;
    checkLabels(textsOf(scheduling.nodeSelector), "scheduling.nodeSelector", errors);
    checkTolerations(scheduling.tolerations ?? [], "scheduling.tolerations", errors);
  },
  validateUpdate: (kind: RuntimeClass, before: RuntimeClass, errors) => {
    checkUnchanged(kind.handler === before.handler, kind.handler, "handler", errors);
  },
};
