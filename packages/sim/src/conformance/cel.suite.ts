/** Rules in CEL: what they say of which objects, with what Kubernetes adds to the language. */
import { expect } from "vitest";
import { type Any, DEFINITIONS, type JsonSchema, send, until } from "./definitions.ts";
import { suite } from "./suite.ts";

/** What rules have to work with. Everything has a limit, since the real server counts what a rule could cost at most. */
const text: JsonSchema = { type: "string", maxLength: 10 };
const properties: Record<string, JsonSchema> = {
  s: text,
  i: { type: "integer" },
  n: { type: "number" },
  b: { type: "boolean" },
  l: { type: "array", maxItems: 5, items: { type: "integer" } },
  ls: { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 } },
  d: { type: "string", format: "date-time" },
  da: { type: "string", format: "date" },
  u: { type: "string", format: "duration" },
  y: { type: "string", format: "byte", maxLength: 20 },
  m: { type: "object", maxProperties: 3, additionalProperties: { type: "string", maxLength: 5 } },
  p: { "x-kubernetes-int-or-string": true },
  nul: { type: "string", nullable: true, maxLength: 5 },
  "a-b": { type: "integer" },
  "x.y": { type: "integer" },
  namespace: { type: "string", maxLength: 5 },
  o: { type: "object", properties: { a: { type: "integer" }, b: { type: "string", maxLength: 5 } } },
  lo: {
    type: "array",
    maxItems: 4,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: {
      type: "object",
      required: ["k"],
      properties: { k: { type: "string", maxLength: 5 }, v: { type: "integer" } },
    },
  },
  set: { type: "array", maxItems: 4, "x-kubernetes-list-type": "set", items: { type: "integer" } },
};

type Rule = NonNullable<JsonSchema["x-kubernetes-validations"]>[number];

/** A rule, and what becomes of objects: they are good, they break it, or this is what is said of them. */
type Case = readonly [rule: string | Rule, ...objects: (readonly [object: object, outcome: boolean | string])[]];

