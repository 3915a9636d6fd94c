import type { Kind } from "@berth/kube";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { AnyObject } from "../api/json.ts";
import type { Lookup } from "../api/resource.ts";
import { type Claims, ISSUER, Tokens } from "./tokens.ts";

const NOW = 1_600_000_000;
const account: AnyObject = { metadata: { name: "robot", namespace: "ci", uid: "sa-1" } };
const pod: AnyObject = { metadata: { name: "p", namespace: "ci", uid: "pod-1" } };
let objects: Map<string, AnyObject>;
const lookup: Lookup = {
  get: <T extends AnyObject>({ plural }: Pick<Kind, "plural">, name: string) =>
    objects.get(`${plural}/${name}`) as T | undefined,
  list: () => [],
};
const claims = (more: Partial<Claims> = {}): Claims => ({
  account,
  audiences: [ISSUER],
  id: "token-1",
  now: NOW,
  expires: NOW + 600,
  ...more,
});

beforeEach(() => {
  objects = new Map([
    ["serviceaccounts/robot", account],
    ["pods/p", pod],
  ]);
});

describe("a service account's token", () => {
  const tokens = new Tokens();
  const holder = (token: string, at = NOW, audiences?: string[]) => tokens.holder(token, lookup, at * 1000, audiences);

  it("says whose it is", () => {
    const token = tokens.issue(claims({ bound: { kind: "Pod", object: pod }, node: { name: "n1", uid: "n-1" } }));
    expect(holder(token)).toEqual({
      audiences: [ISSUER],
      user: {
        username: "system:serviceaccount:ci:robot",
        uid: "sa-1",
        groups: ["system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"],
        extra: {
          "authentication.kubernetes.io/credential-id": ["JTI=token-1"],
          "authentication.kubernetes.io/node-name": ["n1"],
          "authentication.kubernetes.io/node-uid": ["n-1"],
          "authentication.kubernetes.io/pod-name": ["p"],
          "authentication.kubernetes.io/pod-uid": ["pod-1"],
        },
      },
    });
  });

  it("is good from its beginning to its end, by the cluster's clock", () => {
    const token = tokens.issue(claims());
    expect(holder(token, NOW - 1)).toBe("token is not valid yet");
    expect(typeof holder(token, NOW + 599)).toBe("object");
    expect(holder(token, NOW + 600)).toBe("token has expired");
  });

  it("is good for those it is meant for", () => {
    const token = tokens.issue(claims({ audiences: ["a", "b"] }));
    expect(holder(token)).toMatch(/audiences .* is invalid/);
    expect(holder(token, NOW, ["b", "c"])).toMatchObject({ audiences: ["b"] });
  });

  it("ends with the account, and with the object that it is bound to", () => {
    const token = tokens.issue(claims({ bound: { kind: "Pod", object: pod } }));
    const gone = (key: string, object?: AnyObject) => {
      if (object) objects.set(key, object);
      else objects.delete(key);
    };
    gone("pods/p");
    expect(holder(token)).toBe('pods "p" not found');
    gone("pods/p", { metadata: { ...pod.metadata, uid: "another" } });
    expect(holder(token)).toBe("pod UID does not match token");
    const deletionTimestamp = new Date((NOW - 30) * 1000).toISOString();
    gone("pods/p", { metadata: { ...pod.metadata, deletionTimestamp } });
    expect(typeof holder(token)).toBe("object");
    expect(holder(token, NOW + 31)).toBe("pod has been deleted");
    gone("serviceaccounts/robot", { metadata: { ...account.metadata, uid: "another" } });
    expect(holder(token)).toBe("service account UID does not match token");
    gone("serviceaccounts/robot");
    expect(holder(token)).toBe('serviceaccounts "robot" not found');
  });

  it("cannot be made by anybody else, nor changed", () => {
    const token = tokens.issue(claims());
    expect(new Tokens().holder(token, lookup, NOW * 1000)).toBeUndefined();
    const other = new Tokens();
    other.issue(claims());
    expect(other.holder(token, lookup, NOW * 1000)).toBeUndefined();
    const [header, , signature] = token.split(".");
    const forged = Buffer.from(JSON.stringify({ aud: [ISSUER], exp: NOW * 2 })).toString("base64url");
    expect(holder(`${header}.${forged}.${signature}`)).toBeUndefined();
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(holder(text)).toBeUndefined();
        expect(holder(`${header}.${forged}.${text}`)).toBeUndefined();
      }),
    );
  });

  it("can be checked by others with our public key", () => {
    const { keys } = tokens.publicKeys() as { keys: object[] };
    expect(keys).toMatchObject([{ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" }]);
    expect(keys[0]).not.toHaveProperty("d");
  });
});
