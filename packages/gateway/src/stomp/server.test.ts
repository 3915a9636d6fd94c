import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, type LogFields, logTo, sleep, VirtualClock, WallClock } from "@berth/kube";
import { Client, type IFrame, type IMessage, type StompConfig } from "@stomp/stompjs";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { Streams } from "../auth/streams.ts";
import { GatewayError } from "../errors.ts";
import { TOPICS, type Topic } from "../feed.ts";
import { type Authenticate, type Reader, type StompLimits, StompServer } from "./server.ts";
import { FakeFeed } from "./testing/fake-feed.ts";
import { eventually, RawClient } from "./testing/raw-client.ts";

const clock = new WallClock();
const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Somebody who may read some topics. */
const reader = (user: string, allowed: readonly Topic[]): Reader => ({
  user,
  mustSee: async (topics) => {
    for (const topic of topics) {
      if (!allowed.includes(topic)) throw new GatewayError("BERTH_FORBIDDEN", `${user} may not read ${topic}`);
    }
  },
});

/** Knows "good", who may read all, and "poor", who may read jobs. Says more about others than it should. */
const authenticate: Authenticate = async (token) => {
  if (token === "good") return reader("ann", TOPICS);
  if (token === "poor") return reader("bob", ["jobs"]);
  if (token === "s3cret-broken") throw new TypeError(`cannot read s3cret-broken`);
  throw new GatewayError("BERTH_UNAUTHENTICATED", `nobody knows the token ${token}`);
};

interface Given {
  readonly limits?: Partial<StompLimits>;
  readonly authenticate?: Authenticate;
  readonly clock?: Clock;
  readonly streams?: Streams;
}