// "…" stands for the rule.
const cases: readonly Case[] = [
  [
    "self.i > 3",
    [{ i: 4 }, true],
    [{ i: 3 }, false],
    [{}, 'spec: Invalid value: "object": no such key: i evaluating rule: …'],
  ],
  ["self.i / 0 == 1", [{ i: 1 }, 'spec: Invalid value: "object": division by zero evaluating rule: …']],
  ["self.i % 2 == 0", [{ i: 4 }, true]],
  ["self.n > 1.5", [{ n: 2 }, true], [{ n: 1 }, false]],
  ["self.n > 1", [{ n: 2 }, true]],
  ["self.l[3] == 1", [{ l: [1] }, 'spec: Invalid value: "object": index out of bounds: 3 evaluating rule: …']],
  ["self.l.all(x, x > 0)", [{ l: [1] }, true], [{ l: [0] }, false], [{ l: [] }, true]],
  ["self.l.exists(x, x == 2)", [{ l: [1, 2] }, true], [{ l: [1] }, false]],
  ["self.l.exists_one(x, x == 2)", [{ l: [2, 2] }, false]],
  ["self.l.map(x, x * 2) == [2, 4]", [{ l: [1, 2] }, true]],
  ["self.l.filter(x, x > 1).size() == 1", [{ l: [1, 2] }, true]],
  ["self.l.isSorted()", [{ l: [1, 2] }, true], [{ l: [2, 1] }, false]],
  ["self.l.sum() == 3", [{ l: [1, 2] }, true], [{ l: [] }, false]],
  ["self.l.indexOf(2) == 1 && self.l.lastIndexOf(2) == 2", [{ l: [1, 2, 2] }, true]],
  ["self.ls.join(',') == 'a,b'", [{ ls: ["a", "b"] }, true]],
  ["self.ls.isSorted()", [{ ls: ["b", "a"] }, false]],
  ["self.s.matches('^a+$')", [{ s: "aa" }, true], [{ s: "b" }, false]],
  ["self.s.startsWith('a') && self.s.endsWith('z') && self.s.contains('m')", [{ s: "amz" }, true]],
  ["self.s.size() == 2", [{ s: "ab" }, true], [{ s: "äö" }, true], [{ s: "😀" }, false]],
  ["self.s.lowerAscii() == 'ab' && self.s.upperAscii() == 'AB'", [{ s: "aB" }, true]],
  ["self.s.split(',') == ['a', 'b']", [{ s: "a,b" }, true]],
  ["self.s.replace('a', 'b') == 'bb'", [{ s: "ab" }, true]],
  ["self.s.indexOf('b') == 1", [{ s: "ab" }, true]],
  ["self.s.trim() == 'a'", [{ s: " a " }, true]],
  [
    "self.s.charAt(1) == 'b'",
    [{ s: "ab" }, true],
    [{ s: "" }, 'spec: Invalid value: "object": index out of range: 1 evaluating rule: …'],
  ],
  ["self.s.find('[0-9]+') == '12'", [{ s: "a12" }, true]],
  ["self.s.findAll('[0-9]') == ['1', '2']", [{ s: "a12" }, true]],
  ["self.s.findAll('[0-9]', 1) == ['1']", [{ s: "a12" }, true]],
  ["self.s == 'a' ? self.i == 1 : self.i == 2", [{ s: "a", i: 1 }, true], [{ s: "b", i: 1 }, false]],
  ["has(self.s)", [{ s: "a" }, true], [{}, false]],
  ["!has(self.s) || self.s != ''", [{}, true], [{ s: "" }, false]],
  ["self.?s.orValue('x') == 'x'", [{}, true], [{ s: "a" }, false]],
  ["self.?s.hasValue()", [{}, false], [{ s: "a" }, true]],
  ["self.?o.?a.orValue(5) == 5", [{}, true], [{ o: {} }, true], [{ o: { a: 1 } }, false]],
  [
    "self.m['a'] == 'b'",
    [{ m: { a: "b" } }, true],
    [{ m: {} }, 'spec: Invalid value: "object": no such key: a evaluating rule: …'],
  ],
  ["'a' in self.m", [{ m: { a: "b" } }, true], [{ m: {} }, false]],
  ["self.m.all(k, self.m[k] != '')", [{ m: { a: "b" } }, true], [{ m: { a: "" } }, false]],
  ["self.m.size() == 1", [{ m: { a: "b" } }, true]],
  ["self.m == {'a': 'b'}", [{ m: { a: "b" } }, true], [{ m: { a: "c" } }, false]],
  ["self.m.exists(k, k.startsWith('a'))", [{ m: { ab: "" } }, true]],
  [
    "type(self.p) == int ? self.p < 5 : self.p == '50%'",
    [{ p: 3 }, true],
    [{ p: 6 }, false],
    [{ p: "50%" }, true],
    [{ p: "5%" }, false],
  ],
  ["self.p == 5 || self.p == '5'", [{ p: 5 }, true], [{ p: "5" }, true], [{ p: 6 }, false]],
  [
    "self.d < timestamp('2030-01-01T00:00:00Z')",
    [{ d: "2020-01-01T00:00:00Z" }, true],
    [{ d: "2031-01-01T00:00:00+02:00" }, false],
  ],
  ["self.d.getFullYear() == 2020", [{ d: "2020-05-01T00:00:00Z" }, true]],
  ["self.da < timestamp('2030-01-01T00:00:00Z')", [{ da: "2020-01-01" }, true]],
  ["self.u > duration('1m')", [{ u: "2m" }, true], [{ u: "30s" }, false]],
  ["self.u.getMinutes() == 2", [{ u: "2m" }, true]],
  ["self.y == b'abc'", [{ y: "YWJj" }, true]],
  ["size(self.y) == 3", [{ y: "YWJj" }, true]],
  ["self.a__dash__b == 1", [{ "a-b": 1 }, true], [{ "a-b": 2 }, false]],
  ["self.x__dot__y == 1", [{ "x.y": 1 }, true]],
  ["self.__namespace__ == 'a'", [{ namespace: "a" }, true], [{ namespace: "b" }, false]],
  [
    "self.o.a == 1",
    [{ o: { a: 1 } }, true],
    [{ o: {} }, 'spec: Invalid value: "object": no such key: a evaluating rule: …'],
    [{}, 'spec: Invalid value: "object": no such key: o evaluating rule: …'],
  ],
  [
    "self.lo.all(e, e.v > 0)",
    [{ lo: [{ k: "a", v: 1 }] }, true],
    [{ lo: [{ k: "a" }] }, 'spec: Invalid value: "object": no such key: v evaluating rule: …'],
  ],
  ["self.lo.map(e, e.k) == ['a', 'b']", [{ lo: [{ k: "a" }, { k: "b" }] }, true]],
  ["self.lo.exists(e, e.k == 'a' && e.v == 1)", [{ lo: [{ k: "b" }, { k: "a", v: 1 }] }, true]],
  ["self.set == [1, 2]", [{ set: [2, 1] }, true]],
  ["has(self.nul)", [{ nul: null }, false]],
  [
    "quantity(self.s).isLessThan(quantity('1Gi'))",
    [{ s: "1Mi" }, true],
    [{ s: "2Gi" }, false],
    [
      { s: "x" },
      "spec: Invalid value: \"object\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: …",
    ],
  ],
  ["isQuantity(self.s)", [{ s: "1Mi" }, true], [{ s: "x" }, false]],
  ["quantity(self.s).add(quantity('1')).asInteger() == 2", [{ s: "1" }, true]],
  ["quantity(self.s).compareTo(quantity('1k')) == 0", [{ s: "1000" }, true]],
  ["quantity(self.s).asApproximateFloat() == 0.5", [{ s: "500m" }, true]],
  ["quantity(self.s) == quantity('1')", [{ s: "1000m" }, true]],
  ["isURL(self.s)", [{ s: "http://a" }, true], [{ s: "../a" }, false]],
  [
    "url(self.s).getHost() == 'a:80' && url(self.s).getPort() == '80' && url(self.s).getScheme() == 'ht'",
    [{ s: "ht://a:80" }, true],
  ],
  ["url(self.s).getEscapedPath() == '/p'", [{ s: "/p?q=1" }, true]],
  ["url(self.s).getQuery() == {'q': ['1']}", [{ s: "/p?q=1" }, true]],
  ["isIP(self.s)", [{ s: "10.0.0.1" }, true], [{ s: "10.0.0" }, false]],
  [
    "ip(self.s).family() == 4 && !ip(self.s).isLoopback() && ip(self.s).isGlobalUnicast()",
    [{ s: "10.0.0.1" }, true],
    [{ s: "127.0.0.1" }, false],
    [
      { s: "x" },
      'spec: Invalid value: "object": IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP evaluating rule: …',
    ],
  ],
  ["isCIDR(self.s)", [{ s: "10.0.0.0/8" }, true], [{ s: "1/8" }, false]],
  [
    "cidr(self.s).containsCIDR('10.1.0.0/16') && cidr(self.s).prefixLength() == 8 && cidr(self.s).ip() == ip('10.0.0.0')",
    [{ s: "10.0.0.0/8" }, true],
  ],
  [
    "sets.contains(self.l, [1]) && sets.intersects(self.l, [2]) && sets.equivalent(self.l, [2, 1])",
    [{ l: [1, 2] }, true],
    [{ l: [3] }, false],
  ],
  ["self.i in [1, 2]", [{ i: 1 }, true], [{ i: 3 }, false]],
  [
    "int(self.s) == 5",
    [{ s: "5" }, true],
    [{ s: "x" }, "spec: Invalid value: \"object\": type conversion error from 'string' to 'int' evaluating rule: …"],
  ],
  ["string(self.i) == '5' && double(self.i) == 5.0", [{ i: 5 }, true]],
  [
    "bool(self.s)",
    [{ s: "true" }, true],
    [{ s: "x" }, "spec: Invalid value: \"object\": type conversion error from 'string' to 'bool' evaluating rule: …"],
  ],
  ["dyn(self.i) == dyn('a')", [{ i: 1 }, false]],
  [
    "self.b",
    [{ b: true }, true],
    [{ b: false }, false],
    [{}, 'spec: Invalid value: "object": no such key: b evaluating rule: …'],
  ],
  [
    "self.i == 1 || self.o.a == 1",
    [{ i: 1 }, true],
    [{ i: 2 }, 'spec: Invalid value: "object": no such key: o evaluating rule: …'],
  ],
  [
    "self.i == 1 && self.o.a == 1",
    [{ i: 2 }, false],
    [{ i: 1 }, 'spec: Invalid value: "object": no such key: o evaluating rule: …'],
  ],
  ["self.l.reverse() == [2, 1]", [{ l: [1, 2] }, true]],
  ["self.l.distinct().size() == 1", [{ l: [1, 1] }, true]],
  ["self.l.slice(0, 1) == [1]", [{ l: [1, 2] }, true]],
  ["self.l.sort() == [1, 2]", [{ l: [2, 1] }, true]],
  [
    { rule: "self.i > 3", message: "bad i", reason: "FieldValueForbidden", fieldPath: ".i" },
    [{ i: 1 }, "spec.i: Forbidden: bad i"],
  ],
  [
    { rule: "self.i > 3", messageExpression: "'i is %d, s is %s'.format([self.i, self.s])", message: "fallback" },
    [{ i: 1 }, "spec: Invalid value: fallback"],
    [{ i: 1, s: "x" }, "spec: Invalid value: i is 1, s is x"],
  ],
  [
    { rule: "self.i > 3", reason: "FieldValueRequired", fieldPath: ".m['k']", message: "needed" },
    [{ i: 1 }, "spec.m[k]: Required value: needed"],
  ],
  [{ rule: "self.i > 3", reason: "FieldValueDuplicate" }, [{ i: 1 }, "spec: Duplicate value"]],
  [{ rule: "self.i\n> 3", message: "multi" }, [{ i: 1 }, "spec: Invalid value: multi"]],
  [{ rule: "self.i > 3", messageExpression: "''" }, [{ i: 1 }, false]],
  [{ rule: "!oldSelf.hasValue() || self.i >= oldSelf.value().i", optionalOldSelf: true }, [{ i: 1 }, true]],
  ["self.i >= oldSelf.i", [{ i: 1 }, true]],
];

