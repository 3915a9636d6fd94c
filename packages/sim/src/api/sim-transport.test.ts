/** The server as the runtime of `@berth/kube` sees it. */
import { Client, Informer, isConflict, isNotFound, retryOnConflict, sleep, VirtualClock, WallClock } from "@berth/kube";
import { describe, expect, it } from "vitest";
import { Thing, thingServer } from "../testing/things.ts";
import { SimTransport } from "./sim-transport.ts";

function connected() {
  const { server, clock } = thingServer();
  const transport = new SimTransport(server, { namespace: "n" });
  return { server, clock, transport, client: new Client(transport, { clock }) };
}

describe("a transport in this process", () => {
  it("T1 carries a client's requests", async () => {
    const { client } = connected();
    const made = await client.create(Thing, { metadata: { name: "a" }, spec: { size: 1 } });
    expect(await client.get(Thing, { name: "a" })).toBe(made);
    await expect(client.get(Thing, { name: "b" })).rejects.toSatisfy(isNotFound);
    await client.update(Thing, { ...made, spec: { size: 2 } });
    await expect(client.update(Thing, { ...made, spec: { size: 3 } })).rejects.toSatisfy(isConflict);
    await retryOnConflict(async () => {
      const now = await client.get(Thing, { name: "a" });
      await client.update(Thing, { ...now, spec: { size: 4 } });
    });
    expect((await client.list(Thing)).items.map(({ spec }) => spec?.size)).toEqual([4]);
    await client.delete(Thing, { name: "a" });
    expect((await client.list(Thing)).items).toEqual([]);
  });

  it("T2 feeds an informer, in virtual time as long as you like", async () => {
    const { client, clock } = connected();
    await client.create(Thing, { metadata: { name: "a" } });
    const informer = new Informer(client, Thing, { clock }).start();
    await informer.waitForSync();
    const seen: string[] = [];
    informer.addEventHandler({ onAdd: ({ metadata }) => void seen.push(`${metadata.name}`) });
    await clock.advance(24 * 3600 * 1000);
    await client.create(Thing, { metadata: { name: "b" } });
    await clock.settle();
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect(seen).toEqual(["a", "b"]);
    await informer.stop();
  });

  it("T3 hands over no faster than is taken, and never in the moment of the change", async () => {
    const { client, transport } = connected();
    const seen: string[] = [];
    const over = new AbortController();
    const watched = transport.watch({ kind: Thing, namespace: "n", signal: over.signal }, async ({ object }) => {
      seen.push(`begin ${object.metadata.name}`);
      await sleep(new WallClock(), 1);
      seen.push(`end ${object.metadata.name}`);
    });
    await client.create(Thing, { metadata: { name: "a" } });
    await client.create(Thing, { metadata: { name: "b" } });
    expect(seen).not.toContain("end a");
    while (seen.length < 4) await sleep(new WallClock(), 1);
    expect(seen).toEqual(["begin a", "end a", "begin b", "end b"]);
    over.abort(new Error("enough"));
    await expect(watched).rejects.toThrow("enough");
  });

  it("T4 ends a watch when its time is up, when it is refused, and when it is closed", async () => {
    const { clock, transport, server } = connected();
    const timed = transport.watch({ kind: Thing, parameters: { timeoutSeconds: 5 } }, () => {});
    await clock.advance(5000);
    await timed;
    server.store.compact();
    await expect(transport.watch({ kind: Thing, parameters: { resourceVersion: "0x" } }, () => {})).rejects.toThrow(
      "400",
    );
    const failing = transport.watch({ kind: Thing }, () => Promise.reject(new Error("mine")));
    await new Client(transport, { clock: new VirtualClock() }).create(Thing, { metadata: { name: "a" } });
    await expect(failing).rejects.toThrow("mine");
    const closed = transport.watch(
      { kind: Thing, parameters: { resourceVersion: String(server.store.version) } },
      () => {},
    );
    await transport.close();
    await expect(closed).rejects.toThrow("closed");
    await expect(transport.request({ verb: "list", kind: Thing })).rejects.toThrow("closed");
  });
});
