/** Whether the rules in a definition's schema can be evaluated at all: they are compiled, with the types of what they see. */
import type { FieldErrors } from "../api/field-errors.ts";
import { type CompiledRule, type RulePlan, rulePlan } from "../schema/cel/rules.ts";
import type { CelRule } from "../schema/schema.ts";
import type { JsonSchema } from "./definition.ts";
import { schemaNode } from "./schema-node.ts";

/** Adds what is wrong. The schema itself must be good: otherwise there are no types. */
export function checkRuleTexts(schema: JsonSchema, path: string, errors: FieldErrors): void {
  const plan = rulePlan(schemaNode(schema));
  if (plan) checkPlan(plan, path, undefined, errors);
}

/** @param strangers - The outermost list whose items cannot be told apart from one write to the next. */
function checkPlan(plan: RulePlan, path: string, strangers: string | undefined, errors: FieldErrors): void {
  for (const [key, field] of plan.fields) checkPlan(field, `${path}.properties[${key}]`, strangers, errors);
  if (plan.element) {
    const isArray = plan.node.type === "array";
    const inside = strangers ?? (isArray && plan.node.listType !== "map" ? path : undefined);
    checkPlan(plan.element, `${path}.${isArray ? "items" : "additionalProperties"}`, inside, errors);
  }
  for (const [index, rule] of plan.rules.entries()) {
    checkCompiled(rule, `${path}.x-kubernetes-validations[${index}]`, strangers, errors);
  }
}

function checkCompiled(compiled: CompiledRule, path: string, strangers: string | undefined, errors: FieldErrors): void {
  const { rule, problem, messageProblem, usesOldSelf } = compiled;
  if (problem !== undefined) addInvalid(`${path}.rule`, rule, problem, errors);
  if (messageProblem !== undefined) {
    addInvalid(
      `${path}.messageExpression`,
      rule,
      messageProblem.replace(/^cel expression/, "messageExpression"),
      errors,
    );
  }
  if (usesOldSelf && strangers !== undefined) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${strangers}`;
    errors.invalid(`${path}.rule`, rule.rule, why);
  }
  if (problem === undefined && !usesOldSelf && rule.optionalOldSelf !== undefined) {
    const why = "may not be set if oldSelf is not used in rule";
    errors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, why);
  }
}

/** The real server shows the rule as its program has it. */
function addInvalid(field: string, rule: CelRule, why: string, errors: FieldErrors): void {
  const { message = "", messageExpression = "", reason = null, fieldPath = "", optionalOldSelf = null } = rule;
  const shown = {
    Rule: rule.rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  };
  const text = JSON.stringify(shown).replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  errors.causes.push({ reason: "FieldValueInvalid", message: `Invalid value: ${text}: ${why}`, field });
}
