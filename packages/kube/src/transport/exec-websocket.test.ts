/** Commands in containers, against a server that says whatever the test wants. */
import { subscribe } from "node:diagnostics_channel";
import { getEventListeners } from "node:events";
import { Pool } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Exec } from "../client/exec.ts";
import { KubeError } from "../errors.ts";
import { eventually } from "../testing/eventually.ts";
import { VirtualClock } from "../time/clock.ts";
import { ApiError, isForbidden, isUnauthorized } from "./api-error.ts";
import { type ExecAccess, type ExecEndpoint, execOverWebSocket } from "./exec-websocket.ts";
import { frame, type Handshake, OPCODE, type Peer, WebSocketServer } from "./testing/websocket-server.ts";
import type { ExecConnection, ExecRequest, Transport } from "./transport.ts";

const { binary, text, close, ping } = OPCODE;
const [stdout, stderr, status] = [1, 2, 3].map((channel) => (said: string) => {
  return frame(binary, Buffer.concat([Buffer.of(channel), Buffer.from(said)]));
}) as [Say, Say, Say];
type Say = (said: string) => Buffer;

const success = status('{"status":"Success"}');
const exited = (code: string) => {
  const causes = [{ reason: "ExitCode", message: code }];
  return status(
    JSON.stringify({ status: "Failure", reason: "NonZeroExitCode", message: "it ended", details: { causes } }),
  );
};
const enough = new Error("enough");
const never = new Promise<never>(() => {});

let server: WebSocketServer;
let pool: Pool;
let clock: VirtualClock;
let closed: AbortController;
let stop: AbortController;
let said: string[];
/** Handshakes that no test has asked for yet. */
let came: Handshake[];
let wanted: ((handshake: Handshake) => void)[];

beforeEach(async () => {
  [came, wanted, said] = [[], [], []];
  server = await WebSocketServer.start((handshake) => {
    const taker = wanted.shift();
    if (taker) taker(handshake);
    else came.push(handshake);
  });
  pool = new Pool(server.url.replace("ws:", "http:"));
  clock = new VirtualClock();
  [closed, stop] = [new AbortController(), new AbortController()];
});
afterEach(async () => {
  await server.stop();
  await pool.destroy();
  for (const { signal } of [stop, closed]) expect(getEventListeners(signal, "abort")).toEqual([]);
});

async function handshake(): Promise<Handshake> {
  return came.shift() ?? (await new Promise((resolve) => wanted.push(resolve)));
}

const access = (different: Partial<ExecAccess> = {}): ExecAccess => ({
  headers: {},
  dispatcher: pool,
  limits: { headersTimeout: 60_000, bodyTimeout: 60_000 },
  renew: async () => false,
  ...different,
});

function start(endpoint: Partial<ExecEndpoint> = {}, request: Partial<ExecRequest> = {}): Promise<ExecConnection> {
  return execOverWebSocket(
    {
      pod: { name: "p" },
      command: ["ls", "-l"],
      stdin: true,
      tty: false,
      signal: stop.signal,
      onOutput: (stream, bytes) => said.push(`${stream}: ${Buffer.from(bytes)}`),
      ...request,
    },
    {
      url: server.url,
      namespace: "n",
      clock,
      closed: closed.signal,
      access: async () => access(),
      refusal: (_asked, { statusCode, text }) => new ApiError({ ...JSON.parse(text || "{}"), code: statusCode }),
      ...endpoint,
    },
  );
}

/** A command that runs. */
async function running(request: Partial<ExecRequest> = {}): Promise<{ exec: ExecConnection; peer: Peer }> {
  const starting = start({}, request);
  const peer = (await handshake()).accept();
  return { exec: await starting, peer };
}

/** As a server does in the end. */
async function sayGoodbye(peer: Peer): Promise<void> {
  expect((await peer.next()).opcode).toBe(close);
  peer.send(frame(close));
  peer.socket.end();
  await peer.gone;
}

const failed = (message: string) => ({ code: "KUBE_EXEC_FAILED", message: expect.stringContaining(message) });

