/** The client and the real API server, with a real node to run containers on. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Cluster, noRealNodes, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, loadConnection } from "../connect/connection.ts";
import * as appsV1 from "../kinds/apps-v1.ts";
import * as authenticationV1 from "../kinds/authentication-v1.ts";
import type * as autoscalingV1 from "../kinds/autoscaling-v1.ts";
import * as coreV1 from "../kinds/core-v1.ts";
import { eventually } from "../testing/eventually.ts";
import { isConflict, isForbidden, isInvalid, isNotFound } from "../transport/api-error.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { Client } from "./client.ts";
import { retryOnConflict } from "./conflicts.ts";
import { mergeFrom } from "./patch.ts";

const reason = noRealNodes();
let cluster: Cluster;
let connection: Connection;
let client: Client;
const transports: HttpTransport[] = [];

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-client`, nodes: 0, realNodes: reason ? 0 : 1 });
  connection = loadConnection({ kubeconfig: cluster.kubeconfig });
  client = connected();
});
afterAll(async () => {
  await Promise.all(transports.map((transport) => transport.close()));
  await cluster?.stop();
});

function connected(different: Partial<Connection> = {}): Client {
  const transport = new HttpTransport({ ...connection, ...different });
  transports.push(transport);
  return new Client(transport);
}

const config = (name: string, data: Record<string, string> = { a: "1" }): coreV1.ConfigMap => ({
  metadata: { name, labels: { of: "test" } },
  data,
});

describe("objects", () => {
  it("are created, read, replaced, patched and deleted", async () => {
    const created = await client.create(coreV1.ConfigMap, config("life"));
    expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default" } });
    const updated = await client.update(coreV1.ConfigMap, { ...created, data: { a: "2" } });
    expect(await client.get(coreV1.ConfigMap, { name: "life" })).toEqual(updated);
    await expect(client.update(coreV1.ConfigMap, { ...created, data: { a: "3" } })).rejects.toSatisfy(isConflict);

    const key = { namespace: "default", name: "life" };
    const merged = await client.patch(coreV1.ConfigMap, key, mergeFrom(updated, { ...updated, data: { b: "1" } }));
    expect(merged.data).toEqual({ b: "1" });
    await client.patch(coreV1.ConfigMap, key, {
      json: [
        { op: "test", path: "/data/b", value: "1" },
        { op: "add", path: "/data/c", value: "2" },
      ],
    });
    const failedTest = client.patch(coreV1.ConfigMap, key, { json: [{ op: "test", path: "/data/b", value: "x" }] });
    await expect(failedTest).rejects.toSatisfy(isInvalid);
    const stale = mergeFrom(updated, { ...updated, data: { d: "1" } }, { optimistic: true });
    await expect(client.patch(coreV1.ConfigMap, key, stale)).rejects.toSatisfy(isConflict);

    const wrong = { preconditions: { uid: "another" } };
    await expect(client.delete(coreV1.ConfigMap, key, wrong)).rejects.toSatisfy(isConflict);
    expect(await client.delete(coreV1.ConfigMap, key)).toBeUndefined();
    await expect(client.delete(coreV1.ConfigMap, key)).rejects.toSatisfy(isNotFound);
  });

  it("with finalizers are handed back until they are gone", async () => {
    await client.create(coreV1.ConfigMap, { metadata: { name: "held", finalizers: ["example.org/hold"] } });
    const held = await client.delete(coreV1.ConfigMap, { name: "held" });
    expect(held?.metadata.deletionTimestamp).toBeDefined();
    await client.patch(coreV1.ConfigMap, { name: "held" }, { merge: { metadata: { finalizers: null } } });
    expect(await client.find(coreV1.ConfigMap, { name: "held" })).toBeUndefined();
  });

  it("are listed by selectors and in pages, and deleted together", async () => {
    for (let i = 0; i < 5; i++) await client.create(coreV1.ConfigMap, config(`many-${i}`));
    const few = await client.list(coreV1.ConfigMap, { namespace: "default", labelSelector: "of=test", pageSize: 2 });
    expect(few.items.map(({ metadata }) => metadata.name)).toEqual(["many-0", "many-1", "many-2", "many-3", "many-4"]);
    expect(few.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    const one = await client.list(coreV1.ConfigMap, { fieldSelector: "metadata.name=many-3" });
    expect(one.items).toHaveLength(1);
    await client.deleteAllOf(coreV1.ConfigMap, { labelSelector: "of=test", dryRun: true });
    expect((await client.list(coreV1.ConfigMap, { labelSelector: "of=test" })).items).toHaveLength(5);
    await client.deleteAllOf(coreV1.ConfigMap, { labelSelector: "of=test" });
    expect((await client.list(coreV1.ConfigMap, { labelSelector: "of=test" })).items).toEqual([]);
  });

  it("are applied, field by field, and owners of fields are respected", async () => {
    const applied = { metadata: { name: "applied" }, data: { mine: "1" } };
    await client.apply(coreV1.ConfigMap, applied, { fieldManager: "me" });
    const yours = { ...applied, data: { mine: "2", yours: "1" } };
    await expect(client.apply(coreV1.ConfigMap, yours, { fieldManager: "you" })).rejects.toSatisfy(
      (error) => isConflict(error) && error.causes[0]?.field === ".data.mine",
    );
    const forced = await client.apply(coreV1.ConfigMap, yours, { fieldManager: "you", force: true });
    expect(forced.data).toEqual({ mine: "2", yours: "1" });
    // What I no longer say, and nobody else does, goes away.
    const less = await client.apply(coreV1.ConfigMap, { ...applied, data: {} }, { fieldManager: "you" });
    expect(less.data).toBeUndefined();
  });

  it("that are not valid are refused with every cause; unknown fields if that is wanted", async () => {
    const pod: coreV1.Pod = { metadata: { name: "bad" }, spec: { containers: [{ name: "A B" }] } };
    await expect(client.create(coreV1.Pod, pod)).rejects.toSatisfy((error) => {
      const fields = isInvalid(error) ? error.causes.map(({ field }) => field) : [];
      return fields.includes("spec.containers[0].name") && fields.includes("spec.containers[0].image");
    });
    const unknown = { ...config("strict"), dta: {} };
    await expect(client.create(coreV1.ConfigMap, unknown, { fieldValidation: "Strict" })).rejects.toMatchObject({
      code: "KUBE_API_BAD_REQUEST",
      message: expect.stringContaining('unknown field "dta"'),
    });
    expect((await client.create(coreV1.ConfigMap, config("dry"), { dryRun: true })).metadata.uid).toBeDefined();
    expect(await client.find(coreV1.ConfigMap, { name: "dry" })).toBeUndefined();
  });

  it("have subresources: status, scale, tokens", async () => {
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    const made = await client.create(appsV1.Deployment, { metadata: { name: "web" }, spec });
    const strategic = {
      spec: { template: { spec: { containers: [{ name: "c", env: [{ name: "X", value: "1" }] }] } } },
    };
    const patched = await client.patch(appsV1.Deployment, { name: "web" }, { strategic });
    expect(patched.spec?.template.spec?.containers[0]).toMatchObject({ image: "i", env: [{ name: "X", value: "1" }] });

    // The deployment's controller writes too.
    const scaled = await retryOnConflict(async () => {
      const scaling = client.subresource("scale");
      const scale = await scaling.get<appsV1.Deployment, autoscalingV1.Scale>(appsV1.Deployment, { name: "web" });
      return scaling.update<appsV1.Deployment, autoscalingV1.Scale>(appsV1.Deployment, {
        ...scale,
        spec: { replicas: 0 },
      });
    });
    expect(scaled).toMatchObject({ kind: "Scale", spec: {} });
    const paused = { type: "Paused", status: "True", reason: "Test", message: "by hand" };
    const status = await client.status.patch(
      appsV1.Deployment,
      { name: "web" },
      { merge: { status: { conditions: [paused] } } },
    );
    expect(status.status?.conditions).toMatchObject([paused]);
    expect(status.metadata.uid).toBe(made.metadata.uid);

    // A service account that may do nothing, by its own token.
    await client.create(coreV1.ServiceAccount, { metadata: { name: "nobody" } });
    const { status: issued } = await client.subresource("token").create<authenticationV1.TokenRequest>(
      coreV1.ServiceAccount,
      { name: "nobody" },
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: {},
      },
    );
    const { ca } = connection.tls;
    const nobody = connected({
      tls: ca === undefined ? {} : { ca },
      identity: { kind: "token", token: issued?.token ?? "" },
    });
    await expect(nobody.list(coreV1.Secret)).rejects.toSatisfy(
      (error) => isForbidden(error) && error.message.includes("system:serviceaccount:default:nobody"),
    );
    const review = await nobody.create(authenticationV1.SelfSubjectReview, { metadata: {} });
    expect(review.status?.userInfo?.username).toBe("system:serviceaccount:default:nobody");
    const impersonating = connected({ impersonate: { user: "jane", groups: ["system:masters"] } });
    const jane = await impersonating.create(authenticationV1.SelfSubjectReview, { metadata: {} });
    expect(jane.status?.userInfo?.username).toBe("jane");
  });

  it("are watched from a version on", async () => {
    const { resourceVersion } = await client.list(coreV1.ConfigMap, { namespace: "default" });
    const created = await client.create(coreV1.ConfigMap, config("watched"));
    await client.delete(coreV1.ConfigMap, { name: "watched" });
    const seen: string[] = [];
    for await (const { type, object } of client.watch(coreV1.ConfigMap, { namespace: "default", resourceVersion })) {
      seen.push(`${type} ${object.metadata.name} ${object.metadata.uid === created.metadata.uid}`);
      if (type === "DELETED") break;
    }
    expect(seen).toEqual(["ADDED watched true", "DELETED watched true"]);
  });
});

describe("connections", () => {
  it("check the server's name, or the one that they are told", async () => {
    const { ca, certificate, key } = connection.tls;
    const tls = { ...(ca && { ca }), ...(certificate && { certificate }), ...(key && { key }) };
    await connected({ tls: { ...tls, serverName: "kubernetes.default.svc" } }).find(coreV1.ConfigMap, { name: "x" });
    const wrong = connected({ tls: { ...tls, serverName: "example.org" } });
    await expect(wrong.create(coreV1.ConfigMap, config("x"))).rejects.toMatchObject({ code: "KUBE_CONNECTION_FAILED" });
    await connected({ tls: { ...tls, ca: "", insecure: true } }).find(coreV1.ConfigMap, { name: "x" });
  });

  it("show the certificate that a plug-in gives them", async () => {
    const { ca, certificate, key } = connection.tls;
    const script = join(dirname(cluster.kubeconfig), "plugin.mjs");
    const status = { clientCertificateData: certificate, clientKeyData: key };
    const apiVersion = "client.authentication.k8s.io/v1";
    writeFileSync(
      script,
      `console.log(${JSON.stringify(JSON.stringify({ apiVersion, kind: "ExecCredential", status }))})`,
    );
    const exec = { apiVersion, command: process.execPath, args: [script] };
    const plugged = connected({ tls: ca === undefined ? {} : { ca }, identity: { kind: "exec", exec } });
    const review = await plugged.create(authenticationV1.SelfSubjectReview, { metadata: {} });
    expect(review.status?.userInfo?.groups).toContain("system:masters");
  });
});

describe.skipIf(reason)(`containers${reason ? ` (skipped: ${reason})` : ""}`, () => {
  const pod = { name: "shell" };

  beforeAll(async () => {
    const command = ["sh", "-c", "for i in 1 2 3; do echo line $i; sleep 0.2; done; echo ünd fertig; sleep 1000"];
    const container = { name: "main", image: "berth.dev/busybox", imagePullPolicy: "Never", command } as const;
    await client.create(coreV1.Pod, {
      metadata: pod,
      spec: { terminationGracePeriodSeconds: 0, containers: [container] },
    });
    await eventually(async () => expect((await client.get(coreV1.Pod, pod)).status?.phase).toBe("Running"), 100);
  });

  it("have logs, which can be followed", async () => {
    const lines: string[] = [];
    for await (const line of client.logs(pod, { follow: true })) {
      lines.push(line);
      if (lines.length === 4) break;
    }
    expect(lines).toEqual(["line 1", "line 2", "line 3", "ünd fertig"]);
    const last = [];
    for await (const line of client.logs(pod, { tailLines: 1 })) last.push(line);
    expect(last).toEqual(["ünd fertig"]);
    await expect(client.logs({ name: "nobody" })[Symbol.asyncIterator]().next()).rejects.toSatisfy(isNotFound);
  });

  it("run commands, with input and an exit code", async () => {
    const run = async (...command: string[]) => (await client.exec(pod, { command })).result();
    expect(await run("sh", "-c", "echo out; echo err >&2; exit 3")).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 3,
    });
    const cat = await client.exec(pod, { command: ["cat"], stdin: true });
    cat.stdin.write("grüße ");
    cat.stdin.end("an alle");
    expect(await cat.result()).toEqual({ stdout: "grüße an alle", stderr: "", exitCode: 0 });
    const terminal = await client.exec(pod, { command: ["sh", "-c", "sleep 0.2; stty size"], tty: true, stdin: true });
    terminal.resize(100, 40);
    expect((await terminal.result()).stdout).toContain("40 100");
  });

  it("say why they do not", async () => {
    await expect(client.exec({ name: "nobody" }, { command: ["ls"] })).rejects.toSatisfy(isNotFound);
    const missing = await client.exec(pod, { command: ["/no/such/program"] });
    const ended = missing.result().then(
      ({ exitCode }) => exitCode,
      (error) => error.code,
    );
    expect([126, 127, "KUBE_EXEC_FAILED"]).toContain(await ended);
    const stop = new AbortController();
    const endless = await client.exec(pod, { command: ["sleep", "1000"], signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(endless.exitCode).rejects.toThrow("enough");
  });
});
