/**
 * A real cluster, and service accounts with different roles. The gateway is one of them, with its own rights and no others; nobody
 * makes the resources true here, which is not what this is about.
 */
import { type Cluster, startCluster } from "@berth/cluster";
import { Client, coreV1, HttpTransport, loadConnection, rbacV1, sleep, WallClock } from "@berth/kube";
import { Testbed } from "@berth/model";
import { install } from "@berth/operator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Gateway } from "../gateway.ts";
import { clusterRules, namespacedRules } from "../rights.ts";
import { asking, jobManifest } from "../testing/embedded.ts";
import { makeAccount, rule, tokenOf } from "./testing/accounts.ts";

const BERTH = "berth.dev";
const READ = "get,list,watch";
const ME = "system:serviceaccount:default";
const clock = new WallClock();

let [cluster, admin, restricted, gateway]: [Cluster?, HttpTransport?, HttpTransport?, Gateway?] = [];
let client: Client;
const tokens = new Map<string, string>();

beforeAll(async () => {
  // Only what the gateway asks, leases as well.
  const audit = { rules: [{ level: "Metadata", users: [`${ME}:gateway`] }, { level: "None" }] };
  cluster = await startCluster({ name: `test-${process.pid}-gateway`, audit });
  const connection = loadConnection({ kubeconfig: cluster.kubeconfig });
  admin = new HttpTransport(connection);
  client = new Client(admin);
  await install(client, clock);
  const everything = [rule(BERTH, "batchjobs,schedulings,testbeds,slots", "*")];
  await makeAccount(client, "gateway", { namespaced: namespacedRules, everywhere: clusterRules });
  await makeAccount(client, "boss", { namespaced: everything, everywhere: [rule("", "nodes", READ)] });
  await makeAccount(client, "reader", { namespaced: [rule(BERTH, "batchjobs", READ)] });
  await makeAccount(client, "scheduler", {
    namespaced: [rule(BERTH, "batchjobs,slots", READ), rule(BERTH, "schedulings", "create,update")],
  });
  await makeAccount(client, "owner", { namespaced: [rule(BERTH, "batchjobs", "get,patch", ["mine"])] });
  await makeAccount(client, "trickster", { namespaced: [rule("", "nodes", READ)] });
  for (const name of ["nobody", "leaver"]) await makeAccount(client, name);
  await client.create(rbacV1.RoleBinding, {
    metadata: { name: "leaver", namespace: "default" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "leaver", namespace: "default" }],
  });
  for (const name of ["gateway", "boss", "reader", "scheduler", "owner", "trickster", "nobody", "leaver"]) {
    tokens.set(name, await tokenOf(client, name));
  }
  const { ca } = connection.tls;
  restricted = new HttpTransport({
    ...connection,
    tls: ca === undefined ? {} : { ca },
    identity: { kind: "token", token: tokens.get("gateway") as string },
  });
  gateway = await Gateway.start({ transport: restricted, namespace: "default", authentication: "kubernetes" });
  await client.create(Testbed, {
    metadata: { namespace: "default", name: "main" },
    spec: { slotsPerNode: 1, nodeLabel: "example.org/slots", resourcesPerSlot: { cpu: "1", memory: "1Gi" } },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await restricted?.close();
  await admin?.close();
  await cluster?.stop();
});

const ask = (who: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const authorization = `Bearer ${tokens.get(who) ?? who}`;
  return asking(gateway as Gateway)(method, path, body, { authorization, ...headers });
};
const outcome = async (who: string, method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await ask(who, method, path, body);
  return `${status} ${answer.detail ?? ""}`.trim();
};
const eventually = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await sleep(clock, 250);
};
const scheduling = (name: string, jobs: readonly string[]) => ({
  metadata: { name },
  spec: { testbed: { name: "main" }, queueBased: jobs.map((job) => ({ name: job })) },
});