describe("a command in a container", () => {
  it("N15 says something, and ends with an exit code", async () => {
    const starting = start({}, { container: "c" });
    const asked = await handshake();
    expect(asked.request.url).toBe(
      "/api/v1/namespaces/n/pods/p/exec?container=c&command=ls&command=-l&stdin=true&tty=false&stdout=true&stderr=true",
    );
    const peer = asked.accept();
    const { exitCode } = await starting;
    for (const each of [stdout(""), stdout("grüße"), stderr("oh"), exited("3")]) peer.send(each);
    expect(await exitCode).toBe(3);
    expect(said).toEqual(["stdout: grüße", "stderr: oh"]);
    await sayGoodbye(peer);
  });

  it("N15 may have ended before anybody listens", async () => {
    const starting = start();
    (await handshake()).accept({ first: [stdout("hello"), success] });
    expect(await (await starting).exitCode).toBe(0);
    expect(said).toEqual(["stdout: hello"]);
  });

  it("N15 gets input, its end, and the size of the terminal", async () => {
    const { exec, peer } = await running();
    await exec.write(Buffer.from("hi"));
    exec.resize(100, 40);
    exec.endInput();
    expect((await peer.next()).payload).toEqual(Buffer.from("\0hi"));
    expect((await peer.next()).payload).toEqual(Buffer.from('\x04{"Width":100,"Height":40}'));
    expect((await peer.next()).payload).toEqual(Buffer.of(255, 0));
    peer.send(success);
    expect(await exec.exitCode).toBe(0);
  });

  it("N15 is a pair of streams and a result for whoever wants that", async () => {
    const transport: Partial<Transport> = { exec: (request) => start({}, request) };
    const starting = Exec.start(transport as Transport, { name: "p" }, { command: ["cat"], stdin: true });
    const peer = (await handshake()).accept();
    const exec = await starting;
    exec.stdin.end("hi");
    expect((await peer.next()).payload).toEqual(Buffer.from("\0hi"));
    expect((await peer.next()).payload).toEqual(Buffer.of(255, 0));
    for (const each of [stdout("hi"), stderr("oh"), success]) peer.send(each);
    expect(await exec.result()).toEqual({ stdout: "hi", stderr: "oh", exitCode: 0 });
  });

  it.each([
    ["a status that is not JSON", status("{oops"), "cannot be read: {oops"],
    ["a status of another shape", status(`{"reason":"NonZeroExitCode","details":{"causes":1}}`), "cannot be read"],
    ["a status that says nothing", status("null"), "it failed"],
    ["a failure without an exit code", status('{"status":"Failure","message":"no such file"}'), "no such file"],
    ["an exit code that is no number", exited("many"), "it ended"],
    ["a message of text", frame(text, "hello"), "a message of text"],
    ["an empty message", frame(binary), "an empty message"],
    ["a frame that is none", frame(7), "the connection ended before the command"],
    ["a good-bye", frame(close), "the connection ended before the command"],
  ])("N15 fails, and nothing else does, after %s", async (_, sent, message) => {
    const { exec, peer } = await running();
    peer.send(sent);
    if (sent.equals(frame(close))) peer.socket.end();
    await expect(exec.exitCode).rejects.toMatchObject(failed(message));
    peer.socket.end();
    await peer.gone;
    exec.endInput(); // goes nowhere
  });

  it("N15 fails when the connection breaks, or is closed from here", async () => {
    const broken = await running();
    broken.peer.socket.destroy();
    await expect(broken.exec.exitCode).rejects.toMatchObject(failed("the connection ended before the command"));
    const left = await running();
    left.exec.close();
    await expect(left.exec.exitCode).rejects.toMatchObject(failed("it was closed before the command ended"));
    await sayGoodbye(left.peer);
  });

  it("N15 fails with what the reader of its output throws", async () => {
    const onOutput = () => {
      throw enough;
    };
    const { exec, peer } = await running({ onOutput });
    peer.send(stdout("hello"));
    await expect(exec.exitCode).rejects.toBe(enough);
    await sayGoodbye(peer);
  });

  it("N15 does not wait for ever for the other side to go", async () => {
    const silent = await running();
    silent.peer.send(success);
    expect(await silent.exec.exitCode).toBe(0);
    await clock.advance(5_000);
    await silent.peer.gone;
    const lingering = await running();
    lingering.peer.send(frame(close));
    expect((await lingering.peer.next()).opcode).toBe(close);
    await clock.advance(30_000);
    await expect(lingering.exec.exitCode).rejects.toMatchObject(failed("the connection ended"));
    expect(clock.pending).toBe(0);
  });

  it("N16 may be silent: pings keep its connection", async () => {
    const { exec, peer } = await running();
    for (let round = 0; round < 3; round++) {
      await clock.advance(30_000);
      expect((await peer.next()).opcode).toBe(ping);
    }
    peer.send(success);
    expect(await exec.exitCode).toBe(0);
    await sayGoodbye(peer);
    await eventually(() => expect(clock.pending).toBe(0));
  });

  it("N17 takes input as fast as the connection does, in pieces", async () => {
    const { exec, peer } = await running();
    peer.socket.pause();
    const much = Buffer.alloc(16 * 1024 * 1024, "x"); // more than the system holds for a connection
    let taken = false;
    const writing = Promise.all([exec.write(much), exec.write(Buffer.from("y"))]).then(() => {
      taken = true;
    });
    peer.send(stdout("still there"));
    while (said.length === 0) await clock.settle();
    expect(taken).toBe(false);
    peer.socket.resume();
    await writing;
    let received = 0;
    for (let piece = await peer.next(); piece.payload[1] !== 121; piece = await peer.next()) {
      expect(piece.payload.length).toBeLessThanOrEqual(32 * 1024 + 1);
      received += piece.payload.length - 1;
    }
    expect(received).toBe(much.length);
    peer.socket.pause();
    const unheard = exec.write(much);
    stop.abort(enough);
    await unheard; // nobody waits for a connection that is gone
  });
});

