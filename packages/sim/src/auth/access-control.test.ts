import { rbacV1, SeededRandom, VirtualClock } from "@berth/kube";
import { beforeEach, describe, expect, it } from "vitest";
import { ApiServer } from "../api/api-server.ts";
import { LocalApi } from "../api/local-api.ts";
import { builtinResources } from "../kinds/builtin.ts";
import { Access } from "./access.ts";
import { AccessControl } from "./access-control.ts";
import { bootstrapRoles } from "./bootstrap-roles.ts";

let clock: VirtualClock;
let api: LocalApi;
let access: Access;
let control: AccessControl;
const failures: unknown[] = [];

beforeEach(async () => {
  clock = new VirtualClock();
  access = new Access({ tokens: { secret: { username: "jane", groups: ["devs"] } } });
  const server = new ApiServer({ clock });
  for (const resource of builtinResources()) server.resources.add(access.completed(resource));
  access.attach(server);
  api = new LocalApi(server, "test");
  const onFailure = (error: unknown) => void failures.push(error);
  control = new AccessControl({ server, clock, random: new SeededRandom("x"), onFailure });
  control.start();
  await clock.settle();
});

const rulesOf = (name: string) => api.get(rbacV1.ClusterRole, { name })?.rules ?? [];
const things = { apiGroups: ["example.org"], resources: ["things"], verbs: ["get"] };

describe("the roles of a cluster", () => {
  it("are there from the beginning, those that are made of others too", () => {
    expect(api.list(rbacV1.ClusterRole)).toHaveLength(bootstrapRoles.length);
    expect(rulesOf("admin").length).toBeGreaterThan(rulesOf("edit").length);
    expect(rulesOf("edit").length).toBeGreaterThan(rulesOf("view").length);
    expect(failures).toEqual([]);
  });

  it("take in what is to be part of them, and lose it again", async () => {
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    api.create(rbacV1.ClusterRole, { metadata: { name: "more", labels }, rules: [things] });
    await clock.settle();
    for (const name of ["view", "edit", "admin"]) expect(rulesOf(name), name).toContainEqual(things);
    api.delete(rbacV1.ClusterRole, { name: "more" });
    await clock.settle();
    for (const name of ["view", "edit", "admin"]) expect(rulesOf(name), name).not.toContainEqual(things);
  });

  it("are left alone after the end", async () => {
    control.stop();
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    api.create(rbacV1.ClusterRole, { metadata: { name: "more", labels }, rules: [things] });
    await clock.settle();
    expect(rulesOf("view")).not.toContainEqual(things);
  });
});

describe("users", () => {
  it("are known by tokens that were given beforehand", () => {
    expect(access.holderOf("secret")).toMatchObject({
      user: { username: "jane", groups: ["devs", "system:authenticated"] },
    });
    expect([access.holderOf("secre"), access.holderOf("")]).toEqual([undefined, undefined]);
  });

  it("may look at what everybody may, and at nothing else", () => {
    const user = { username: "jane", groups: ["system:authenticated"] };
    expect(access.authorize({ user, verb: "get", path: "/openapi/v3" }).allowed).toBe(true);
    expect(access.authorize({ user, verb: "get", path: "/metrics" }).allowed).toBe(false);
    expect(access.authorize({ user, verb: "list", group: "", resource: "pods" }).allowed).toBe(false);
  });
});