async function serve(given: Given = {}) {
  const feed = new FakeFeed();
  const logged: { message: string; fields: LogFields }[] = [];
  const stomp = new StompServer({
    feed,
    clock,
    log: logTo((_, message, fields) => logged.push({ message, fields })),
    authenticate,
    streams: new Streams(10_000),
    ...given,
  });
  const http: Server = createServer();
  http.on("upgrade", (request, socket, head) => stomp.handleUpgrade(request, socket, head));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/stomp`;
  endings.push(async () => {
    await stomp.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { feed, stomp, url, logged };
}

/** The client that browsers use, connected. */
async function stompjs(url: string, config: StompConfig = {}): Promise<Client> {
  const client = stompjsUnconnected(url, config);
  await new Promise<void>((resolve, reject) => {
    client.onConnect = () => resolve();
    client.onStompError = ({ headers }) => reject(new Error(headers.message));
    client.activate();
  });
  return client;
}

function stompjsUnconnected(url: string, config: StompConfig = {}): Client {
  const client = new Client({
    webSocketFactory: () => new WebSocket(url, ["v12.stomp", "v11.stomp", "v10.stomp"]),
    connectHeaders: { Authorization: "Bearer good" },
    reconnectDelay: 0,
    ...config,
  });
  endings.push(() => client.deactivate({ force: true }));
  return client;
}

/** Settles when the server has confirmed a frame; gives the headers to ask for that. */
function receipt(client: Client, id: string, ask: (headers: Record<string, string>) => void): Promise<IFrame> {
  return new Promise((resolve) => {
    client.watchForReceipt(id, resolve);
    ask({ receipt: id });
  });
}

const bodyOf = ({ body }: IMessage) => JSON.parse(body) as { type: string; name: string; items: { name: string }[] };

describe("a client with @stomp/stompjs", () => {
  it("S21 gets a snapshot and then all changes, none missing and none twice", async () => {
    const { feed, url } = await serve();
    for (let index = 0; index < 1100; index++) feed.put("jobs", `j${index}`, { text: "naïve\n\n{:}".repeat(20) });
    const client = await stompjs(url);
    expect(client.connectedVersion).toBe("1.2");
    let told = 0;
    const more = async () => {
      for (; told < 300; told++) {
        feed.put("jobs", `c${told}`);
        if (told % 10 === 0) await sleep(clock, 0);
      }
    };
    const changing = more();
    const messages: IMessage[] = [];
    client.subscribe("/topic/jobs", (message) => messages.push(message), { snapshot: "true", id: "a:b\\d\ne" });
    await changing;
    await eventually(() => expect(messages.map((each) => bodyOf(each).name)).toContain("c299"));
    const pages = messages.filter((each) => bodyOf(each).type === "snapshot");
    expect(pages.map((each) => JSON.parse(each.body).last)).toEqual([false, false, true]);
    expect(messages.slice(0, pages.length)).toEqual(pages);
    const names = messages.flatMap((each) => bodyOf(each).items?.map(({ name }) => name) ?? [bodyOf(each).name]);
    expect(names).toEqual([
      ...Array.from({ length: 1100 }, (_, index) => `j${index}`),
      ...Array.from({ length: 300 }, (_, index) => `c${index}`),
    ]);
    expect(messages[0]?.headers).toMatchObject({ subscription: "a:b\\d\ne", destination: "/topic/jobs" });
    expect(new Set(messages.map(({ headers }) => headers["message-id"])).size).toBe(messages.length);
  });

  it("S16 gets receipts, S13 and nothing after it has unsubscribed", async () => {
    const { feed, url } = await serve();
    const client = await stompjs(url);
    const messages: string[] = [];
    await receipt(client, "r1", (headers) => {
      client.subscribe("/topic/slots", (message) => messages.push(bodyOf(message).name), { ...headers, id: "s" });
    });
    expect(feed.subscribers).toBe(1);
    feed.put("slots", "first");
    await eventually(() => expect(messages).toEqual(["first"]));
    await receipt(client, "r2", (headers) => client.unsubscribe("s", headers));
    expect(feed.subscribers).toBe(0);
  });

  it("S14 acknowledges what it gets", async () => {
    const { feed, url } = await serve({ limits: { unacknowledged: 2 } });
    const client = await stompjs(url);
    const names: string[] = [];
    await receipt(client, "r", (headers) => {
      const taking = (message: IMessage) => {
        names.push(bodyOf(message).name);
        message.ack();
      };
      client.subscribe("/topic/jobs", taking, { ...headers, ack: "client-individual" });
    });
    for (const name of ["a", "b", "c", "d", "e"]) {
      feed.put("jobs", name);
      await eventually(() => expect(names.at(-1)).toBe(name));
      await receipt(client, `after ${name}`, (headers) => {
        client.subscribe("/topic/slots", () => {}, { ...headers, id: name });
      });
    }
    expect(client.connected).toBe(true);
  });

  it("S17 is confirmed that it disconnects", async () => {
    const { feed, stomp, url } = await serve();
    const client = await stompjs(url);
    client.subscribe("/topic/jobs", () => {});
    const confirmed = new Promise<IFrame>((resolve) => {
      client.onDisconnect = resolve;
    });
    await client.deactivate();
    expect((await confirmed).command).toBe("RECEIPT");
    await eventually(() => expect([stomp.connections, feed.subscribers]).toEqual([0, 0]));
  });

  it("S11 stays connected by heart-beats of both sides", async () => {
    const { url } = await serve({ limits: { heartBeat: 400 } });
    let beats = 0;
    const client = stompjsUnconnected(url, { heartbeatIncoming: 400, heartbeatOutgoing: 400 });
    client.onHeartbeatReceived = () => beats++;
    let lost = false;
    client.onHeartbeatLost = () => {
      lost = true;
    };
    client.activate();
    await eventually(() => expect(beats).toBeGreaterThan(4));
    expect([client.connected, lost]).toEqual([true, false]);
  });

  it.each(["Bearer wrong", ""])("S27 is told if nobody knows its token: %j", async (Authorization) => {
    const { stomp, url } = await serve();
    const client = stompjsUnconnected(url, { connectHeaders: { Authorization } });
    const error = await new Promise<IFrame>((resolve) => {
      client.onStompError = resolve;
      client.activate();
    });
    expect(error.headers).toMatchObject({ code: "BERTH_UNAUTHENTICATED" });
    await eventually(() => expect(stomp.connections).toBe(0));
  });

  it("S29 is told if it may not read a topic, and gets those that it may", async () => {
    const { feed, url } = await serve();
    const client = await stompjs(url, { connectHeaders: { passcode: "poor" } });
    await receipt(client, "r", (headers) => client.subscribe("/topic/jobs", () => {}, headers));
    const error = await new Promise<IFrame>((resolve) => {
      client.onStompError = resolve;
      client.subscribe("/topic/slots", () => {}, { receipt: "q" });
    });
    expect(error.headers).toMatchObject({ code: "BERTH_FORBIDDEN", "receipt-id": "q" });
    expect(error.body).toContain("bob may not read slots");
    await eventually(() => expect(feed.subscribers).toBe(0));
  });

  it("S1 may send its frames in pieces, S19 and is told that topics are read only", async () => {
    const { url } = await serve();
    const client = await stompjs(url, { splitLargeFrames: true, maxWebSocketChunkSize: 7 });
    const error = await new Promise<IFrame>((resolve) => {
      client.onStompError = resolve;
      client.publish({ destination: "/topic/jobs", body: "hello" });
    });
    expect(error.headers).toMatchObject({ code: "BERTH_METHOD_NOT_ALLOWED" });
  });
});

describe("the server", () => {
  it("S24 tells a change to 1000 subscribers", async () => {
    const { feed, stomp, url } = await serve();
    const clients: RawClient[] = [];
    while (clients.length < 1000) {
      const next = Array.from({ length: 50 }, () => RawClient.connect(url));
      clients.push(...(await Promise.all(next)));
    }
    endings.push(() => {
      for (const { webSocket } of clients) webSocket.terminate();
    });
    for (const client of clients) client.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs" });
    await eventually(() => expect(feed.subscribers).toBe(1000));
    feed.put("jobs", "a");
    await eventually(() => expect(clients.filter(({ frames }) => frames.length < 2)).toHaveLength(0));
    expect(clients.every((client) => (client.messages()[0] as { name: string }).name === "a")).toBe(true);
    expect(stomp.connections).toBe(1000);
  });

  it("S25 chooses the best of the sub-protocols, sends text, and does not compress", async () => {
    const { url } = await serve();
    for (const [protocols, chosen] of [
      [["v10.stomp", "v11.stomp", "v12.stomp"], "v12.stomp"],
      [["v10.stomp", "other"], "v10.stomp"],
      [[], ""],
    ] as const) {
      const client = await RawClient.open(url, { protocols: [...protocols], perMessageDeflate: true });
      expect([client.webSocket.protocol, client.webSocket.extensions]).toEqual([chosen, ""]);
      client.webSocket.send(Buffer.from("CONNECT\naccept-version:1.2\npasscode:good\n\n\0"), { binary: true });
      await client.heard("CONNECTED");
      expect(client.binary).toBe(0);
    }
  });

  it("S27 takes the token of the upgrade before that of CONNECT", async () => {
    const { url } = await serve();
    const headers = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const good = await RawClient.connect(url, { passcode: "wrong" }, headers("good"));
    expect((await good.heard("CONNECTED")).headers.get("user-name")).toBe("ann");
    const bad = await RawClient.open(url, headers("wrong"));
    bad.say("CONNECT", { "accept-version": "1.2", passcode: "good" });
    await bad.heard("ERROR", { code: "BERTH_UNAUTHENTICATED" });
    expect(await bad.closed()).toBe(1008);
  });

  it.each(["s3cret-unknown", "s3cret-broken"])("S28 repeats no token, whoever fails: %s", async (token) => {
    const { url, logged } = await serve();
    const client = await RawClient.open(url);
    client.say("CONNECT", { "accept-version": "1.2", passcode: token, Authorization: `Bearer ${token}` });
    const error = await client.heard("ERROR");
    await client.closed();
    const malformed = await RawClient.open(url);
    malformed.webSocket.send(`CONNECT\npasscode:good\n${token}\n\n\0`);
    const other = await malformed.heard("ERROR");
    const unknown = await RawClient.open(url);
    unknown.webSocket.send(`${token}\n\nx\0`);
    const third = await unknown.heard("ERROR");
    for (const { headers, body } of [error, other, third]) {
      expect(JSON.stringify([...headers]) + body.toString()).not.toContain("s3cret");
    }
    expect(JSON.stringify(logged)).not.toContain("s3cret");
    expect(error.headers.get("code")).toBe(
      token === "s3cret-broken" ? "BERTH_GATEWAY_FAILED" : "BERTH_UNAUTHENTICATED",
    );
  });

  it("S34 tells who may not read one of his topics any more, and closes; before that, and after, nobody is disturbed", async () => {
    const clock = new VirtualClock();
    const allowed: Topic[] = ["jobs", "slots"];
    const { feed, stomp, url } = await serve({ clock, authenticate: async () => reader("ann", allowed) });
    const [one, both] = [await RawClient.connect(url), await RawClient.connect(url)];
    for (const [client, topic] of [
      [one, "jobs"],
      [both, "jobs"],
      [both, "slots"],
    ] as const) {
      client.say("SUBSCRIBE", { id: topic, destination: `/topic/${topic}`, receipt: topic });
      await client.heard("RECEIPT", { "receipt-id": topic });
    }
    await clock.advance(60_000);
    expect(stomp.connections).toBe(2);
    allowed.pop();
    await clock.advance(15_000);
    await both.heard("ERROR", { code: "BERTH_FORBIDDEN", message: "ann may not read slots" });
    expect(await both.closed()).toBe(1008);
    await eventually(() => expect([stomp.connections, feed.subscribers]).toEqual([1, 1]));
    feed.put("jobs", "later");
    await eventually(() => expect(one.messages()).toMatchObject([{ name: "later" }]));
    one.say("UNSUBSCRIBE", { id: "jobs", receipt: "none" });
    await one.heard("RECEIPT", { "receipt-id": "none" });
    allowed.pop(); // which he does not read any more
    await clock.advance(15_000);
    expect(one.closeCode).toBeUndefined();
  });

  it("S34 tells whom nobody knows any more, also if he reads nothing", async () => {
    const clock = new VirtualClock();
    let isKnown = true;
    const mustSee = async () => {
      if (!isKnown) throw new GatewayError("BERTH_UNAUTHENTICATED", "the token s3cret is not valid any more");
    };
    const { url } = await serve({ clock, authenticate: async () => ({ user: "ann", mustSee }) });
    const client = await RawClient.connect(url, { passcode: "s3cret" });
    isKnown = false;
    await clock.advance(15_000);
    const error = await client.heard("ERROR", { code: "BERTH_UNAUTHENTICATED" });
    expect(error.headers.get("message")).toBe("the token (token) is not valid any more");
    expect(await client.closed()).toBe(1008);
  });

  it("S30 has no more connections than it may have, in total and from one address", async () => {
    const total = await serve({ limits: { connections: 2 } });
    const first = await RawClient.open(total.url);
    await RawClient.open(total.url);
    await expect(RawClient.open(total.url)).rejects.toThrow("503");
    first.webSocket.close();
    await eventually(() => expect(total.stomp.connections).toBe(1));
    await RawClient.open(total.url);
    const each = await serve({ limits: { connectionsPerAddress: 1 } });
    const only = await RawClient.open(each.url);
    await expect(RawClient.open(each.url)).rejects.toThrow("429");
    only.webSocket.terminate();
    await eventually(() => expect(each.stomp.connections).toBe(0));
    await RawClient.open(each.url);
  });

  it("S30 lets each user have so many connections and subscriptions, and again as many when they have ended", async () => {
    const streams = new Streams(3);
    const { stomp, url } = await serve({ streams });
    const subscribe = (client: RawClient, id: string) =>
      client.say("SUBSCRIBE", { id, destination: "/topic/jobs", receipt: id });
    const first = await RawClient.connect(url);
    for (const id of ["a", "b"]) {
      subscribe(first, id);
      await first.heard("RECEIPT", { "receipt-id": id });
    }
    const second = await RawClient.open(url);
    second.say("CONNECT", { "accept-version": "1.2", passcode: "good" });
    await second.heard("ERROR", { code: "BERTH_TOO_MANY_STREAMS" });
    expect(await second.closed()).toBe(1008);
    await RawClient.connect(url, { passcode: "poor" }); // who is somebody else
    first.say("UNSUBSCRIBE", { id: "a", receipt: "less" });
    await first.heard("RECEIPT", { "receipt-id": "less" });
    const third = await RawClient.connect(url);
    subscribe(third, "c");
    await third.heard("ERROR", { code: "BERTH_TOO_MANY_STREAMS", "receipt-id": "c" });
    await third.closed();
    first.webSocket.terminate();
    await eventually(() => expect(stomp.connections).toBe(1));
    for (let count = 0; count < 3; count++) streams.open("ann");
    expect(() => streams.open("ann")).toThrow("as many as may be");
  });

  it("S30 waits for CONNECT for so long, and for who is being authenticated no longer", async () => {
    const never = new Promise<never>(() => {});
    const { stomp, url } = await serve({ limits: { connectWithin: 50 }, authenticate: () => never });
    const silent = await RawClient.open(url);
    const waiting = await RawClient.open(url);
    waiting.say("CONNECT", { "accept-version": "1.2", passcode: "good" });
    for (const client of [silent, waiting]) {
      expect((await client.heard("ERROR")).headers.get("message")).toMatch(/50 ms/);
      await client.closed();
    }
    await eventually(() => expect(stomp.connections).toBe(0));
  });

  it("S30 takes no message of WebSocket that is too large", async () => {
    const { stomp, url } = await serve({ limits: { webSocketMessage: 1000 } });
    const client = await RawClient.connect(url);
    client.webSocket.send("x".repeat(1001));
    expect(await client.closed()).toBe(1009);
    await eventually(() => expect(stomp.connections).toBe(0));
  });

  it("S11 closes the connection of who is silent, though it promised not to be", async () => {
    const { url } = await serve({ limits: { heartBeat: 50 } });
    const client = await RawClient.connect(url, { "heart-beat": "50,50" });
    await client.heard("ERROR", { message: "there were no heart-beats" });
    await client.closed();
    expect(client.beats).toBeGreaterThan(0);
  });

  it.each([
    ["no header", "SUBSCRIBE\nnonsense\n\n\0"],
    ["an unknown escape", "SUBSCRIBE\nid:\\x\n\n\0"],
    ["an unknown command", "HELLO\n\n\0"],
    ["another protocol", "GET / HTTP/1.1\r\nhost: a\r\n\r\n\0"],
    ["too many headers", `SUBSCRIBE\n${"a:b\n".repeat(65)}\n\0`],
    ["a line without an end", "x".repeat(20_000)],
  ])("S18 answers %s with ERROR, and closes", async (_, text) => {
    const { stomp, url } = await serve();
    const client = await RawClient.connect(url);
    client.webSocket.send(text);
    await client.heard("ERROR");
    expect(await client.closed()).toBe(1002);
    await eventually(() => expect(stomp.connections).toBe(0));
  });

  it.each([
    ["1.0", "a\\tb"],
    ["1.1", "a\\cb"],
  ])("S6 reads what comes after CONNECT as version %s has it", async (version, escaped) => {
    const { url } = await serve();
    const client = await RawClient.open(url);
    const connect = `CONNECT\naccept-version:${version}\npasscode:good\n\n\0`;
    client.webSocket.send(`${connect}SUBSCRIBE\nid:a\ndestination:/topic/jobs\nreceipt:${escaped}\n\n\0`);
    await client.heard("RECEIPT", { "receipt-id": version === "1.1" ? "a:b" : escaped });
    expect(client.raw).toContain(`receipt-id:${escaped}\n`);
  });

  it("S18 takes frames that come together one after the other, and none after one that was wrong", async () => {
    const { feed, url } = await serve();
    const client = await RawClient.open(url);
    const subscribe = (id: string) => `SUBSCRIBE\nid:${id}\ndestination:/topic/jobs\nreceipt:${id}\n\n\0\n`;
    const connect = "CONNECT\naccept-version:1.1,1.2\npasscode:good\n\n\0";
    client.webSocket.send(`${connect}${subscribe("a")}${subscribe("b")}HELLO\n\n\0${subscribe("c")}`);
    await client.closed();
    const commands = client.frames.map(({ command, headers }) => [command, headers.get("receipt-id")]);
    expect(commands).toEqual([
      ["CONNECTED", undefined],
      ["RECEIPT", "a"],
      ["RECEIPT", "b"],
      ["ERROR", undefined],
    ]);
    expect(feed.subscribers).toBe(0);
  });

  it("S31 cuts off who does not read, while others go on", async () => {
    const limits = { sendBuffer: 256 * 1024, patience: 2000, linger: 100 };
    const { feed, stomp, url, logged } = await serve({ limits });
    const slow = await RawClient.connect(url);
    const quick = await RawClient.connect(url);
    for (const client of [slow, quick]) {
      client.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: "r" });
      await client.heard("RECEIPT");
    }
    slow.webSocket.pause();
    const text = "x".repeat(64 * 1024);
    // Far more than what the system keeps for a connection.
    for (let told = 1; told <= 300; told++) {
      feed.put("jobs", `j${told}`, { text });
      if (told % 5 === 0) await eventually(() => expect(quick.frames.length).toBe(told + 2));
    }
    await eventually(() => expect(stomp.connections).toBe(1));
    expect(logged.map(({ message }) => message)).toContain("a client was too slow and was cut off");
    expect(feed.subscribers).toBe(1);
    feed.put("jobs", "last");
    await eventually(() => expect(quick.messages().at(-1)).toMatchObject({ name: "last" }));
    expect(quick.closeCode).toBeUndefined();
    slow.webSocket.resume();
    await slow.closed();
  });

  it("S31 cuts off who asks without reading the answers", async () => {
    const { stomp, url } = await serve({ limits: { sendBuffer: 1024, linger: 100 } });
    const client = await RawClient.connect(url);
    client.webSocket.pause();
    const receiptId = "r".repeat(8000);
    await eventually(() => {
      for (let count = 0; count < 100; count++) {
        client.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: receiptId });
        client.say("UNSUBSCRIBE", { id: "1", receipt: receiptId });
      }
      expect(stomp.connections).toBe(0);
    });
    client.webSocket.terminate();
  });

  it("S32 says goodbye to all when it closes, and lets nobody in any more", async () => {
    const { feed, stomp, url } = await serve({ limits: { linger: 500 } });
    const client = await RawClient.connect(url);
    client.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs", receipt: "r" });
    await client.heard("RECEIPT");
    const deaf = await RawClient.connect(url);
    deaf.webSocket.pause();
    await stomp.close();
    expect([stomp.connections, feed.subscribers]).toEqual([0, 0]);
    expect(await client.closed()).toBe(1001);
    await expect(RawClient.open(url)).rejects.toThrow("503");
    deaf.webSocket.terminate();
  });

  it("S32 serves nobody whose subscription was still looked into", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const mustSee = () => {
      asked.resolve();
      return answer.promise;
    };
    const { feed, stomp, url } = await serve({ authenticate: async () => ({ user: "ann", mustSee }) });
    const client = await RawClient.connect(url);
    client.say("SUBSCRIBE", { id: "1", destination: "/topic/jobs" });
    await asked.promise;
    await stomp.close();
    answer.resolve();
    await sleep(clock, 0);
    expect(feed.subscribers).toBe(0);
  });
});
