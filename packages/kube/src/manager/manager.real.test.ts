/** Two replicas of the example operator on a real cluster, killed without warning. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Cluster, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { loadConnection } from "../connect/connection.ts";
import { Lease } from "../kinds/coordination-v1.ts";
import { Pod } from "../kinds/core-v1.ts";
import { type KubernetesObject, kindOf } from "../objects/meta.ts";
import { eventually } from "../testing/eventually.ts";
import { HttpTransport } from "../transport/http-transport.ts";

const Website = kindOf<KubernetesObject & { spec: object; status?: { pods?: number } }>(
  "example.org/v1",
  "Website",
  "websites",
);
const OPERATOR = fileURLToPath(new URL("../../../../examples/website-operator.ts", import.meta.url));

let cluster: Cluster;
let transport: HttpTransport;
let client: Client;
const replicas = new Map<string, ChildProcess>();

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-manager`, nodes: 0, audit: true });
  transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  client = new Client(transport, { maxRetries: 10 });
});
afterAll(async () => {
  for (const replica of replicas.values()) replica.kill("SIGKILL");
  await transport?.close();
  await cluster?.stop();
});

/** Starts a replica; resolves to its identity, as it says it in its log. */
async function startReplica(): Promise<string> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const replica = spawn(process.execPath, [OPERATOR], { env, stdio: ["ignore", "inherit", "pipe"] });
  let log = "";
  replica.stderr.setEncoding("utf8").on("data", (text) => {
    log += text;
  });
  const identity = await eventually(() => {
    const found = log.match(/"waiting to lead".*"identity":"([^"]+)"/)?.[1];
    if (!found) throw new Error(`it is not waiting to lead yet: ${log}`);
    return found;
  });
  replicas.set(identity, replica);
  return identity;
}

const leader = async () => (await client.find(Lease, { name: "website-operator" }))?.spec?.holderIdentity || undefined;
const newLeader = (old: string | undefined) =>
  eventually(async () => {
    const now = await leader();
    if (!now || now === old) throw new Error("nobody leads");
    return now;
  }, 200);

const create = (name: string, number = 2) =>
  client.create(Website, { metadata: { name }, spec: { image: "example.org/web:1", replicas: number } });
const complete = (count: number) =>
  eventually(async () => {
    const { items } = await client.list(Website);
    expect(items).toHaveLength(count);
    for (const { status } of items) expect(status?.pods).toBe(2);
  }, 200);

describe("two replicas of an operator", () => {
  it("L1, L2, M2 do each piece of work once, whoever is killed", async () => {
    const first = await startReplica();
    expect(await newLeader(undefined)).toBe(first);
    const second = await startReplica();
    for (let i = 0; i < 10; i++) await create(`a${i}`);
    await complete(10);

    // The leader dies in the middle of its work.
    const more = Promise.all(Array.from({ length: 20 }, (_, i) => create(`b${i}`)));
    replicas.get(first)?.kill("SIGKILL");
    await more;
    expect(await newLeader(first)).toBe(second);
    await complete(30);

    // A third one takes over from a leader that is asked to end, without having to wait for the lease to run out.
    const third = await startReplica();
    const ended = new Promise<number | null>((resolve) => replicas.get(second)?.on("exit", resolve));
    replicas.get(second)?.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(await newLeader(second)).toBe(third);
    await create("c");
    await complete(31);

    // By the API server's own book: each pod was created once, and by whoever led.
    const { items } = await client.list(Pod, { namespace: "default" });
    expect(items).toHaveLength(62);
    const created = (await cluster.readAudit()).filter(
      ({ verb, objectRef, responseStatus }) =>
        verb === "create" && objectRef?.resource === "pods" && responseStatus?.code === 201,
    );
    expect(created).toHaveLength(62);
    expect(await cluster.kubectl("describe", "website", "c")).toMatch(/PodCreated.*created pod c-0/);
  });
});