/** So many at a time: what all rules of a definition could cost is limited, too. */
const AT_ONCE = 12;

export const cel = suite("CEL", (it, target) => {
  for (let first = 0; first < cases.length; first += AT_ONCE) {
    const some = cases.slice(first, first + AT_ONCE);
    const rules = some.map(([rule]) => (typeof rule === "string" ? { rule } : rule));
    it(`rules ${first + 1} to ${first + some.length}`, async () => {
      const plural = `rules${first}`;
      const definition = definitionWith(rules, plural, `Rules${first}`);
      expect(await send(target(), "POST", DEFINITIONS, definition)).toMatchObject({ kind: "CustomResourceDefinition" });
      const path = `/apis/cel.example.org/v1/${plural}`;
      await until("it is served", async () => (await target().http("GET", path)).status === 200);
      for (const [index, [, ...objects]] of some.entries()) {
        for (const [object, outcome] of objects) {
          const answer = await send(target(), "POST", `${path}?dryRun=All`, {
            apiVersion: "cel.example.org/v1",
            kind: `Rules${first}`,
            metadata: { name: "x" },
            spec: { [`t${index}`]: object },
          });
          const { rule } = rules[index] as Rule;
          expect([rule, object, outcomeOf(answer, `spec.t${index}`, rule)]).toEqual([rule, object, outcome]);
        }
      }
      await send(target(), "DELETE", `${DEFINITIONS}/${plural}.cel.example.org`);
    });
  }
});

/** Each rule has a field of its own, so that it sees only what is meant for it. */
function definitionWith(rules: readonly Rule[], plural: string, kind: string) {
  const fields = rules.map((rule, index) => [
    `t${index}`,
    { type: "object", properties, "x-kubernetes-validations": [rule] },
  ]);
  const spec = { type: "object", properties: Object.fromEntries(fields) };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cel.example.org` },
    spec: {
      group: "cel.example.org",
      scope: "Cluster",
      names: { kind, plural },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

function outcomeOf({ kind, details }: Any, field: string, rule: string): boolean | string {
  if (kind !== "Status") return true;
  const causes = details.causes
    .map((cause: Any) => `${cause.field}: ${cause.message}`.replace(field, "spec"))
    .join("; ");
  if (causes === `spec: Invalid value: failed rule: ${rule}`) return false;
  return causes.replace(` evaluating rule: ${rule}`, " evaluating rule: …");
}
