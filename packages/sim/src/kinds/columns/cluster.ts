/** What `kubectl get` shows of everything else: namespaces, events, rights, quotas … Pure. */
import type { AnyObject } from "../../api/json.ts";
import { anyTextAt, at, itemsAt, lengthAt, mapAt, numberAt, textAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { humanDuration, since } from "./ages.ts";
import { age, column, name, numbers, wide } from "./common.ts";

export const nameAndAge: readonly Column[] = [name, age];

export const namespaceColumns: readonly Column[] = [
  name,
  column("Status", (object) => textAt(object, "status", "phase")),
  age,
];

export const configMapColumns: readonly Column[] = [
  name,
  column("Data", (object) => lengthAt(object, "data") + lengthAt(object, "binaryData")),
  age,
];

export const secretColumns: readonly Column[] = [
  name,
  column("Type", (object) => textAt(object, "type")),
  column("Data", (object) => lengthAt(object, "data")),
  age,
];

/** When an event was first and last seen. There are two versions of events, and two ways to count them in each. */
function firstSeen(event: AnyObject, now: number): string {
  const first = at(event, "firstTimestamp") ?? at(event, "deprecatedFirstTimestamp");
  return since(first ?? at(event, "eventTime"), now);
}

function lastSeen(event: AnyObject, now: number): string {
  const series = textAt(event, "series", "lastObservedTime");
  if (at(event, "series")) return since(series, now);
  const last = at(event, "lastTimestamp") ?? at(event, "deprecatedLastTimestamp");
  return last ? since(last, now) : firstSeen(event, now);
}

const involved = (event: AnyObject) => at(event, "involvedObject") ?? at(event, "regarding");

function sourceText(event: AnyObject): string {
  const source = at(event, "source") ?? at(event, "deprecatedSource");
  const component =
    textAt(source, "component") || textAt(event, "reportingComponent") || textAt(event, "reportingController");
  const instance = textAt(source, "host") || textAt(event, "reportingInstance");
  return instance ? `${component}, ${instance}` : component;
}

export const eventColumns: readonly Column[] = [
  column("Last Seen", lastSeen),
  column("Type", (object) => textAt(object, "type")),
  column("Reason", (object) => textAt(object, "reason")),
  column("Object", (object) => {
    const [kind, target] = [textAt(involved(object), "kind").toLowerCase(), textAt(involved(object), "name")];
    return target ? `${kind}/${target}` : kind;
  }),
  wide("Subobject", (object) => textAt(involved(object), "fieldPath")),
  wide("Source", sourceText),
  column("Message", (object) => (textAt(object, "message") || textAt(object, "note")).trim()),
  wide("First Seen", firstSeen),
  wide("Count", (object) => {
    if (at(object, "series")) return numberAt(object, "series", "count");
    return numberAt(object, "count") || numberAt(object, "deprecatedCount") || 1;
  }),
  { ...name, priority: 1 },
];

export const leaseColumns: readonly Column[] = [
  name,
  column("Holder", (object) => textAt(object, "spec", "holderIdentity")),
  age,
];

export const priorityClassColumns: readonly Column[] = [
  name,
  numbers("Value", (object) => numberAt(object, "value")),
  column("Global-Default", (object) => at(object, "globalDefault") === true, "boolean"),
  age,
  column("PreemptionPolicy", (object) => textAt(object, "preemptionPolicy")),
];

export const runtimeClassColumns: readonly Column[] = [
  name,
  column("Handler", (object) => textAt(object, "handler")),
  age,
];

function quotaText(quota: AnyObject, limits: boolean): string {
  const names = Object.keys(mapAt(quota, "status", "hard")).filter((each) => each.startsWith("limits.") === limits);
  const amount = (part: string, resource: string) => anyTextAt(quota, "status", part, resource) ?? "0";
  return names
    .sort()
    .map((resource) => `${resource}: ${amount("used", resource)}/${amount("hard", resource)}`)
    .join(", ");
}

export const resourceQuotaColumns: readonly Column[] = [
  name,
  column("Request", (object) => quotaText(object, false)),
  column("Limit", (object) => quotaText(object, true)),
  age,
];

function subjectsText(binding: AnyObject, kind: string): string {
  const subjects = itemsAt(binding, "subjects").filter((subject) => subject.kind === kind);
  const named = (subject: Record<string, unknown>) =>
    kind === "ServiceAccount" && textAt(subject, "namespace")
      ? `${textAt(subject, "namespace")}/${textAt(subject, "name")}`
      : textAt(subject, "name");
  return subjects.map(named).join(", ");
}

export const bindingColumns: readonly Column[] = [
  name,
  column("Role", (object) => `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`),
  age,
  wide("Users", (object) => subjectsText(object, "User")),
  wide("Groups", (object) => subjectsText(object, "Group")),
  wide("ServiceAccounts", (object) => subjectsText(object, "ServiceAccount")),
];

function signingStatus(request: AnyObject): string {
  const types = itemsAt(request, "status", "conditions").map(({ type }) => type);
  return [
    types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending",
    ...(types.includes("Failed") ? ["Failed"] : []),
    ...(textAt(request, "status", "certificate") ? ["Issued"] : []),
  ].join(",");
}

export const signingRequestColumns: readonly Column[] = [
  name,
  age,
  column("SignerName", (object) => textAt(object, "spec", "signerName") || "<none>"),
  column("Requestor", (object) => textAt(object, "spec", "username")),
  column("RequestedDuration", (object) => {
    const seconds = at(object, "spec", "expirationSeconds");
    return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
  }),
  column("Condition", signingStatus),
];

export const webhookColumns: readonly Column[] = [
  name,
  numbers("Webhooks", (object) => lengthAt(object, "webhooks")),
  age,
];

const paramKind = column("ParamKind", (object) => {
  const kind = at(object, "spec", "paramKind");
  return kind ? `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}` : "<unset>";
});

export const validatingPolicyColumns: readonly Column[] = [
  name,
  numbers("Validations", (object) => lengthAt(object, "spec", "validations")),
  paramKind,
  age,
];

export const mutatingPolicyColumns: readonly Column[] = [
  name,
  numbers("Mutations", (object) => lengthAt(object, "spec", "mutations")),
  paramKind,
  age,
];

export const policyBindingColumns: readonly Column[] = [
  name,
  column("PolicyName", (object) => textAt(object, "spec", "policyName")),
  column("ParamRef", (object) => {
    const parameter = at(object, "spec", "paramRef");
    const named = textAt(parameter, "name");
    return named ? `${textAt(parameter, "namespace") || "*"}/${named}` : "<unset>";
  }),
  age,
];

export const resourceClaimColumns: readonly Column[] = [
  name,
  column("State", (object) => {
    const going = object.metadata.deletionTimestamp !== undefined;
    const allocated = at(object, "status", "allocation") !== undefined;
    const reserved = allocated && lengthAt(object, "status", "reservedFor") > 0;
    return [
      ...(going ? ["deleted"] : []),
      ...(allocated ? ["allocated"] : going ? [] : ["pending"]),
      ...(reserved ? ["reserved"] : []),
    ].join(",");
  }),
  age,
];

export const resourceSliceColumns: readonly Column[] = [
  name,
  column("Node", (object) => textAt(object, "spec", "nodeName")),
  column("Driver", (object) => textAt(object, "spec", "driver")),
  column("Pool", (object) => textAt(object, "spec", "pool", "name")),
  age,
];

export const componentStatusColumns: readonly Column[] = [
  name,
  column("Status", (object) => {
    const healthy = itemsAt(object, "conditions").find(({ type }) => type === "Healthy");
    return healthy ? (healthy.status === "True" ? "Healthy" : "Unhealthy") : "Unknown";
  }),
  column("Message", (object) => textAt(itemsAt(object, "conditions")[0], "message")),
  column("Error", (object) => textAt(itemsAt(object, "conditions")[0], "error")),
];

export const flowSchemaColumns: readonly Column[] = [
  name,
  column("PriorityLevel", (object) => textAt(object, "spec", "priorityLevelConfiguration", "name")),
  column("MatchingPrecedence", (object) => numberAt(object, "spec", "matchingPrecedence")),
  column("DistinguisherMethod", (object) => textAt(object, "spec", "distinguisherMethod", "type") || "<none>"),
  age,
  column("MissingPL", (object) => {
    const dangling = itemsAt(object, "status", "conditions").find(({ type }) => type === "Dangling");
    return textAt(dangling, "status") || "?";
  }),
];

export const signedBundleColumns: readonly Column[] = [
  name,
  column("SignerName", (object) => textAt(object, "spec", "signerName") || "<none>"),
];
