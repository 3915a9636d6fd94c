/** Who may do what: tokens, roles, reviews, acting as others, and how somebody is told that they may not. */
import { authenticationV1, authorizationV1, coreV1, rbacV1 } from "@berth/kube";
import { expect } from "vitest";
import { suite } from "./suite.ts";
import type { HttpAnswer, Target } from "./target.ts";

const API_GROUP = "rbac.authorization.k8s.io";
// biome-ignore lint/suspicious/noExplicitAny: answers have any shape
const objectOf = ({ text }: HttpAnswer): any => JSON.parse(text);
const listPods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
const READ_PODS = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }];

/** A role in a namespace, for a user. */
async function allow({ client }: Target, namespace: string, user: string, rules = READ_PODS): Promise<void> {
  const metadata = { name: `${user}-may`, namespace };
  await client.create(rbacV1.Role, { metadata, rules });
  await client.create(rbacV1.RoleBinding, {
    metadata,
    roleRef: { apiGroup: API_GROUP, kind: "Role", name: metadata.name },
    subjects: [{ apiGroup: API_GROUP, kind: "User", name: user }],
  });
}

/** The real server takes a moment to know of roles. */
async function eventually(attempt: () => Promise<HttpAnswer>, status: number): Promise<HttpAnswer> {
  for (let tries = 0; ; tries++) {
    const answer = await attempt();
    if (answer.status === status || tries === 200) return answer;
  }
}