describe("a command that is refused", () => {
  it("N7 says why", async () => {
    const starting = start();
    (await handshake()).refuse(403, '{"kind":"Status","reason":"Forbidden","message":"not yours"}');
    await expect(starting).rejects.toSatisfy(isForbidden);
    await expect(starting).rejects.toThrow("not yours (403)");
    const broken = start();
    const asked = await handshake();
    asked.refuse(403, "", 100);
    asked.socket.end();
    await expect(broken).rejects.toSatisfy(isForbidden);
    expect(came).toEqual([]);
  });

  it("N7 tells a server that cannot be reached, or does not do WebSockets", async () => {
    const failure = (message: string) => ({
      code: "KUBE_CONNECTION_FAILED",
      message: expect.stringContaining(message),
    });
    const cut = start();
    (await handshake()).socket.destroy();
    await expect(cut).rejects.toMatchObject(failure("exec in pod p: "));
    const plain = start();
    (await handshake()).refuse(400, '{"reason":"BadRequest","message":"Upgrade request required"}');
    await expect(plain).rejects.toMatchObject(failure("lets no WebSocket through"));
    const old = start();
    const asked = await handshake();
    asked.accept({ protocol: "v4.channel.k8s.io" });
    await expect(old).rejects.toMatchObject(failure("does not speak v5.channel.k8s.io"));
    await asked.gone;
  });

  it("N9 gives up a server that says nothing", async () => {
    const impatient = async () => access({ limits: { headersTimeout: 20, bodyTimeout: 20 } });
    const silent = start({ access: impatient });
    await expect(silent).rejects.toMatchObject({ code: "KUBE_CONNECTION_FAILED" });
  });

  it("N18 is tried once more with a new credential, and only then", async () => {
    const [tokens, renewed] = [["old", "new", "newer"], [] as string[]];
    const renewing = async () => {
      const token = tokens.shift() ?? "";
      const renew = async () => renewed.push(token) > 0;
      return access({ headers: { authorization: token, "impersonate-group": ["a", "b"] }, renew });
    };
    const refused = async () => {
      const asked = await handshake();
      asked.refuse(401, '{"reason":"Unauthorized"}');
      return asked.request;
    };
    const starting = start({ access: renewing });
    expect((await refused()).headers.authorization).toBe("old");
    const asked = await handshake();
    expect(asked.request.headers.authorization).toBe("new");
    expect(asked.request.headersDistinct["impersonate-group"]).toEqual(["a", "b"]);
    asked.accept({ first: [success] });
    expect(await (await starting).exitCode).toBe(0);
    expect(renewed).toEqual(["old"]);

    const twice = start({ access: renewing });
    await refused();
    await refused();
    await expect(twice).rejects.toSatisfy(isUnauthorized);
    expect(renewed).toEqual(["old", "newer"]);

    const inVain = start();
    await refused();
    await expect(inVain).rejects.toSatisfy(isUnauthorized);
    expect(came).toEqual([]);
  });
});

describe.each([
  ["N8 an aborted signal", () => stop],
  ["N14 a closed transport", () => closed],
])("%s", (_, controller) => {
  const shutDown = new KubeError("KUBE_SHUT_DOWN", "closed");
  const abort = () => controller().abort(shutDown);

  it("N8 N14 lets nothing begin", async () => {
    abort();
    await expect(start({ access: () => expect.unreachable() })).rejects.toBe(shutDown);
  });

  it("N8 N14 ends the wait for a credential, first or new", async () => {
    const renew = () => {
      abort();
      return never;
    };
    const first = expect(start({ access: () => never })).rejects.toBe(shutDown);
    const second = expect(start({ access: async () => access({ renew }) })).rejects.toBe(shutDown);
    (await handshake()).refuse(401, "");
    await Promise.all([first, second]);
  });

  it("N8 N14 ends an attempt to connect that is not answered, or not to the end", async () => {
    const unanswered = expect(start()).rejects.toBe(shutDown);
    const first = await handshake();
    const half = expect(start()).rejects.toBe(shutDown);
    const second = await handshake();
    const begun = new Promise((resolve) => subscribe("undici:request:headers", resolve));
    second.refuse(403, "{", 100);
    await begun;
    abort();
    await Promise.all([unanswered, half, first.gone, second.gone]);
  });

  it("N8 N14 ends a command that runs, whether or not the other side agrees", async () => {
    const { exec, peer } = await running();
    abort();
    await expect(exec.exitCode).rejects.toBe(shutDown);
    expect(clock.pending).toBe(0);
    await peer.gone;
  });
});
