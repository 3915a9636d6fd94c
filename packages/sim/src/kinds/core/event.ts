/** The rules of events, under both of their names. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { AnyObject } from "../../api/json.ts";
import { nameProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkQualified, checkUnchanged } from "../common/formats.ts";
import { same } from "../common/semantic.ts";

/** An event, whatever its fields are called. */
interface View {
  readonly involvedObject: Readonly<Record<string, string | undefined>>;
  readonly eventTime: unknown;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly series: { readonly count?: number; readonly lastObservedTime?: unknown } | undefined;
  readonly source: Readonly<Record<string, string | undefined>>;
}

type Names = Readonly<Record<"object" | "component" | "message" | "source", string>>;

const OLD: Names = { object: "involvedObject", component: "reportingComponent", message: "message", source: "source" };
const NEW: Names = {
  object: "regarding",
  component: "reportingController",
  message: "note",
  source: "deprecatedSource",
};

function viewOf(event: AnyObject, names: Names): View {
  const text = (name: string) => (typeof event[name] === "string" ? event[name] : "");
  return {
    involvedObject: (event[names.object] ?? {}) as View["involvedObject"],
    eventTime: event.eventTime ?? undefined,
    reportingComponent: text(names.component),
    reportingInstance: text("reportingInstance"),
    action: text("action"),
    reason: text("reason"),
    message: text(names.message),
    type: text("type"),
    series: (event.series ?? undefined) as View["series"],
    source: (event[names.source] ?? {}) as View["source"],
  };
}

export const eventRules: Rules = {
  names: "segment",
  generation: false,
  validate: (event, errors) => checkEvent(event, OLD, errors),
  validateUpdate: (event, _before, errors) => checkEvent(event, OLD, errors),
  fields: (event) => eventFields(event, OLD),
};

/** What cannot change under the newer name, and what it is called in errors. */
const UNCHANGING = [
  ["regarding", "involvedObject"],
  ["reason", "reason"],
  ["note", "message"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingController", "reportingController"],
  ["reportingInstance", "reportingInstance"],
] as const;

export const newEventRules: Rules = {
  generation: false,
  validate: (event, errors) => {
    checkEvent(event, NEW, errors);
    const { eventTime, type, series, source } = viewOf(event, NEW);
    checkSeries(series, errors);
    if (eventTime === undefined) errors.required("eventTime");
    if (type !== "Normal" && type !== "Warning") errors.invalid("type", "", `has invalid value: ${type}`);
    const unset = "needs to be unset";
    if (event.deprecatedFirstTimestamp) errors.invalid("firstTimestamp", "", unset);
    if (event.deprecatedLastTimestamp) errors.invalid("lastTimestamp", "", unset);
    if (event.deprecatedCount) errors.invalid("count", "", unset);
    if (source.component || source.host) errors.invalid("source", "", unset);
  },
  validateUpdate: (event, before, errors) => {
    checkEvent(event, NEW, errors);
    if (!same(event.series, before.series)) checkSeries(viewOf(event, NEW).series, errors);
    for (const [name, field] of UNCHANGING) checkUnchanged(same(event[name], before[name]), event[name], field, errors);
  },
  fields: (event) => eventFields(event, NEW),
};

function checkSeries(series: View["series"], errors: FieldErrors): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) errors.invalid("series.count", "", "should be at least 2");
  if (!series.lastObservedTime) errors.required("series.lastObservedTime");
}

const LONGEST = 128;
const LONGEST_MESSAGE = 1024;

function checkEvent(event: AnyObject, names: Names, errors: FieldErrors): void {
  const view = viewOf(event, names);
  const { namespace = "" } = event.metadata;
  const of = view.involvedObject.namespace ?? "";
  const mismatch = () => errors.invalid("involvedObject.namespace", of, "does not match event.namespace");
  const isOld = view.eventTime === undefined;
  if (of === "") {
    const allowed = isOld ? ["", "default"] : ["default", "kube-system"];
    if (!allowed.includes(namespace)) mismatch();
  } else if (isOld && of !== namespace) mismatch();
  if (!isOld) checkNewer(view, names.component, errors);
  for (const problem of nameProblems(namespace, "subdomain")) errors.invalid("namespace", namespace, problem);
}

/** Events with a time of their own say more, and must. */
function checkNewer(view: View, component: string, errors: FieldErrors): void {
  const longest = (field: "reportingInstance" | "action" | "reason" | "message", limit: number) => {
    if (view[field].length > limit) errors.invalid(field, "", `can have at most ${limit} characters`);
  };
  if (!view.reportingComponent) errors.required(component);
  checkQualified(view.reportingComponent, component, errors);
  for (const field of ["reportingInstance", "action", "reason"] as const) {
    if (!view[field]) errors.required(field);
    longest(field, LONGEST);
  }
  longest("message", LONGEST_MESSAGE);
}

function eventFields(event: AnyObject, names: Names): Record<string, string> {
  const { involvedObject: of, reason, reportingComponent, source, type } = viewOf(event, names);
  const component = source.component || reportingComponent;
  const fields: Record<string, string> = { reason, reportingComponent, source: component, type };
  for (const name of ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"]) {
    fields[`involvedObject.${name}`] = of[name] ?? "";
    if (names === NEW) fields[`regarding.${name}`] = of[name] ?? "";
  }
  if (names === NEW) fields.reportingController = reportingComponent;
  return fields;
}
