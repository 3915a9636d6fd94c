/**
 * A real API server's audit log, as a series of changes. Pure.
 *
 * It is written in the order of answers, and not in that of changes. So that nobody is accused wrongly, a pod counts as bound
 * from the moment when that was answered, and everything else as so from the moment when it was asked for. Of two states of an
 * object the later one counts. What somebody asked for who was killed before it was answered is not recorded: it shows in the next
 * state of the object.
 */
import type { AuditEvent } from "@berth/cluster";
import { type AnyObject, type Audit, type Happened, PROVISIONAL } from "./audit.ts";

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
    .map((event) => {
      const isBinding = event.objectRef?.subresource === "binding";
      const time = isBinding ? event.stageTimestamp : event.requestReceivedTimestamp;
      return { event, isEnd: isGone(event), time };
    })
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  for (const { event, isEnd, time } of changes) {
    const { resource = "", namespace = "", name, subresource } = event.objectRef ?? {};
    const key = `${namespace}/${name ?? event.responseObject?.metadata?.name}`;
    const happened: Happened = { time, resource, key, object: undefined };
    if (isEnd) audit.heard(happened);
    else if (subresource === "binding") {
      const pod = audit.get(resource, key); // none if it was deleted in this very moment
      if (pod) audit.heard({ ...happened, object: bound(pod, event) });
    } else if (versionOf(event.responseObject) > versionOf(audit.get(resource, key))) {
      audit.heard({ ...happened, object: event.responseObject });
    }
  }
}

/** 0 for what is no object. */
function versionOf(object: AnyObject): number {
  return Number(object?.metadata?.resourceVersion ?? 0);
}

function bound(pod: AnyObject, { requestObject }: Recorded): AnyObject {
  return { ...pod, spec: { ...pod.spec, nodeName: requestObject?.target?.name }, [PROVISIONAL]: true };
}

/** Whether nothing is left of an object after a request, or, of a pod, nothing that runs. */
function isGone({ verb, objectRef, responseObject }: Recorded): boolean {
  if (objectRef?.subresource === "binding" || objectRef?.subresource === "eviction") return false;
  const { metadata, status, kind } = responseObject ?? {};
  if (verb === "delete" && kind === "Status") return true;
  if (objectRef?.resource === "pods" && (status?.phase === "Succeeded" || status?.phase === "Failed")) return true;
  return metadata?.deletionTimestamp && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds;
}
