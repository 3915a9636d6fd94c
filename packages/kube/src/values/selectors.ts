/** Label and field selectors: read from text or from an object, matched against objects, written as a query wants them. */
import { KubeError } from "../errors.ts";

/** One requirement on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  /** Sorted, without doubles; one number for Gt and Lt; empty for Exists and DoesNotExist. */
  readonly values: readonly string[];
}

/** A selector as it stands in a spec: what a Deployment or an affinity term has. */
export interface LabelSelectorSpec {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** All requirements must hold; one without any holds for everything. */
export class LabelSelector {
  readonly requirements: readonly LabelRequirement[];

  private constructor(requirements: readonly LabelRequirement[]) {
    this.requirements = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  static readonly everything = new LabelSelector([]);

  /** Reads `app=web,tier in (a, b),!old,cpu > 4`, as kubectl's `-l` and the API's `labelSelector` do. */
  static parse(text: string): LabelSelector {
    return new LabelSelector(splitOutsideBrackets(text).map(parseRequirement));
  }

  /** Of whatever form: a text, a selector, or one out of a spec. */
  static from(selector: string | LabelSelector | LabelSelectorSpec): LabelSelector {
    if (selector instanceof LabelSelector) return selector;
    return typeof selector === "string" ? LabelSelector.parse(selector) : LabelSelector.fromSpec(selector);
  }

  /** Reads a selector out of a spec. An empty object selects everything. */
  static fromSpec({ matchLabels = {}, matchExpressions = [] }: LabelSelectorSpec): LabelSelector {
    const labels = Object.entries(matchLabels).map(([key, value]) => requirement(key, "In", [value]));
    const operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] as const;
    const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
      const known = operators.find((candidate) => candidate === operator);
      if (!known) throw new KubeError("KUBE_SELECTOR_INVALID", `there is no selector operator "${operator}"`);
      return requirement(key, known, values);
    });
    return new LabelSelector([...labels, ...expressions]);
  }

  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    return this.requirements.every((requirement) => holds(requirement, labels ?? {}));
  }

  /** As a query parameter. Equal selectors are written the same. */
  toString(): string {
    return this.requirements.map(requirementText).join(",");
  }
}

/** Equalities on fields: `spec.nodeName=n1,status.phase!=Running`. Which fields there are is the server's business. */
export class FieldSelector {
  readonly requirements: readonly { readonly field: string; readonly equal: boolean; readonly value: string }[];

  private constructor(requirements: FieldSelector["requirements"]) {
    this.requirements = requirements;
  }

  static parse(text: string): FieldSelector {
    const terms = text.split(/(?<!\\),/).filter((term) => term.trim() !== "");
    return new FieldSelector(
      terms.map((term) => {
        const [, field, operator, value] = term.match(/^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/) ?? [];
        if (field === undefined || value === undefined)
          throw new KubeError("KUBE_SELECTOR_INVALID", `"${term}" is not a field requirement`);
        return { field, equal: operator !== "!=", value: value.replaceAll(/\\([\\,=])/g, "$1") };
      }),
    );
  }

  /** Whether an object's fields fit; `read` gives a field's text, and "" for one that is not there. */
  matches(read: (field: string) => string): boolean {
    return this.requirements.every(({ field, equal, value }) => (read(field) === value) === equal);
  }

  toString(): string {
    return this.requirements
      .map(({ field, equal, value }) => `${field}${equal ? "=" : "!="}${value.replaceAll(/[\\,=]/g, "\\$&")}`)
      .join(",");
  }
}

/** Reads a field by its path, for `FieldSelector.matches`. */
export function fieldOf(object: unknown, path: string): string {
  let value = object;
  for (const part of path.split(".")) value = (value as Record<string, unknown> | undefined)?.[part];
  return value === undefined || value === null ? "" : String(value);
}

function holds({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      if (value === undefined || !isInteger(value)) return false;
      const [left, right] = [BigInt(value), BigInt(values[0] as string)];
      return operator === "Gt" ? left > right : left < right;
    }
  }
}

function requirement(key: string, operator: LabelRequirement["operator"], values: readonly string[]): LabelRequirement {
  if (!isLabelKey(key)) throw new KubeError("KUBE_SELECTOR_INVALID", `"${key}" is not the name of a label`);
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) throw new KubeError("KUBE_SELECTOR_INVALID", `"${wrong}" is not the value of a label`);
  const count = values.length;
  if ((operator === "In" || operator === "NotIn") && count === 0) {
    throw new KubeError("KUBE_SELECTOR_INVALID", `"${key}": ${operator} needs at least one value`);
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && count > 0) {
    throw new KubeError("KUBE_SELECTOR_INVALID", `"${key}": ${operator} takes no values`);
  }
  if ((operator === "Gt" || operator === "Lt") && !(count === 1 && isInteger(values[0] as string))) {
    throw new KubeError("KUBE_SELECTOR_INVALID", `"${key}": ${operator} needs one whole number`);
  }
  return { key, operator, values: [...new Set(values)].sort() };
}

function parseRequirement(text: string): LabelRequirement {
  const term = text.trim();
  const [, absent] = term.match(/^!\s*(\S+)$/) ?? [];
  if (absent !== undefined) return requirement(absent, "DoesNotExist", []);
  const [, setKey, setOperator, list] = term.match(/^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/) ?? [];
  if (setKey !== undefined && list !== undefined) {
    return requirement(
      setKey,
      setOperator === "in" ? "In" : "NotIn",
      list.split(",").map((value) => value.trim()),
    );
  }
  const [, key, operator, value] = term.match(/^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*([^\s=!<>]*)$/) ?? [];
  if (key !== undefined && value !== undefined) {
    const operators = { "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt" } as const;
    return requirement(key, operators[operator as keyof typeof operators], [value]);
  }
  return requirement(term, "Exists", []);
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
  }
}

/** The comma is also what separates the values of a set. */
function splitOutsideBrackets(text: string): string[] {
  if (text.trim() === "") return [];
  return text.split(/,(?![^()]*\))/);
}

function isInteger(text: string): boolean {
  return /^[+-]?\d+$/.test(text);
}

const NAME = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

function isLabelKey(key: string): boolean {
  const [first = "", second, ...more] = key.split("/");
  if (more.length > 0) return false;
  return second === undefined ? NAME.test(first) : PREFIX.test(first) && NAME.test(second);
}

function isLabelValue(value: string): boolean {
  return value === "" || NAME.test(value);
}
