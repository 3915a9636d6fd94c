import { describe, expect, it } from "vitest";
import { missingRights } from "./escalation.ts";
import type { Rule } from "./rbac.ts";

const rule = (more: Partial<Rule>): Rule => ({
  verbs: ["get"],
  apiGroups: [""],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...more,
});
const pods = rule({ resources: ["pods"] });

describe("what somebody would give who has it not", () => {
  it("is nothing, if they have it, or more", () => {
    expect(missingRights([pods], [pods])).toEqual([]);
    expect(missingRights([pods], [rule({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] })])).toEqual([]);
    expect(missingRights([rule({ resources: ["pods/log"] })], [rule({ resources: ["*/log"] })])).toEqual([]);
    expect(missingRights([rule({ nonResourceURLs: ["/a/b"] })], [rule({ nonResourceURLs: ["/a/*"] })])).toEqual([]);
  });

  it("is each thing that no single rule of theirs has", () => {
    const wanted = rule({ verbs: ["get", "list"], resources: ["pods", "nodes"] });
    expect(missingRights([wanted], [pods])).toEqual([
      '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
    ]);
  });

  it("is all objects, if they have some of them only", () => {
    const one = rule({ resources: ["pods"], resourceNames: ["a"] });
    expect(missingRights([one], [pods])).toEqual([]);
    expect(missingRights([pods], [one])).toHaveLength(1);
    expect(missingRights([rule({ resources: ["pods"], resourceNames: ["b"] })], [one])).toEqual([
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
    ]);
  });
});