describe("on a real cluster", () => {
  it("A1 nobody gets in without a token that the cluster knows", async () => {
    expect((await asking(gateway as Gateway)("GET", "/v1/jobs")).status).toBe(401);
    expect(await outcome("made-up", "GET", "/v1/jobs")).toBe("401 the token is not valid, or not any more");
    const own = tokens.get("reader") as string;
    expect(await outcome(`${own.slice(0, -4)}AAAA`, "GET", "/v1/jobs")).toMatch(/^401/);
    const other = await tokenOf(client, "reader", { audiences: ["https://other.example"] });
    expect(await outcome(other, "GET", "/v1/jobs")).toMatch(/^401/);
  });

  it("A2 everybody may do what RBAC says, and hears which right is missing", async () => {
    expect(await outcome("boss", "POST", "/v1/jobs", jobManifest("mine", 1))).toBe("201");
    expect(await outcome("boss", "POST", "/v1/jobs", jobManifest("other", 1))).toBe("201");
    expect(await outcome("reader", "GET", "/v1/jobs")).toBe("200");
    expect(await outcome("reader", "GET", "/v1/jobs/mine/explain")).toBe("200");
    const may = (who: string, what: string) => `403 ${ME}:${who} may not ${what}`;
    expect(await outcome("reader", "POST", "/v1/schedulings", scheduling("x", []))).toBe(
      may("reader", "create schedulings.berth.dev"),
    );
    expect(await outcome("reader", "DELETE", "/v1/jobs/mine")).toBe(may("reader", "delete batchjobs.berth.dev mine"));
    expect(await outcome("reader", "GET", "/v1/testbeds")).toBe(may("reader", "list testbeds.berth.dev"));
    expect(await outcome("nobody", "GET", "/v1/jobs")).toBe(may("nobody", "list batchjobs.berth.dev"));
    expect(await outcome("nobody", "GET", "/v1/events")).toBe(may("nobody", "watch batchjobs.berth.dev"));
    await eventually(async () => (await ask("boss", "GET", "/v1/testbeds/main")).status === 200);
    expect(await outcome("scheduler", "POST", "/v1/schedulers/s/turn", { testbed: "main" })).toBe("200");
    expect(await outcome("scheduler", "DELETE", "/v1/schedulers/s?testbed=main")).toBe("204");
    expect(await outcome("scheduler", "DELETE", "/v1/jobs/mine")).toMatch(/^403/);
    expect(await outcome("reader", "POST", "/v1/schedulers/s/turn", { testbed: "main" })).toMatch(/^403/);
  });

  it("A3 a right may be for one object, and A5 one in a namespace is not for nodes", async () => {
    expect(await outcome("owner", "PATCH", "/v1/jobs/mine/data", { a: 1 })).toBe("200");
    expect(await outcome("owner", "PATCH", "/v1/jobs/other/data", { a: 1 })).toMatch(/^403/);
    expect(await outcome("owner", "GET", "/v1/jobs")).toMatch(/^403/);
    expect(await outcome("trickster", "GET", "/v1/nodes")).toBe(`403 ${ME}:trickster may not list nodes`);
    expect(await outcome("boss", "GET", "/v1/nodes")).toBe("200");
  });

  it("R2 manifests and R4 conflicts are refused in the same words as by the simulated one", async () => {
    const wrong = await ask("boss", "POST", "/v1/jobs", { ...jobManifest("wrong", 1), spec: { jobSpec: {}, typo: 1 } });
    expect([wrong.status, wrong.body.code]).toEqual([422, "BERTH_MANIFEST_INVALID"]);
    expect(wrong.body.detail).toContain('unknown field "spec.typo"');
    const rule = await ask("boss", "POST", "/v1/jobs", { ...jobManifest("wrong", 1), spec: {} });
    expect([rule.status, rule.body.code]).toEqual([422, "BERTH_MANIFEST_INVALID"]);
    expect(rule.body.detail).not.toMatch(/<nil>|\/apis\//);
    const twice = await ask("boss", "POST", "/v1/jobs", jobManifest("mine", 1));
    expect([twice.status, twice.body.code]).toEqual([409, "BERTH_ALREADY_EXISTS"]);
    for (const [method, path, body] of [
      ["PATCH", "/v1/jobs/mine/data", { a: 2 }],
      ["DELETE", "/v1/jobs/mine", undefined],
    ] as const) {
      const stale = await ask("boss", method, path, body, { "if-match": '"1"' });
      expect([stale.status, stale.body.code], method).toEqual([412, "BERTH_CHANGED_MEANWHILE"]);
    }
    const large = jobManifest("large", 1, { externalScheduler: { text: "x".repeat(2_500_000) } });
    const tooLarge = await ask("boss", "POST", "/v1/jobs", large);
    expect([tooLarge.status, tooLarge.body.code]).toEqual([413, "BERTH_BODY_TOO_LARGE"]);
  });

  it("A7 a token is good for nothing soon after its account, or what it is bound to, is gone", async () => {
    await client.create(coreV1.Secret, { metadata: { name: "lifetime", namespace: "default" } });
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: "lifetime" };
    const bound = await tokenOf(client, "reader", { boundObjectRef });
    expect([await outcome("leaver", "GET", "/v1/jobs"), await outcome(bound, "GET", "/v1/jobs")]).toEqual([
      "200",
      "200",
    ]);
    const stream = await fetch(`${gateway?.url}/v1/events?topics=jobs`, {
      headers: { authorization: `Bearer ${tokens.get("leaver")}` },
    });
    await client.delete(coreV1.ServiceAccount, { namespace: "default", name: "leaver" });
    await client.delete(coreV1.Secret, { namespace: "default", name: "lifetime" });
    await Promise.all(
      ["leaver", bound].map((who) => eventually(async () => (await ask(who, "GET", "/v1/jobs")).status === 401)),
    );
    expect(await stream.text()).toMatch(/^: Berth/); // it has an end
    expect(await outcome("reader", "GET", "/v1/jobs")).toBe("200");
  });

  it("A12 the gateway uses each of its rights, and is never refused for want of one", async () => {
    await ask("boss", "POST", "/v1/schedulings", scheduling("one", ["mine"]));
    expect(await outcome("boss", "POST", "/v1/jobs/mine/release")).toBe("202");
    expect(await outcome("boss", "PUT", "/v1/schedulings/one", scheduling("one", []))).toBe("200");
    expect(await outcome("boss", "PATCH", "/v1/schedulings/one", { spec: { reason: "x" } })).toBe("200");
    expect(await outcome("boss", "DELETE", "/v1/schedulings/one")).toBe("204");
    expect(await outcome("boss", "POST", "/v1/schedulers/t/turn", { testbed: "main" })).toBe("200");
    expect(await outcome("boss", "DELETE", "/v1/schedulers/t?testbed=main")).toBe("204");
    expect(await outcome("boss", "DELETE", "/v1/jobs/other")).toBe("204");
    await gateway?.stop(); // watches are written down when they end
    const declared = [...namespacedRules, ...clusterRules].flatMap(({ resources = [], verbs }) =>
      verbs.map((verb) => `${verb} ${resources[0]}`),
    );
    // The first lists come as watches, if the server knows how: the right is for the others.
    const wanted = declared.filter((each) => !each.startsWith("list "));
    const asked = () => new Set(cluster?.readAudit().map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`));
    await eventually(async () => wanted.every((each) => asked().has(each)));
    expect([...asked()].filter((each) => !declared.includes(each))).toEqual([]);
    const refused = cluster?.readAudit().filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused).toEqual([]);
  });
});
