/** TLS, and what is wrong with options. The certificate is the administrator's of a simulated cluster: good for both ends. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { VirtualClock } from "@berth/kube";
import { startSim } from "@berth/sim";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Gateway } from "../gateway.ts";
import { type Embedded, startEmbedded } from "../testing/embedded.ts";
import { ended, open } from "./testing/raw.ts";

let world: Embedded;
let gateway: Gateway;
let ca: string;
const folder = mkdtempSync(join(tmpdir(), "berth-gateway-tls-"));
const tls = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
beforeAll(async () => {
  const sim = await startSim({ http: true });
  const { clusters, users } = parse(sim.kubeconfig());
  await sim.stop();
  const pem = (text: string) => Buffer.from(text, "base64").toString();
  ca = pem(clusters[0].cluster["certificate-authority-data"]);
  writeFileSync(tls.certFile, pem(users[0].user["client-certificate-data"]));
  writeFileSync(tls.keyFile, pem(users[0].user["client-key-data"]));
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

describe("options that make no sense", () => {
  it.each([
    [
      "a certificate that is not there",
      { tls: { certFile: "/nowhere", keyFile: "/nowhere" } },
      "/nowhere cannot be read",
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
