/** The rules of a definition, compiled: which place has which, and what is wrong with those that cannot be. */
import { type ASTNode, type Environment, Optional, type ParseResult, type TypeCheckResult } from "@marcbachmann/cel-js";
import type { CelRule, SchemaNode } from "../schema.ts";
import { PlaceTypes } from "./environment.ts";
import { celValue } from "./values.ts";

/** The rules of a place, and of what is inside of it; only places that have any are in it. */
export interface RulePlan {
  readonly node: SchemaNode;
  readonly rules: readonly CompiledRule[];
  readonly fields: ReadonlyMap<string, RulePlan>;
  readonly element: RulePlan | undefined;
  /** What is at the place, as its rules see it; `undefined` if there is nothing. */
  seen(value: unknown): unknown;
  /** Whether any of the rules, or what they say, speaks of what was there before. */
  readonly seesOld: boolean;
}

/** A rule that can be evaluated, or that cannot. What it is asked about is what `seen` gave. */
export interface CompiledRule {
  readonly rule: CelRule;
  readonly usesOldSelf: boolean;
  /** What is wrong with the rule. */
  readonly problem?: string;
  readonly messageProblem?: string;
  /** Throws if it cannot be told. */
  holds(self: unknown, oldSelf: unknown): unknown;
  /** `undefined` if there is none, or none that makes sense. */
  message(self: unknown, oldSelf: unknown): string | undefined;
}

const plans = new WeakMap<SchemaNode, { readonly plan: RulePlan | undefined }>();

/** The plan of a whole schema, which is made once; `undefined` if it has no rules. */
export function rulePlan(schema: SchemaNode): RulePlan | undefined {
  let known = plans.get(schema);
  if (!known) {
    known = { plan: planOf(withMeta(schema)) };
    plans.set(schema, known);
  }
  return known.plan;
}

const text: SchemaNode = { type: "string" };
const meta: Readonly<Record<string, SchemaNode>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: "object", fields: { name: text, generateName: text } },
};

/** Of what all objects have, rules see the type and the name. */
function withMeta(node: SchemaNode): SchemaNode {
  return { ...node, fields: { ...node.fields, ...meta } };
}

function planOf(node: SchemaNode): RulePlan | undefined {
  const types = node.validation?.rules?.length ? new PlaceTypes(node) : undefined;
  const rules = types ? (node.validation?.rules?.map((rule) => compiled(rule, types)) ?? []) : [];
  const fields = new Map<string, RulePlan>();
  for (const [key, field] of Object.entries(node.fields ?? {})) {
    const plan = planOf(field.embedded ? withMeta(field) : field);
    if (plan) fields.set(key, plan);
  }
  const element = node.element && planOf(node.element.embedded ? withMeta(node.element) : node.element);
  if (rules.length === 0 && fields.size === 0 && !element) return undefined;
  const seen = (value: unknown) =>
    value === undefined || value === null || !types ? undefined : celValue(value, node, types);
  const seesOld = rules.some(({ rule }) => `${rule.rule} ${rule.messageExpression ?? ""}`.includes("oldSelf"));
  return { node, rules, fields, element, seen, seesOld };
}

function compiled(rule: CelRule, types: PlaceTypes): CompiledRule {
  const env = types.environment(rule.optionalOldSelf === true);
  const test = parsed(rule.rule, "bool", env);
  const message = rule.messageExpression ? parsed(rule.messageExpression, "string", env) : undefined;
  const context = (self: unknown, oldSelf: unknown) => {
    if (!rule.optionalOldSelf) return oldSelf === undefined ? { self } : { self, oldSelf };
    return { self, oldSelf: oldSelf === undefined ? Optional.none() : Optional.of(oldSelf) };
  };
  return {
    rule,
    usesOldSelf: test.run !== undefined && mentions(test.run.ast, "oldSelf"),
    ...(test.problem !== undefined && { problem: test.problem }),
    ...(message?.problem !== undefined && { messageProblem: message.problem }),
    holds: (self, oldSelf) => test.run?.(context(self, oldSelf)),
    message: (self, oldSelf) => {
      try {
        const found = message?.run?.(context(self, oldSelf));
        const trimmed = typeof found === "string" ? found.trim() : "";
        return trimmed === "" || trimmed.includes("\n") || trimmed.length > LONGEST_MESSAGE ? undefined : trimmed;
      } catch {
        return undefined;
      }
    },
  };
}

const LONGEST_MESSAGE = 5 * 1024;

function parsed(expression: string, type: "bool" | "string", env: Environment | undefined) {
  if (!env) return { problem: "rules cannot see a value without a type" };
  try {
    const run: ParseResult = env.parse(expression);
    const { valid, type: found, error } = run.check();
    if (!valid) return { problem: compilationText(error) };
    const unknown = unknownIn(run.ast, env);
    if (unknown) return { problem: compilationText(unknown) };
    if (found !== type && found !== "dyn") return { problem: `cel expression must evaluate to a ${type}` };
    return { run };
  } catch (error) {
    return { problem: `compilation failed: ERROR: <input>:1:1: Syntax error: ${firstLine(error)}` };
  }
}

/** Somewhat as the real server's CEL words it. */
function compilationText(error: TypeCheckResult["error"]): string {
  const column = error?.range?.start ?? 0;
  const text = (error?.summary ?? "")
    .replace(/^No such key: (.*)$/, "undefined field '$1'")
    .replace(/^no such overload: (\S+) (\S+) (\S+)$/, "found no matching overload for '_$2_' applied to '($1, $3)'");
  return `compilation failed: ERROR: <input>:1:${column}: ${text}`;
}

/** `has(self.x)` is checked here as to whether there can be an x at all, which the library does not do. */
function unknownIn(node: unknown, env: Environment): TypeCheckResult["error"] {
  if (Array.isArray(node)) {
    for (const each of node) {
      const found = unknownIn(each, env);
      if (found) return found;
    }
    return undefined;
  }
  if (!isNode(node)) return undefined;
  const [name, args] = node.op === "call" ? (node.args as [unknown, unknown]) : [];
  const [argument] = name === "has" && Array.isArray(args) ? args : [];
  if (isNode(argument)) {
    const { error } = env.check(node.input.slice(argument.range.start, argument.range.end));
    if (error?.summary.startsWith("No such key")) return error;
  }
  return unknownIn(node.args, env);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** Errors of CEL show the expression on their further lines. */
export function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}

/** Whether an expression speaks of a variable. */
function mentions(node: unknown, name: string): boolean {
  if (Array.isArray(node)) return node.some((each) => mentions(each, name));
  if (!isNode(node)) return false;
  return node.op === "id" ? node.args === name : mentions(node.args, name);
}
