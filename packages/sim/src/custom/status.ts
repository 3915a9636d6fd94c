/** What a definition's status says: which names it got, and what has become of it. Pure. */
import { equal } from "../api/json.ts";
import { approvalCondition, approvalOf, isProtected } from "./approval.ts";
import {
  conditionOf,
  type Definition,
  type DefinitionCondition,
  type DefinitionStatus,
  type Names,
} from "./definition.ts";

/** A condition without the time since when it has been so. */
export type NewCondition = Omit<DefinitionCondition, "lastTransitionTime">;

/** A status with some conditions; the time of one changes only if its status does. */
export function withConditions(
  status: DefinitionStatus | undefined,
  conditions: readonly NewCondition[],
  time: string,
): DefinitionStatus {
  const result = [...(status?.conditions ?? [])];
  for (const condition of conditions) {
    const index = result.findIndex(({ type }) => type === condition.type);
    const known = result[index];
    if (!known) result.push({ ...condition, lastTransitionTime: time });
    else if (known.status !== condition.status) result[index] = { ...condition, lastTransitionTime: time };
    else result[index] = { ...known, ...condition };
  }
  return { ...status, conditions: result };
}

/** The names of the others in the group, which a definition must not take. */
export interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenBy(others: readonly Definition[]): Taken {
  const names = others.map(({ status }) => status?.acceptedNames).filter((each) => each !== undefined);
  return {
    resources: new Set(
      names.flatMap(({ plural, singular, shortNames }) => [plural, singular ?? "", ...(shortNames ?? [])]),
    ),
    kinds: new Set(names.flatMap(({ kind, listKind }) => [kind, listKind ?? ""])),
  };
}

/** The status of a definition that has been looked at: which of the names that it wants it gets. */
export function acceptedStatus(definition: Definition, taken: Taken, time: string): DefinitionStatus {
  const { spec, status, metadata } = definition;
  const { names, accepted } = namesFor(spec.names, status?.acceptedNames ?? { plural: "", kind: "" }, taken);
  const conditions: NewCondition[] = [accepted];
  if (accepted.status === "True") {
    conditions.push({
      type: "Established",
      status: "True",
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    });
  } else if (conditionOf(definition, "Established")?.status !== "True") {
    conditions.push({
      type: "Established",
      status: "False",
      reason: "NotAccepted",
      message: "not all names are accepted",
    });
  }
  if (isProtected(spec.group)) conditions.push(approvalCondition(approvalOf(metadata.annotations)));
  return { ...withConditions(status, conditions, time), acceptedNames: names };
}

function namesFor(wanted: Names, had: Names, taken: Taken): { readonly names: Names; readonly accepted: NewCondition } {
  const names: Names = { ...had };
  let [reason, message] = ["NoConflicts", "no conflicts found"];
  const conflict = (why: string, name: string) => {
    reason = why;
    message = `${JSON.stringify(name)} is already in use`;
  };
  const isFree = (name: string, own: string | undefined, others: ReadonlySet<string>) =>
    name === own || !others.has(name);
  const take = (field: "plural" | "singular" | "kind" | "listKind", why: string, others: ReadonlySet<string>) => {
    const name = wanted[field] ?? "";
    if (isFree(name, had[field], others)) names[field] = name;
    else conflict(why, name);
  };
  take("plural", "PluralConflict", taken.resources);
  take("singular", "SingularConflict", taken.resources);
  if (!equal(wanted.shortNames, had.shortNames)) {
    const busy = wanted.shortNames?.find((name) => !had.shortNames?.includes(name) && taken.resources.has(name));
    if (busy !== undefined) conflict("ShortNamesConflict", busy);
    else if (wanted.shortNames) names.shortNames = wanted.shortNames;
    else delete names.shortNames;
  }
  take("kind", "KindConflict", taken.kinds);
  take("listKind", "ListKindConflict", taken.kinds);
  if (wanted.categories) names.categories = wanted.categories;
  else delete names.categories;
  const status = reason === "NoConflicts" ? "True" : "False";
  return { names, accepted: { type: "NamesAccepted", status, reason, message } };
}
