import type { Kind } from "@berth/kube";
import { describe, expect, it } from "vitest";
import type { AnyObject } from "../api/json.ts";
import type { Lookup, User } from "../api/resource.ts";
import type { Attributes } from "./attributes.ts";
import { refusalOf, describe as said } from "./attributes.ts";
import { allows, authorize, type Rule, rulesFor } from "./rbac.ts";

const jane: User = { username: "jane", groups: ["devs", "system:authenticated"] };
const robot: User = { username: "system:serviceaccount:ci:robot", groups: ["system:serviceaccounts"] };
const wants = (more: object = {}): Attributes => ({
  user: jane,
  verb: "list",
  group: "",
  resource: "pods",
  namespace: "default",
  ...more,
});

/** What is stored: roles and bindings, by plural. */
function stored(objects: Readonly<Record<string, readonly AnyObject[]>>): Lookup {
  const of = ({ plural }: Pick<Kind, "plural">) => objects[plural] ?? [];
  return {
    get: <T extends AnyObject>(kind: Pick<Kind, "group" | "plural">, name: string, namespace?: string) =>
      of(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) as T | undefined,
    list: <T extends AnyObject>(kind: Pick<Kind, "group" | "plural">, namespace?: string) =>
      of(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace) as unknown as T[],
  };
}

const reader = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }];
const bound = (name: string, kind: string, subjects: object[], namespace?: string): AnyObject => ({
  metadata: { name, ...(namespace && { namespace }) },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: "reader" },
  subjects,
});
const group = [{ kind: "Group", name: "devs" }];

describe("who may do what", () => {
  it("nothing, if nobody has said so", () => {
    expect(authorize(wants(), stored({}))).toEqual({ allowed: false, reason: "" });
  });

  it("everything, in system:masters", () => {
    const user = { username: "root", groups: ["system:masters"] };
    expect(authorize(wants({ user }), stored({})).allowed).toBe(true);
    expect(authorize({ user, verb: "get", path: "/metrics" }, stored({})).allowed).toBe(true);
  });

  it("in one namespace by a role binding, in all by a cluster role binding", () => {
    const clusterroles = [{ metadata: { name: "reader" }, rules: reader }];
    const roles = [{ metadata: { name: "reader", namespace: "default" }, rules: reader }];
    const one = stored({ roles, rolebindings: [bound("b", "Role", group, "default")] });
    expect(authorize(wants(), one)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/default" of Role "reader" to Group "devs"',
    });
    expect(authorize(wants({ namespace: "other" }), one).allowed).toBe(false);
    expect(authorize(wants({ namespace: undefined }), one).allowed).toBe(false);
    const everywhere = stored({ clusterroles, clusterrolebindings: [bound("b", "ClusterRole", group)] });
    expect(authorize(wants({ namespace: undefined }), everywhere).allowed).toBe(true);
    const shared = stored({ clusterroles, rolebindings: [bound("b", "ClusterRole", group, "default")] });
    expect([authorize(wants(), shared).allowed, authorize(wants({ namespace: "x" }), shared).allowed]).toEqual([
      true,
      false,
    ]);
  });

  it("also as a service account, of the binding's namespace if it does not say", () => {
    const clusterroles = [{ metadata: { name: "reader" }, rules: reader }];
    const subject = [{ kind: "ServiceAccount", name: "robot", namespace: "ci" }];
    const lookup = stored({ clusterroles, clusterrolebindings: [bound("b", "ClusterRole", subject)] });
    expect(authorize(wants({ user: robot }), lookup).allowed).toBe(true);
    const other = [{ kind: "ServiceAccount", name: "robot", namespace: "default" }];
    const elsewhere = stored({ clusterroles, clusterrolebindings: [bound("b", "ClusterRole", other)] });
    expect(authorize(wants({ user: robot }), elsewhere).allowed).toBe(false);
  });

  it("nothing by a role that is not there, which is said", () => {
    const lookup = stored({ clusterrolebindings: [bound("b", "ClusterRole", group)] });
    expect(authorize(wants(), lookup)).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found',
    });
  });

  it("takes roles of any shape", () => {
    const clusterroles = [{ metadata: { name: "reader" }, rules: [7, null, { verbs: "get" }, { resources: [1] }] }];
    const lookup = stored({
      clusterroles,
      clusterrolebindings: [bound("b", "ClusterRole", [...group, null as never])],
    });
    expect(authorize(wants(), lookup).allowed).toBe(false);
    expect(rulesFor(jane, "default", lookup)).toHaveLength(2);
  });
});

describe("a rule", () => {
  const rule = (more: Partial<Rule>): Rule => ({
    verbs: ["*"],
    apiGroups: ["*"],
    resources: ["*"],
    resourceNames: [],
    nonResourceURLs: [],
    ...more,
  });

  it("means resources, subresources and names", () => {
    const log = wants({ subresource: "log", name: "a" });
    expect(allows(rule({}), log)).toBe(true);
    expect(allows(rule({ resources: ["pods"] }), log)).toBe(false);
    expect(allows(rule({ resources: ["pods/log"] }), log)).toBe(true);
    expect(allows(rule({ resources: ["*/log"] }), log)).toBe(true);
    expect(allows(rule({ resources: ["pods/*"] }), log)).toBe(false);
    expect(allows(rule({ resourceNames: ["a"] }), log)).toBe(true);
    expect(allows(rule({ resourceNames: ["a"] }), wants())).toBe(false);
    expect(allows(rule({ verbs: ["get"] }), log)).toBe(false);
    expect(allows(rule({ apiGroups: ["apps"] }), log)).toBe(false);
  });

  it("means paths, and what begins like them", () => {
    const metrics: Attributes = { user: jane, verb: "get", path: "/metrics/x" };
    expect(allows(rule({ resources: [] }), metrics)).toBe(false);
    for (const url of ["*", "/metrics/x", "/metrics/*", "/met*"]) {
      expect(allows(rule({ nonResourceURLs: [url] }), metrics), url).toBe(true);
    }
    expect(allows(rule({ nonResourceURLs: ["/metrics"] }), metrics)).toBe(false);
  });
});

describe("how somebody is told that they may not", () => {
  it("is worded as the real server words it", () => {
    expect(said(wants())).toBe('User "jane" cannot list resource "pods" in API group "" in the namespace "default"');
    const refused = refusalOf({
      user: jane,
      verb: "get",
      group: "apps",
      resource: "deployments",
      subresource: "scale",
      name: "web",
    });
    expect(refused.body).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message:
        'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments/scale" in API group "apps" at the cluster scope',
      details: { name: "web", group: "apps", kind: "deployments" },
    });
    expect(refusalOf({ user: jane, verb: "get", path: "/<x>" }).body.message).toBe(
      'forbidden: User "jane" cannot get path "/&lt;x&gt;"',
    );
  });
});
