/** Informers on the real API server, which is killed now and then. */
import { type Cluster, startCluster } from "@berth/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { loadConnection } from "../connect/connection.ts";
import { ConfigMap, Namespace } from "../kinds/core-v1.ts";
import { eventually } from "../testing/eventually.ts";
import { integer, SeededRandom } from "../time/random.ts";
import { HttpTransport } from "../transport/http-transport.ts";
import { Informer } from "./informer.ts";

let cluster: Cluster;
let transport: HttpTransport;
let client: Client;

beforeAll(async () => {
  cluster = await startCluster({ name: `test-${process.pid}-informer`, nodes: 0, audit: true });
  transport = new HttpTransport(loadConnection({ kubeconfig: cluster.kubeconfig }));
  client = new Client(transport);
});
afterAll(async () => {
  await transport?.close();
  await cluster?.stop();
});

const versions = (objects: readonly ConfigMap[]) =>
  objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();

describe("an informer on the real API server", () => {
  it.each([true, false])("I7 gets everything, and follows (as a stream: %s)", async (streamLists) => {
    const namespace = `stream-${streamLists}`;
    await client.create(Namespace, { metadata: { name: namespace } });
    for (let i = 0; i < 5; i++) await client.create(ConfigMap, { metadata: { namespace, name: `c${i}` } });
    const informer = new Informer(client, ConfigMap, { namespace, streamLists, pageSize: 2 }).start();
    await informer.waitForSync();
    // The cluster brings a config map of its own, at a moment of its own.
    await eventually(async () => {
      expect(versions(informer.list())).toEqual(versions((await client.list(ConfigMap, { namespace })).items));
    });
    expect(informer.list()[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    expect(informer.list()[0]?.metadata.managedFields).toBeUndefined();
    await client.create(ConfigMap, { metadata: { namespace, name: "late" } });
    await eventually(() => expect(informer.get({ namespace, name: "late" })).toBeDefined());
    await informer.stop();
    // By the API server's own book, which it may write a little later: how the list was asked for.
    const asked = await eventually(async () => {
      const uris = (await cluster.readAudit()).map(({ requestURI }) => requestURI ?? "");
      const watches = uris.filter(
        (uri) => uri.includes(`/namespaces/${namespace}/configmaps?`) && uri.includes("allowWatchBookmarks"),
      );
      expect(watches.length).toBeGreaterThan(0);
      return watches;
    });
    expect(asked.some((uri) => uri.includes("sendInitialEvents=true"))).toBe(streamLists);
  });

  it("I1 has what the server has, however often the server is killed", async () => {
    const namespace = "default";
    const random = new SeededRandom("killed");
    const informers = [true, false].map((streamLists) =>
      new Informer(client, ConfigMap, { namespace, streamLists }).start(),
    );
    const [first] = informers as [Informer<ConfigMap>, Informer<ConfigMap>];
    await Promise.all(informers.map((informer) => informer.waitForSync()));
    const mirror = new Map<string | undefined, string | undefined>();
    const note = ({ metadata }: ConfigMap) => void mirror.set(metadata.name, metadata.resourceVersion);
    first.addEventHandler({
      onAdd: note,
      onUpdate: (_, object) => note(object),
      onDelete: ({ metadata }) => void mirror.delete(metadata.name),
    });
    for (let round = 0; round < 3; round++) {
      const writing = Promise.allSettled(
        Array.from({ length: 40 }, async () => {
          const name = `k${integer(random, 0, 15)}`;
          if (random.next() < 0.4) await client.delete(ConfigMap, { name });
          else
            await client.apply(
              ConfigMap,
              { metadata: { name }, data: { value: String(random.next()) } },
              { force: true },
            );
        }),
      );
      await cluster.kill("kube-apiserver");
      await writing;
      await cluster.restart("kube-apiserver");
    }
    await eventually(async () => {
      const truth = versions((await client.list(ConfigMap, { namespace })).items);
      for (const informer of informers) expect(versions(informer.list())).toEqual(truth);
      expect(Array.from(mirror, ([name, version]) => `${name}@${version}`).sort()).toEqual(truth);
    }, 200);
    await Promise.all(informers.map((informer) => informer.stop()));
  });
});