export const access = suite("access", (it, target) => {
  const as = (user: string, path: string, method = "GET", more: Record<string, string> = {}) =>
    target().http(method, path, { headers: { "impersonate-user": user, ...more } });
  const token = async (namespace: string, name = "default", spec: object = {}): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = JSON.stringify({ spec });
    const answer = await target().http("POST", path, { body, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(201);
    return objectOf(answer).status.token;
  };

  it("nobody may do anything by default, and is told so", async () => {
    const namespace = await target().namespace();
    expect(objectOf(await as("jane", listPods(namespace)))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
      reason: "Forbidden",
      details: { kind: "pods" },
      code: 403,
    });
    const messages: [path: string, method: string, message: string][] = [
      [
        "/api/v1/nodes",
        "GET",
        'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
      ],
      [
        "/apis/apps/v1/namespaces/x/deployments/web/scale",
        "PUT",
        'deployments.apps "web" is forbidden: User "jane" cannot update resource "deployments/scale" in API group "apps" in the namespace "x"',
      ],
      ["/metrics", "GET", 'forbidden: User "jane" cannot get path "/metrics"'],
      [
        "/api/v1/foo/bar",
        "GET",
        'foo "bar" is forbidden: User "jane" cannot get resource "foo" in API group "" at the cluster scope',
      ],
      [
        "/api/v1/namespaces/x",
        "DELETE",
        'namespaces "x" is forbidden: User "jane" cannot delete resource "namespaces" in API group "" in the namespace "x"',
      ],
    ];
    for (const [path, method, message] of messages) {
      expect(objectOf(await as("jane", path, method))).toMatchObject({ code: 403, message });
    }
    expect((await as("jane", "/version")).status).toBe(200);
    expect((await as("jane", "/apis")).status).toBe(200);
  });

  it("a role allows what it says, where it says", async () => {
    const [namespace, other] = [await target().namespace(), await target().namespace()];
    await allow(target(), namespace, "rita");
    expect((await eventually(() => as("rita", listPods(namespace)), 200)).status).toBe(200);
    expect((await as("rita", listPods(other))).status).toBe(403);
    expect((await as("rita", "/api/v1/pods")).status).toBe(403);
    expect((await as("rita", listPods(namespace), "DELETE")).status).toBe(403);
  });

  it("roles are made of other roles", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    const name = `whole-${namespace}`;
    const label = { [`conformance/${namespace}`]: "true" };
    await client.create(rbacV1.ClusterRole, {
      metadata: { name },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] },
    });
    await client.create(rbacV1.ClusterRole, {
      metadata: { name: `part-${namespace}`, labels: label },
      rules: READ_PODS,
    });
    await client.create(rbacV1.RoleBinding, {
      metadata: { name: "b", namespace },
      roleRef: { apiGroup: API_GROUP, kind: "ClusterRole", name },
      subjects: [{ apiGroup: API_GROUP, kind: "Group", name: `group-${namespace}` }],
    });
    const attempt = () => as("ann", listPods(namespace), "GET", { "impersonate-group": `group-${namespace}` });
    expect((await eventually(attempt, 200)).status).toBe(200);
    expect((await client.get(rbacV1.ClusterRole, { name })).rules).toEqual(READ_PODS);
  });

  it("a service account is known by its token", async () => {
    const namespace = await target().namespace();
    const bearer = await token(namespace);
    const [, payload = ""] = bearer.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(claims).toMatchObject({
      aud: ["https://kubernetes.default.svc"],
      iss: "https://kubernetes.default.svc",
      sub: `system:serviceaccount:${namespace}:default`,
      "kubernetes.io": { namespace, serviceaccount: { name: "default", uid: expect.any(String) } },
    });
    expect(claims.exp - claims.iat).toBe(3600);
    const review = await target().client.create(authenticationV1.TokenReview, {
      metadata: {},
      spec: { token: bearer },
    });
    expect(review.status).toEqual({
      authenticated: true,
      audiences: ["https://kubernetes.default.svc"],
      user: {
        username: `system:serviceaccount:${namespace}:default`,
        uid: claims["kubernetes.io"].serviceaccount.uid,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        extra: { "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`] },
      },
    });
  });

  it("a certificate goes before a token", async () => {
    const namespace = await target().namespace();
    const headers = { authorization: `Bearer ${await token(namespace)}` };
    expect((await target().http("GET", "/api/v1/nodes", { headers })).status).toBe(200);
  });

  it("a token is for those it is meant for, and ends with its account", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    await client.create(coreV1.ServiceAccount, { metadata: { name: "robot", namespace } });
    const bearer = await token(namespace, "robot", { audiences: ["a", "b"], expirationSeconds: 700 });
    const review = async (audiences: string[]) =>
      (await client.create(authenticationV1.TokenReview, { metadata: {}, spec: { token: bearer, audiences } })).status;
    expect(await review(["b", "c"])).toMatchObject({ authenticated: true, audiences: ["b"] });
    expect(await review(["c"])).toEqual({
      user: {},
      error: '[invalid bearer token, token audiences ["a" "b"] is invalid for the target audiences ["c"]]',
    });
    const unknown = await client.create(authenticationV1.TokenReview, { metadata: {}, spec: { token: "x" } });
    expect(unknown.status).toEqual({ user: {}, error: "invalid bearer token" });
  });

  it("requests for tokens are checked", async () => {
    const namespace = await target().namespace();
    const ask = async (name: string, spec: object) =>
      objectOf(
        await target().http("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
          body: JSON.stringify({ spec }),
          headers: { "content-type": "application/json" },
        }),
      );
    expect(await ask("none", {})).toMatchObject({ code: 404, message: 'serviceaccounts "none" not found' });
    expect(await ask("default", { expirationSeconds: 60 })).toMatchObject({
      code: 422,
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    });
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "none" };
    expect(await ask("default", { boundObjectRef })).toMatchObject({ code: 404, message: 'pods "none" not found' });
    expect(await ask("default", { boundObjectRef: { kind: "Job", apiVersion: "batch/v1", name: "x" } })).toMatchObject({
      code: 400,
      message: "cannot bind token to object of type batch/v1, Kind=Job",
    });
  });

  it("questions about rights are answered", async () => {
    const { client } = target();
    const namespace = await target().namespace();
    await allow(target(), namespace, "vera");
    const resourceAttributes = { namespace, verb: "list", resource: "pods" };
    await eventually(() => as("vera", listPods(namespace)), 200);
    const may = async (spec: authorizationV1.SubjectAccessReviewSpec) =>
      (await client.create(authorizationV1.SubjectAccessReview, { metadata: {}, spec })).status;
    expect(await may({ user: "vera", resourceAttributes })).toEqual({
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "vera-may/${namespace}" of Role "vera-may" to User "vera"`,
    });
    expect(await may({ user: "vera", resourceAttributes: { ...resourceAttributes, verb: "delete" } })).toEqual({
      allowed: false,
    });
    const nonResourceAttributes = { path: "/openapi/v3", verb: "get" };
    expect(await may({ user: "x", groups: ["system:authenticated"], nonResourceAttributes })).toEqual({
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
    });
    const self = await client.create(authorizationV1.SelfSubjectAccessReview, {
      metadata: {},
      spec: { resourceAttributes },
    });
    expect(self.status).toEqual({ allowed: true });
    const local = await client.create(authorizationV1.LocalSubjectAccessReview, {
      metadata: { namespace },
      spec: { user: "vera", resourceAttributes },
    });
    expect(local.status?.allowed).toBe(true);
    const rules = await client.create(authorizationV1.SelfSubjectRulesReview, { metadata: {}, spec: { namespace } });
    expect(rules.status).toMatchObject({ incomplete: false });
    expect(rules.status?.resourceRules).toContainEqual({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
  });

  it("questions that make no sense are refused", async () => {
    const namespace = await target().namespace();
    const ask = async (path: string, spec: object) =>
      objectOf(
        await target().http("POST", `/apis/${path}`, {
          body: JSON.stringify({ spec }),
          headers: { "content-type": "application/json" },
        }),
      );
    expect(await ask("authorization.k8s.io/v1/subjectaccessreviews", {})).toMatchObject({
      code: 422,
      message:
        '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    });
    const spec = { user: "x", resourceAttributes: { namespace: "other" } };
    expect(await ask(`authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`, spec)).toMatchObject({
      code: 422,
      message:
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    });
    expect(await ask("authorization.k8s.io/v1/selfsubjectrulesreviews", {})).toMatchObject({
      code: 400,
      message: "no namespace on request",
    });
    expect(await ask("authentication.k8s.io/v1/tokenreviews", {})).toMatchObject({
      code: 400,
      message: "token is required for TokenReview in authentication",
    });
  });

  it("somebody acts as another with that one's groups", async () => {
    const whoami = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
      const answer = await target().http("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        body,
        headers: { "content-type": "application/json", ...headers },
      });
      return objectOf(answer).status?.userInfo;
    };
    expect(
      await whoami({ "impersonate-user": "jane", "impersonate-group": "devs", "impersonate-extra-scope": "x" }),
    ).toEqual({
      username: "jane",
      groups: ["devs", "system:authenticated"],
      extra: { scope: ["x"] },
    });
    expect(await whoami({ "impersonate-user": "system:serviceaccount:a:b" })).toEqual({
      username: "system:serviceaccount:a:b",
      groups: ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"],
    });
    expect(objectOf(await target().http("GET", "/version", { headers: { "impersonate-group": "g" } }))).toMatchObject({
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
    });
  });

  it("nobody gives others what they have not themselves", async () => {
    const namespace = await target().namespace();
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const mayWriteRoles = { apiGroups: [API_GROUP], resources: ["roles", "rolebindings"], verbs: ["create"] };
    await allow(target(), namespace, "eve", [...READ_PODS, mayWriteRoles]);
    const make = (plural: string, object: object) =>
      target().http("POST", `${path}/${plural}`, {
        body: JSON.stringify(object),
        headers: { "content-type": "application/json", "impersonate-user": "eve" },
      });
    const held = { metadata: { name: "held" }, rules: READ_PODS };
    expect((await eventually(() => make("roles", held), 201)).status).toBe(201);
    const rules = [{ apiGroups: [""], resources: ["pods", "secrets"], verbs: ["get", "delete"] }];
    expect(objectOf(await make("roles", { metadata: { name: "more" }, rules }))).toMatchObject({
      code: 403,
      message: [
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
      ].join("\n"),
    });
    const bind = (name: string) =>
      make("rolebindings", {
        metadata: { name },
        roleRef: { apiGroup: API_GROUP, kind: "ClusterRole", name },
        subjects: [{ kind: "User", apiGroup: API_GROUP, name: "eve" }],
      });
    expect(objectOf(await bind("cluster-admin"))).toMatchObject({
      code: 403,
      message: [
        'rolebindings.rbac.authorization.k8s.io "cluster-admin" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
        '{NonResourceURLs:["*"], Verbs:["*"]}',
      ].join("\n"),
    });
  });

  it("the roles that every cluster begins with are there", async () => {
    const { client } = target();
    const rule = (list: rbacV1.PolicyRule[] | undefined, resource: string) =>
      list?.filter(({ resources }) => resources?.includes(resource)).flatMap(({ verbs }) => verbs);
    const view = await client.get(rbacV1.ClusterRole, { name: "view" });
    const edit = await client.get(rbacV1.ClusterRole, { name: "edit" });
    const admin = await client.get(rbacV1.ClusterRole, { name: "admin" });
    expect(rule(view.rules, "pods")).toEqual(["get", "list", "watch"]);
    expect(rule(view.rules, "secrets")).toEqual([]);
    expect(rule(edit.rules, "pods")?.toSorted()).toEqual(
      ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"].toSorted(),
    );
    expect(rule(edit.rules, "roles")).toEqual([]);
    expect(rule(admin.rules, "roles")).toContain("create");
    expect(view.aggregationRule).toEqual({
      clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }],
    });
    const { rules } = await client.get(rbacV1.ClusterRole, { name: "cluster-admin" });
    expect(rules).toEqual([
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ]);
  });
});
