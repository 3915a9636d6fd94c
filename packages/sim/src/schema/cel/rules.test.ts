import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../custom/definition.ts";
import { schemaNode } from "../../custom/schema-node.ts";
import { escaped } from "./names.ts";
import { type CompiledRule, rulePlan } from "./rules.ts";

type Rule = NonNullable<JsonSchema["x-kubernetes-validations"]>[number];

function compiled(rule: Rule, properties: Record<string, JsonSchema> = {}): CompiledRule {
  const plan = rulePlan(schemaNode({ type: "object", properties, "x-kubernetes-validations": [rule] }));
  const [first] = plan?.rules ?? [];
  if (!plan || !first) throw new Error("there is a rule");
  return {
    ...first,
    holds: (self, oldSelf) => first.holds(plan.seen(self), plan.seen(oldSelf)),
    message: (self, oldSelf) => first.message(plan.seen(self), plan.seen(oldSelf)),
  };
}

describe("compiling", () => {
  it.each<[string, string]>([
    ["self.a > 1", "undefined field 'a'"],
    ["has(self.a)", "undefined field 'a'"],
    ["self.metadata.labels.size() > 0", "undefined field 'labels'"],
    ["self.s == 1", "found no matching overload for '_==_' applied to '(string, int)'"],
    ["self.s", "must evaluate to a bool"],
    ["self.s ==", "Syntax error"],
    ["nothing(self.s)", "found no matching overload"],
  ])("%s is refused: %s", (rule, problem) => {
    expect(compiled({ rule }, { s: { type: "string" } }).problem).toContain(problem);
  });

  it("knows which rules are about changes", () => {
    const uses = (rule: string) => compiled({ rule }, { s: { type: "string" } }).usesOldSelf;
    expect(["self.s == oldSelf.s", "self.s == 'oldSelf'", "[1].all(x, oldSelf.s == 'a')"].map(uses)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("is done once for a schema, and not at all for one without rules", () => {
    const schema = schemaNode({ type: "object", "x-kubernetes-validations": [{ rule: "true" }] });
    expect(rulePlan(schema)).toBe(rulePlan(schema));
    expect(rulePlan(schemaNode({ type: "object", properties: { a: { type: "string" } } }))).toBeUndefined();
  });
});

describe("values", () => {
  it("are of the types of the schema, and the root has a name", () => {
    const rule = "self.i / 2 == 1 && self.n / 2.0 == 1.5 && self.metadata.name == 'x' && self.kind == 'K'";
    const { holds } = compiled({ rule }, { i: { type: "integer" }, n: { type: "number" } });
    expect(holds({ i: 3, n: 3, kind: "K", metadata: { name: "x", labels: {} } }, undefined)).toBe(true);
  });

  it("that are not in the schema are not there, also if all objects have them", () => {
    const { holds } = compiled(
      { rule: "!has(self.toString) && !has(self.valueOf)" },
      { toString: { type: "string" }, valueOf: { type: "string" } },
    );
    expect(holds({}, undefined)).toBe(true);
    const keys = compiled(
      { rule: "!('constructor' in self.m)" },
      { m: { type: "object", additionalProperties: { type: "string" } } },
    );
    expect(keys.holds({ m: {} }, undefined)).toBe(true);
    expect(keys.holds({ m: { constructor: "x" } }, undefined)).toBe(false);
  });

  it("can be compared as wholes", () => {
    const part: JsonSchema = {
      type: "object",
      properties: { a: { type: "integer" }, l: { type: "array", items: { type: "string" } } },
    };
    const { holds } = compiled({ rule: "self.x == self.y" }, { x: part, y: part });
    expect(holds({ x: { a: 1, l: ["b"] }, y: { l: ["b"], a: 1 } }, undefined)).toBe(true);
    expect(holds({ x: { a: 1 }, y: { a: 2 } }, undefined)).toBe(false);
  });

  it("of before may be missing, if the rule says so", () => {
    const rule: Rule = { rule: "oldSelf.hasValue() && oldSelf.value().i == 1", optionalOldSelf: true };
    const { holds } = compiled(rule, { i: { type: "integer" } });
    expect([holds({ i: 2 }, undefined), holds({ i: 2 }, { i: 1 })]).toEqual([false, true]);
  });
});

describe("messages", () => {
  it.each<[string, string | undefined]>([
    ["'i is ' + string(self.i)", "i is 5"],
    ["'%d%% of %s'.format([self.i, 'x'])", "5% of x"],
    ["'  '", undefined],
    ["'a\\nb'", undefined],
    ["string(1 / (self.i - 5))", undefined],
  ])("%s", (messageExpression, message) => {
    expect(
      compiled({ rule: "false", messageExpression }, { i: { type: "integer" } }).message({ i: 5 }, undefined),
    ).toBe(message);
  });
});

it("fields are called in CEL what CEL can call them", () => {
  expect(["a", "a-b", "a.b/c", "a__b", "namespace", "__proto__", "1a", "a b", ""].map(escaped)).toEqual([
    ...["a", "a__dash__b", "a__dot__b__slash__c", "a__underscores__b", "__namespace__"],
    ...["__underscores__proto__underscores__", undefined, undefined, undefined],
  ]);
});
