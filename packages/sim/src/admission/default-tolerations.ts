/** A pod stays for five minutes on a node that is lost: it may come back. */
import { frozen } from "../api/json.ts";
import type { Admission } from "../api/write.ts";
import type { Pod, Toleration } from "../kinds/pod/types.ts";
import { isPods } from "./refused.ts";

const SECONDS = 300;
const KEYS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const ADDED: readonly Toleration[] = frozen(
  KEYS.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: SECONDS })),
);

export const defaultTolerations: Admission = {
  admit: (object, resource, _context, operation) => {
    if (!isPods(resource) || operation === "delete") return;
    const pod: Pod = object;
    pod.spec ??= {};
    const { spec } = pod;
    const tolerations = spec.tolerations ?? [];
    const added = ADDED.filter(({ key = "" }) => !tolerations.some((toleration) => covers(toleration, key)));
    if (added.length > 0) spec.tolerations = [...tolerations, ...added];
  },
};

function covers({ key, effect }: Toleration, wanted: string): boolean {
  return (!key || key === wanted) && (!effect || effect === "NoExecute");
}
