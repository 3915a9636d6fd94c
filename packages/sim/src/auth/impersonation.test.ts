import { describe, expect, it } from "vitest";
import { impersonation } from "./impersonation.ts";

const admin = { username: "admin", groups: [] };

describe("acting as somebody else", () => {
  it("is asked for with headers, and each part of it must be allowed", () => {
    expect(impersonation(admin, {})).toBeUndefined();
    const wanted = impersonation(admin, {
      "impersonate-user": ["jane"],
      "impersonate-group": ["devs", "ops"],
      "impersonate-uid": ["7"],
      "impersonate-extra-example.org%2fscope": ["a", "b"],
    });
    expect(wanted?.user).toEqual({
      username: "jane",
      uid: "7",
      groups: ["devs", "ops", "system:authenticated"],
      extra: { "example.org/scope": ["a", "b"] },
    });
    expect(wanted?.needs.map(({ group, resource, subresource, name }) => [group, resource, subresource, name])).toEqual(
      [
        ["", "users", undefined, "jane"],
        ["", "groups", undefined, "devs"],
        ["", "groups", undefined, "ops"],
        ["authentication.k8s.io", "userextras", "example.org/scope", "a"],
        ["authentication.k8s.io", "userextras", "example.org/scope", "b"],
        ["authentication.k8s.io", "uids", undefined, "7"],
      ],
    );
    expect(wanted?.needs.every(({ verb, user }) => verb === "impersonate" && user === admin)).toBe(true);
  });

  it("brings a service account's groups along, and knows who has not said who they are", () => {
    const robot = impersonation(admin, { "impersonate-user": ["system:serviceaccount:ci:robot"] });
    expect(robot?.user.groups).toEqual(["system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"]);
    expect(robot?.needs[0]).toMatchObject({ resource: "serviceaccounts", namespace: "ci", name: "robot" });
    const nobody = impersonation(admin, { "impersonate-user": ["system:anonymous"] });
    expect(nobody?.user.groups).toEqual(["system:unauthenticated"]);
  });

  it("is refused without a user", () => {
    expect(() => impersonation(admin, { "impersonate-group": ["devs"] })).toThrow(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without',
    );
  });
});
