/** A new node takes no pods until somebody has seen that it is ready. */
import type { coreV1 } from "@berth/kube";
import type { Admission } from "../api/write.ts";
import type { LooseObject } from "../kinds/common/loose.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export const nodeTaint: Admission = {
  admit: (object, { storage }, _context, operation) => {
    if (operation !== "create" || storage !== "/nodes") return;
    const node = object as LooseObject<coreV1.Node>;
    const { taints = [] } = node.spec ?? {};
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    node.spec = { ...node.spec, taints: [...taints, { ...NOT_READY }] };
  },
};
