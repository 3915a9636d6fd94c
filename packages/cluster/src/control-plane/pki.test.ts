import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Authority } from "./pki.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-pki-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("an authority", () => {
  it("issues certificates that another implementation of X.509 accepts", async () => {
    const authority = await Authority.create(folder, "test");
    const pair = await authority.issue("server", {
      commonName: "kube-apiserver",
      organization: "a group, with = signs",
      addresses: ["127.0.0.1", "localhost", "::1"],
    });
    const issuer = new X509Certificate(readFileSync(authority.certificate));
    const certificate = new X509Certificate(readFileSync(pair.certificate));
    expect(issuer.ca).toBe(true);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(pair.key)))).toBe(true);
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.checkHost("localhost")).toBe("localhost");
    expect(certificate.subject).toBe("O=a group\\, with = signs\nCN=kube-apiserver");
  });

  it("can be read back, and keys are for their owner's eyes only", async () => {
    const again = await Authority.open(folder);
    const pair = await again.issue("later", { commonName: "late" });
    const issuer = new X509Certificate(readFileSync(again.certificate));
    expect(new X509Certificate(readFileSync(pair.certificate)).verify(issuer.publicKey)).toBe(true);
    for (const file of ["ca.key", "later.key"]) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });
});
