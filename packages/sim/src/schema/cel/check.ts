/** Whether a custom resource's object keeps the rules of its definition, in the words of the real server. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { equal, isObject } from "../../api/json.ts";
import { correlated } from "../correlation.ts";
import type { CelRule, SchemaNode } from "../schema.ts";
import { type CompiledRule, firstLine, type RulePlan } from "./rules.ts";

/** Adds what is wrong. @param old - What was at this place before; `undefined` if there was nothing, or nobody can tell. */
export function checkRules(value: unknown, old: unknown, plan: RulePlan, path: string, errors: FieldErrors): void {
  if (value === null || value === undefined) return;
  if (plan.rules.length > 0) {
    // What is the very same as before may stay so: only rules about changes have anything to say of it.
    const rules = old !== undefined && value === old ? plan.rules.filter(isAboutChanges) : plan.rules;
    if (rules.length > 0) {
      const oldSelf = plan.seesOld ? plan.seen(old) : undefined;
      const place: Place = { value, old, self: plan.seen(value), oldSelf, node: plan.node, path };
      for (const rule of rules) checkRule(rule, place, errors);
    }
  }
  if (Array.isArray(value)) {
    if (!plan.element) return;
    const oldItem = correlated(old, plan.node);
    for (const [index, item] of value.entries()) {
      checkRules(item, oldItem(item), plan.element, `${path}[${index}]`, errors);
    }
  } else if (isObject(value)) {
    const before = isObject(old) ? old : undefined;
    for (const key in value) {
      const field = plan.fields.get(key);
      const inside = field ?? (plan.node.type === "map" ? plan.element : undefined);
      if (!inside) continue;
      const oldValue = before && Object.hasOwn(before, key) ? before[key] : undefined;
      checkRules(value[key], oldValue, inside, field ? joined(path, key) : `${path}[${key}]`, errors);
    }
  }
}

const isAboutChanges = ({ usesOldSelf, problem }: CompiledRule) => usesOldSelf || problem !== undefined;

const joined = (path: string, key: string) => (path === "" ? key : `${path}.${key}`);

/** What rules are asked about: as it is, and as they see it. */
interface Place {
  readonly value: unknown;
  readonly old: unknown;
  readonly self: unknown;
  readonly oldSelf: unknown;
  readonly node: SchemaNode;
  readonly path: string;
}

function checkRule(
  compiled: CompiledRule,
  { value, old, self, oldSelf, node, path }: Place,
  errors: FieldErrors,
): void {
  const { rule, usesOldSelf, problem } = compiled;
  const place = path === "" ? "<nil>" : path;
  if (problem !== undefined) {
    errors.invalid(place, typeName(node), `rule compile error: ${problem}`);
    return;
  }
  // Rules about changes are for changes.
  if (usesOldSelf && oldSelf === undefined && !rule.optionalOldSelf) return;
  try {
    if (compiled.holds(self, oldSelf) === true) return;
  } catch (error) {
    errors.invalid(place, typeName(node), evaluationText(firstLine(error), rule));
    return;
  }
  // What was wrong before may stay as it was.
  if (!usesOldSelf && old !== undefined && equal(value, old)) return;
  const message = compiled.message(self, oldSelf) ?? (rule.message?.trim() || `failed rule: ${rule.rule.trim()}`);
  addFailure(value, rule, node, rule.fieldPath ? fieldAt(rule.fieldPath, path, node) : place, message, errors);
}

function addFailure(
  value: unknown,
  { reason }: CelRule,
  node: SchemaNode,
  field: string,
  message: string,
  errors: FieldErrors,
): void {
  if (reason === "FieldValueForbidden") errors.forbidden(field, message);
  else if (reason === "FieldValueRequired") errors.required(field, message);
  else {
    const [word, type] =
      reason === "FieldValueDuplicate"
        ? ["Duplicate value", "FieldValueDuplicate"]
        : ["Invalid value", "FieldValueInvalid"];
    const isShown = !["object", "map", "array"].includes(node.type);
    const shown = isShown ? `: ${JSON.stringify(value)}` : "";
    const why = reason === "FieldValueDuplicate" ? "" : `: ${message}`;
    errors.causes.push({ reason: type, message: `${word}${shown}${why}`, field });
  }
}

/** ".x['y']" below a place as errors name it: "spec.x.y", or "spec.x[y]" if x is a map. */
function fieldAt(fieldPath: string, path: string, node: SchemaNode): string {
  let [result, place]: [string, SchemaNode | undefined] = [path, node];
  for (const [, plain, quoted] of fieldPath.trim().matchAll(/\.([^.[]+)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    const name = plain ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? "";
    const isMap: boolean = place?.type === "map";
    result = isMap ? `${result}[${name}]` : joined(result, name);
    place = isMap ? place?.element : place?.fields?.[name];
  }
  return result;
}

function typeName({ type }: SchemaNode): string {
  return type === "map" ? "object" : type === "intOrString" || type === "any" ? "" : type;
}

function evaluationText(problem: string, rule: CelRule): string {
  const what = rule.message?.trim() || rule.rule.trim();
  if (/overload/i.test(problem)) {
    const why = "call arguments did not match a supported operator, function or macro signature";
    return `'no such overload': ${why} for rule: ${what}`;
  }
  return `${inOtherWords(problem)} evaluating rule: ${what}`;
}

/** As the real server's CEL says it. */
function inOtherWords(problem: string): string {
  const [, index] = problem.match(/index out of bounds, index (-?\d+)/) ?? [];
  if (index !== undefined) return `index out of bounds: ${index}`;
  return problem
    .replace(/^No such key/, "no such key")
    .replace(/^integer overflow:.*/, "integer overflow")
    .replace(/^(\w+)\(\) .*error.*/, "type conversion error from 'string' to '$1'");
}
