/**
 * A real API server's audit log, as a series of changes. Pure.
 *
 * It is written in the order of answers, and not in that of changes. So that nobody is accused wrongly, a pod counts as bound
 * from the moment when that was answered, and as gone from the moment when that was asked for.
 */
import type { AuditEvent } from "@berth/cluster";
import type { AnyObject, Audit, Happened } from "./audit.ts";

/** Bodies of what is looked at, and nothing else. */
export const AUDIT_POLICY = {
  omitManagedFields: true,
  rules: [
    {
      level: "RequestResponse",
      verbs: ["create", "update", "patch", "delete"],
      resources: [
        { group: "", resources: ["pods", "pods/binding", "pods/status", "pods/eviction"] },
        { group: "berth.dev", resources: ["slots", "batchjobs"] },
      ],
    },
    { level: "None" },
  ],
};

type Recorded = AuditEvent & { readonly requestObject?: AnyObject; readonly responseObject?: AnyObject };

export function readInto(audit: Audit, log: readonly AuditEvent[]): void {
  const changes = (log as readonly Recorded[])
    .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
    .flatMap((event) => {
      const isEnd = isGone(event);
      const time = isEnd ? event.requestReceivedTimestamp : event.stageTimestamp;
      return [{ event, isEnd, time }];
    })
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  for (const { event, isEnd, time } of changes) {
    const { resource = "", namespace = "", name, subresource } = event.objectRef ?? {};
    const key = `${namespace}/${name ?? event.responseObject?.metadata?.name}`;
    const happened: Happened = { time, resource, key, object: undefined };
    if (isEnd) audit.heard(happened);
    else if (subresource === "binding") audit.heard({ ...happened, object: bound(audit.get(resource, key), event) });
    else if (event.responseObject?.metadata?.name) audit.heard({ ...happened, object: event.responseObject });
  }
}

function bound(pod: AnyObject, { requestObject }: Recorded): AnyObject {
  return { ...pod, spec: { ...pod?.spec, nodeName: requestObject?.target?.name } };
}

/** Whether nothing is left of an object after a request, or, of a pod, nothing that runs. */
function isGone({ verb, objectRef, responseObject }: Recorded): boolean {
  if (objectRef?.subresource === "binding" || objectRef?.subresource === "eviction") return false;
  const { metadata, status, kind } = responseObject ?? {};
  if (verb === "delete" && kind === "Status") return true;
  if (objectRef?.resource === "pods" && (status?.phase === "Succeeded" || status?.phase === "Failed")) return true;
  return metadata?.deletionTimestamp && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds;
}
