/** What it costs to run a pod with a runtime of its own, and where it can. */
import { Refusal } from "../api/refusal.ts";
import type { Admission } from "../api/write.ts";
import { isEmptyMap, own } from "../kinds/common/maps.ts";
import { same } from "../kinds/common/semantic.ts";
import type { RuntimeClass } from "../kinds/others/scheduling.ts";
import type { Pod } from "../kinds/pod/types.ts";
import { isPods, refused } from "./refused.ts";

const CLASSES = { group: "node.k8s.io", plural: "runtimeclasses" };

export const runtimeClass: Admission = {
  admit: (object, resource, { lookup }, operation) => {
    if (operation !== "create" || !isPods(resource)) return;
    const { spec }: Pod = object;
    const name = spec?.runtimeClassName;
    if (!spec || name === undefined) return;
    if (name === "") throw new Refusal(500, "", "resource name may not be empty");
    const found: RuntimeClass | undefined = lookup.get(CLASSES, name);
    if (!found) throw refused(object, resource, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    const { overhead, scheduling } = found;
    if (overhead?.podFixed) {
      if (!isEmptyMap(spec.overhead) && !same(spec.overhead, overhead.podFixed)) {
        const why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
        throw refused(object, resource, why);
      }
      spec.overhead = { ...overhead.podFixed };
    }
    if (!scheduling) return;
    for (const key in scheduling.nodeSelector) {
      const [wanted, given] = [scheduling.nodeSelector[key], own(spec.nodeSelector, key)];
      if (given === undefined || given === wanted) continue;
      const there = `runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}`;
      throw refused(object, resource, `conflict: ${there}; pod.spec.nodeSelector[${key}] = ${given}`);
    }
    if (scheduling.nodeSelector) spec.nodeSelector = { ...spec.nodeSelector, ...scheduling.nodeSelector };
    const added = scheduling.tolerations?.filter((each) => !spec.tolerations?.some((known) => same(known, each))) ?? [];
    if (added.length > 0) spec.tolerations = [...(spec.tolerations ?? []), ...added];
  },
  validate: (object, resource, { lookup }, operation) => {
    if (operation !== "create" || !isPods(resource)) return;
    const { overhead, runtimeClassName: name } = (object as Pod).spec ?? {};
    if (isEmptyMap(overhead)) return;
    const found = name === undefined ? undefined : (lookup.get(CLASSES, name) as RuntimeClass | undefined);
    if (found?.overhead?.podFixed) return;
    const why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    throw refused(object, resource, why);
  },
};
