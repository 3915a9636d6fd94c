/** TLS, and what is wrong with options. The certificate is the administrator's of a simulated cluster: good for both ends. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { logTo, VirtualClock, WallClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Gateway } from "../gateway.ts";
import { type Embedded, eventually, startEmbedded } from "../testing/embedded.ts";
import { ended, open } from "./testing/raw.ts";

let world: Embedded;
let gateway: Gateway;
let ca: string;
/** A certificate, its key, and the authority that has signed it. */
interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}
async function issued(): Promise<Issued> {
  const sim = await startSim({ http: true });
  const { clusters, users } = parse(sim.kubeconfig());
  await sim.stop();
  const pem = (text: string) => Buffer.from(text, "base64").toString();
  return {
    cert: pem(users[0].user["client-certificate-data"]),
    key: pem(users[0].user["client-key-data"]),
    ca: pem(clusters[0].cluster["certificate-authority-data"]),
  };
}
const folder = mkdtempSync(join(tmpdir(), "berth-gateway-tls-"));
const tls = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
beforeAll(async () => {
  const first = await issued();
  ca = first.ca;
  writeFileSync(tls.certFile, first.cert);
  writeFileSync(tls.keyFile, first.key);
  world = await startEmbedded({ clock: new VirtualClock() });
  gateway = await world.another({ tls });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The name in the certificate is nobody's address; who has signed it is checked. */
const trusting = () => ({ ca, checkServerIdentity: () => undefined });

describe("H13 TLS", () => {
  it("H13 is spoken with a certificate that those who trust its authority take", async () => {
    expect(gateway.url).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      request(`${gateway.url}/v1/testbeds/main`, trusting(), (response) => resolve(response.statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
    await expect(fetch(`${gateway.url}/v1/testbeds/main`)).rejects.toThrow("fetch failed");
  });

  it("H13 is not spoken in old versions, and nothing else is", async () => {
    const { port } = new URL(gateway.url);
    const version = (maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
      new Promise((resolve) => {
        const options = { ...trusting(), port: Number(port), maxVersion, minVersion: "TLSv1" as const };
        const socket = connect({ ...options, ciphers: "DEFAULT@SECLEVEL=0" }, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        }).on("error", () => resolve("refused"));
      });
    expect(await version("TLSv1.1")).toBe("refused");
    expect(await version("TLSv1.2")).toBe("TLSv1.2");
    expect(await version("TLSv1.3")).toBe("TLSv1.3");
    const plain = await open(gateway);
    plain.write("GET /v1/testbeds HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let text = "";
    plain.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    await ended(plain);
    expect(text).not.toContain("HTTP/1.1");
  });
});

describe("H19 a certificate that is renewed", () => {
  const files = { certFile: join(folder, "renewed.crt"), keyFile: join(folder, "renewed.key") };
  const write = (cert: string, key: string) => {
    writeFileSync(files.certFile, cert);
    writeFileSync(files.keyFile, key);
  };

  it("H19 is served to who connects from then on; what is no pair is not, and the log says so once", async () => {
    const [before, after] = [await issued(), await issued()];
    write(before.cert, before.key);
    const log: string[] = [];
    await using renewed = await Gateway.start({
      ...{ transport: world.sim.transport, namespace: "default", tls: files },
      clock: new WallClock({ speed: 300 }), // a look takes a tenth of a second
      log: logTo((level, message) => {
        if (message.includes("certificate")) log.push(`${level} ${message}`);
      }),
    });
    const { port } = new URL(renewed.url);
    const open = ({ ca }: Issued) =>
      new Promise<TLSSocket | undefined>((resolve) => {
        const socket = connect({ ...trusting(), ca, port: Number(port) }, () => resolve(socket));
        socket.on("error", () => resolve(undefined));
      });
    const isServed = async (pair: Issued) => {
      const socket = await open(pair);
      socket?.destroy();
      return socket !== undefined;
    };
    const old = (await open(before)) as TLSSocket;
    expect(await isServed(after)).toBe(false);
    const bad = "warn the certificate is not renewed: the one before is served on";
    const logged = (count: number) => eventually(async () => (await isServed(before)) && log.length === count);
    write(after.cert, before.key);
    await logged(1);
    write("nonsense", after.key);
    await logged(2);
    rmSync(files.certFile);
    await logged(3);
    expect(log).toEqual([bad, bad, bad]);
    write(after.cert, after.key);
    await eventually(() => isServed(after));
    expect(await isServed(before)).toBe(false);
    expect(log.slice(3)).toEqual(["info the certificate was renewed"]);
    const versions = connect({ ...trusting(), ca: after.ca, port: Number(port), maxVersion: "TLSv1.1" });
    await once(versions, "error");
    const answer = once(old, "data"); // whoever was there before goes on
    old.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 200/);
    old.destroy();
  });
});

describe("options that make no sense", () => {
  it.each([
    [
      "a certificate that is not there",
      { tls: { certFile: "/nowhere", keyFile: "/nowhere" } },
      "/nowhere cannot be read",
    ],
    [
      "a certificate with another key",
      { tls: { certFile: tls.certFile, keyFile: tls.certFile } },
      "are no certificate and its key",
    ],
    ["any origin", { allowedOrigins: ["*"] }, '"*" is no origin'],
    ["an origin with a path", { allowedOrigins: ["https://example.org/"] }, "is no origin"],
    ["no origin", { allowedOrigins: ["null"] }, "is no origin"],
  ])("H12 are refused at the start: %s", async (_, options, message) => {
    const started = Gateway.start({ transport: world.sim.transport, clock: world.clock, ...options });
    await expect(started).rejects.toMatchObject({
      code: "BERTH_GATEWAY_OPTION_INVALID",
      message: expect.stringContaining(message),
    });
  });
});
