import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Authority } from "./certificates.ts";

describe("certificates", () => {
  const authority = new Authority("our-ca");
  const root = new X509Certificate(authority.certificate);

  it("are signed by an authority that signs itself", () => {
    expect([root.subject, root.ca]).toEqual(["CN=our-ca", true]);
    expect(root.verify(root.publicKey)).toBe(true);
    const { certificate, key } = authority.issue({ commonName: "jane" });
    const issued = new X509Certificate(certificate);
    expect(issued.verify(root.publicKey)).toBe(true);
    expect(issued.checkIssued(root)).toBe(true);
    expect(issued.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(new X509Certificate(new Authority("our-ca").certificate).verify(root.publicKey)).toBe(false);
  });

  it("say who somebody is, in which groups, and where a server is", () => {
    const { certificate } = authority.issue({
      commonName: "jane",
      organizations: ["a", "b"],
      addresses: ["127.0.0.1", "::1", "fd00::12:3", "localhost"],
    });
    const issued = new X509Certificate(certificate);
    expect(issued.subject).toBe("O=a\nO=b\nCN=jane");
    expect(issued.checkIP("127.0.0.1") && issued.checkIP("::1") && issued.checkIP("fd00::12:3")).toBeTruthy();
    expect([issued.checkHost("localhost"), issued.checkHost("example.org")]).toEqual(["localhost", undefined]);
  });

  it("have numbers of their own, and are good in this century", () => {
    const numbers = [1, 2, 3].map(() => new X509Certificate(authority.issue({ commonName: "x" }).certificate));
    expect(new Set(numbers.map(({ serialNumber }) => serialNumber)).size).toBe(3);
    expect([Date.parse(root.validFrom), Date.parse(root.validTo)]).toEqual([
      Date.UTC(2000, 0, 1),
      Date.UTC(2099, 11, 31, 23, 59, 59),
    ]);
  });
});
