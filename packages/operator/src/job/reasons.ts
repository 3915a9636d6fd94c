/** Which jobs have another reason to wait than before, as Schedulings tell it: a long queue is not looked at whenever its head moves. */
import { keyOf, keyText, type Mapper, type ObjectKey } from "@berth/kube";
import type { Scheduling } from "@berth/model";

export function reasonsThatChanged(): Mapper<Scheduling> {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return (scheduling) => {
    const key = keyText(keyOf(scheduling));
    const reasons = new Map<string, string>();
    const changed: ObjectKey[] = [];
    for (const { name, namespace = scheduling.metadata.namespace, phase, message = "" } of scheduling.status?.jobs ??
      []) {
      if (phase !== "Waiting") continue;
      const job = { namespace, name };
      reasons.set(keyText(job), message);
      if (known.get(key)?.get(keyText(job)) !== message) changed.push(job);
    }
    if (scheduling.status?.completionTime === undefined) known.set(key, reasons);
    else known.delete(key);
    return changed;
  };
}
