import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectionFrom, inCluster, loadConnection } from "./connection.ts";
import { type Kubeconfig, merge, resolveContext, type UserEntry, withAbsolutePaths } from "./kubeconfig.ts";

const refused = (message: string) =>
  expect.objectContaining({ code: "KUBE_CONFIG_INVALID", message: expect.stringContaining(message) });

const config = (user: UserEntry = {}): Kubeconfig => ({
  "current-context": "here",
  clusters: [{ name: "c", cluster: { server: "https://one:6443/" } }],
  users: [{ name: "u", user }],
  contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-connect-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

describe("merging", () => {
  it("K1 lets whoever says something first be right", () => {
    const merged = merge([
      { clusters: [{ name: "c", cluster: { server: "https://first" } }] },
      { "current-context": "a", clusters: [{ name: "c", cluster: { server: "https://second" } }, { name: "d" }] },
      { "current-context": "b", users: null },
    ]);
    expect(merged["current-context"]).toBe("a");
    expect(merged.clusters).toEqual([{ name: "c", cluster: { server: "https://first" } }, { name: "d" }]);
  });

  it("K2 takes paths from the folder of the file that they are in", () => {
    const made = withAbsolutePaths(
      {
        clusters: [{ name: "c", cluster: { server: "s", "certificate-authority": "pki/ca.crt" } }],
        users: [
          {
            name: "u",
            user: { "client-key": "/abs/key", tokenFile: "token", exec: { apiVersion: "v1", command: "./login" } },
          },
          { name: "v", user: { exec: { apiVersion: "v1", command: "aws" } } },
        ],
      },
      "/home/me/.kube/config",
    );
    expect(made.clusters?.[0]?.cluster?.["certificate-authority"]).toBe("/home/me/.kube/pki/ca.crt");
    expect(made.users?.[0]?.user).toMatchObject({ "client-key": "/abs/key", tokenFile: "/home/me/.kube/token" });
    expect(made.users?.map(({ user }) => user?.exec?.command)).toEqual(["/home/me/.kube/login", "aws"]);
  });
});

describe("a context", () => {
  it("K3 must exist, with all it refers to", () => {
    expect(() => resolveContext({})).toThrow(refused("there are no contexts"));
    expect(() => resolveContext({ contexts: [{ name: "a" }, { name: "b" }] })).toThrow(refused("there are: a, b"));
    expect(() => resolveContext(config(), "nowhere")).toThrow(refused('"nowhere", does not exist'));
    expect(() => resolveContext({ ...config(), clusters: [] })).toThrow(refused("cluster of context"));
    expect(() => resolveContext({ ...config(), users: [] })).toThrow(refused("user of context"));
    expect(() => resolveContext({ ...config(), clusters: [{ name: "c" }] })).toThrow(refused("has no server"));
  });

  it.each<[UserEntry, object]>([
    [{}, { kind: "none" }],
    [{ token: "t" }, { kind: "token", token: "t" }],
    [
      { token: "t", tokenFile: "/f" },
      { kind: "tokenFile", file: "/f" },
    ],
    [
      { username: "me", password: "p" },
      { kind: "basic", username: "me", password: "p" },
    ],
    [{ exec: { apiVersion: "v1", command: "x" } }, { kind: "exec", exec: { apiVersion: "v1", command: "x" } }],
    [
      { token: "t", exec: { apiVersion: "v1", command: "x" } },
      { kind: "token", token: "t" },
    ],
  ])("K4 makes of %j the identity %j", (user, identity) => {
    expect(connectionFrom(config(user)).identity).toEqual(identity);
  });

  it("K5 brings certificates, names, proxy and impersonation along", () => {
    const encoded = (text: string) => Buffer.from(text).toString("base64");
    const made = connectionFrom({
      ...config({
        "client-certificate-data": encoded("CERT"),
        "client-certificate": "/ignored",
        "client-key": file("key.pem", "KEY"),
        as: "somebody",
        "as-groups": ["g"],
      }),
      clusters: [
        {
          name: "c",
          cluster: {
            server: "https://one",
            "certificate-authority-data": encoded("CA"),
            "tls-server-name": "kubernetes",
            "proxy-url": "http://proxy:3128",
          },
        },
      ],
    });
    expect(made).toEqual({
      server: "https://one",
      namespace: "default",
      tls: { ca: "CA", certificate: "CERT", key: "KEY", serverName: "kubernetes" },
      identity: { kind: "none" },
      proxy: "http://proxy:3128",
      impersonate: { user: "somebody", groups: ["g"] },
    });
    expect(() => connectionFrom(config({ "client-key": "/nowhere" }))).toThrow(refused("/nowhere cannot be read"));
    expect(() => connectionFrom(config({ "client-key-data": "S0VZ" }))).toThrow(refused("belong together"));
  });
});

describe("loading", () => {
  it("K6 looks where kubectl looks, and then for the pod that it may be in", () => {
    const first = file("first", { ...config(), clusters: [{ name: "c", cluster: { server: "https://first" } }] });
    const second = file("second", config());
    const home = join(folder, "home");
    mkdirSync(join(home, ".kube"), { recursive: true });
    writeFileSync(join(home, ".kube", "config"), JSON.stringify(config()));

    const server = (env: Record<string, string>) => loadConnection({ env }).server;
    expect(server({ KUBECONFIG: `${first}:/nowhere:${second}` })).toBe("https://first");
    expect(server({ HOME: home })).toBe("https://one:6443");
    expect(() => server({ HOME: "/nowhere" })).toThrow(refused("this is not a pod"));
    expect(() => loadConnection({ kubeconfig: "/nowhere" })).toThrow(refused("/nowhere does not exist"));
    expect(loadConnection({ kubeconfig: [second, first] }).server).toBe("https://one:6443");
  });

  it("K7 knows how a pod connects", () => {
    file("ca.crt", "CA");
    file("namespace", "mine\n");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    expect(inCluster(env, folder)).toEqual({
      server: "https://[fd00::1]:443",
      namespace: "mine",
      tls: { ca: "CA" },
      identity: { kind: "tokenFile", file: join(folder, "token") },
    });
    expect(() => inCluster({}, folder)).toThrow(refused("not a pod"));
  });

  it.each(["- a list", "just text", "{ unclosed", "\u0000"])("K8 refuses a file with %j", (text) => {
    expect(() => loadConnection({ kubeconfig: file("broken", text) })).toThrow(refused("broken"));
  });
});
