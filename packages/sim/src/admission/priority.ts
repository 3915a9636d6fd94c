/** How important a pod is: its class says so, and only its class. */
import type { schedulingV1 } from "@berth/kube";
import type { Lookup } from "../api/resource.ts";
import type { Admission } from "../api/write.ts";
import type { LooseObject } from "../kinds/common/loose.ts";
import type { Pod } from "../kinds/pod/types.ts";
import { isPods, refused } from "./refused.ts";

type PriorityClass = LooseObject<schedulingV1.PriorityClass>;

const CLASSES = { group: "scheduling.k8s.io", plural: "priorityclasses" };
const NO_CLASS: PriorityClass = { metadata: {}, value: 0, preemptionPolicy: "PreemptLowerPriority" };

export const priority: Admission = {
  admit: (object, resource, { lookup }, operation, before) => {
    if (!isPods(resource) || operation === "delete") return;
    const pod: Pod = object;
    pod.spec ??= {};
    const { spec } = pod;
    if (operation === "update") {
      // Who leaves out what the server gave keeps it.
      const { spec: old = {} } = before as Pod;
      if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
      if (spec.preemptionPolicy === undefined && old.preemptionPolicy) spec.preemptionPolicy = old.preemptionPolicy;
      return;
    }
    const { priorityClassName: name } = spec;
    const found = name ? (lookup.get(CLASSES, name) as PriorityClass | undefined) : (defaultClass(lookup) ?? NO_CLASS);
    if (!found) throw refused(object, resource, `no PriorityClass with name ${name} was found`);
    const { value = 0, preemptionPolicy, metadata } = found;
    if (metadata.name) spec.priorityClassName = metadata.name;
    const not = (what: string, given: unknown, computed: unknown) => {
      const why = "must not be provided in pod spec; priority admission controller computed";
      return refused(object, resource, `${what} (${given}) ${why} ${computed} from the given PriorityClass name`);
    };
    if (spec.priority !== undefined && spec.priority !== value) {
      throw not("the integer value of priority", spec.priority, value);
    }
    spec.priority = value;
    if (preemptionPolicy === undefined) return;
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
      throw not("the string value of PreemptionPolicy", spec.preemptionPolicy, preemptionPolicy);
    }
    spec.preemptionPolicy = preemptionPolicy;
  },
  validate: (object, resource, { lookup }, operation) => {
    if (resource.plural !== CLASSES.plural || resource.group !== CLASSES.group) return;
    const { globalDefault, metadata }: PriorityClass = object;
    const other = globalDefault ? defaultClass(lookup)?.metadata.name : undefined;
    if (other === undefined || (operation === "update" && other === metadata.name)) return;
    const why = `PriorityClass ${other} is already marked as default. Only one default can exist`;
    throw refused(object, resource, why);
  },
};

/** The class of pods that name none: should there be several, the least important one. */
function defaultClass(lookup: Lookup): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const each of lookup.list<PriorityClass>(CLASSES)) {
    if (each.globalDefault && (!found || (each.value ?? 0) < (found.value ?? 0))) found = each;
  }
  return found;
}
