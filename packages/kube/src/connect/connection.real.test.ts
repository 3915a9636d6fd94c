/** Kubeconfigs, held to what the real kubectl makes of them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findBinaries } from "@berth/cluster";
import { afterAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { integer, pick, type Random, SeededRandom } from "../time/random.ts";
import { loadConnection } from "./connection.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-kubectl-"));
afterAll(() => rmSync(folder, { recursive: true }));

const encoded = (text: string) => Buffer.from(text).toString("base64");

/** Files that overlap in their names, so that merging has something to decide. */
function randomConfig(random: Random, index: number): Kubeconfig {
  const some = <T>(make: (name: string) => T) => ["a", "b", "c"].filter(() => random.next() < 0.7).map(make);
  return {
    ...(random.next() < 0.7 && { "current-context": pick(random, ["a", "b", "c"]) }),
    clusters: some((name) => ({
      name,
      cluster: {
        server: `https://${name}-${index}:6443`,
        ...(random.next() < 0.5
          ? { "certificate-authority-data": encoded(`CA ${name} ${index}`) }
          : { "certificate-authority": pick(random, ["ca.pem", "./ca.pem", join(folder, `${index}`, "ca.pem")]) }),
        ...(random.next() < 0.3 && { "tls-server-name": `tls-${index}` }),
      },
    })),
    users: some((name) => ({ name, user: { token: `${name}-${index}` } })),
    contexts: some((name) => ({
      name,
      context: {
        cluster: pick(random, ["a", "b", "c"]),
        user: pick(random, ["a", "b", "c"]),
        ...(random.next() < 0.5 && { namespace: `ns-${index}` }),
      },
    })),
  };
}

describe("kubectl", () => {
  it("K9 understands the same by the same files", async () => {
    const { kubectl } = await findBinaries();
    const random = new SeededRandom("kubeconfig");
    let understood = 0;
    for (let round = 0; round < 40; round++) {
      const files = Array.from({ length: integer(random, 1, 4) }, (_, index) => {
        mkdirSync(join(folder, `${index}`), { recursive: true });
        writeFileSync(join(folder, `${index}`, "ca.pem"), `CA file ${index}`);
        const file = join(folder, `${index}`, "config");
        writeFileSync(file, stringify(randomConfig(random, index)));
        return file;
      });
      const env = { KUBECONFIG: files.join(delimiter) };
      let ours: object | undefined;
      try {
        const { server, namespace, tls, identity } = loadConnection({ env });
        ours = {
          server,
          namespace,
          ca: tls.ca,
          serverName: tls.serverName,
          token: "token" in identity ? identity.token : "",
        };
      } catch {
        ours = undefined; // something that the context refers to is in none of the files
      }
      expect(ours, files.join(" ")).toEqual(theirs(kubectl, env));
      if (ours) understood++;
    }
    expect(understood).toBeGreaterThan(5);
  });
});

/** What kubectl would connect with; `undefined` if it would not know. */
function theirs(kubectl: string, env: NodeJS.ProcessEnv): object | undefined {
  try {
    const args = ["config", "view", "--minify", "--flatten", "--raw", "-o", "json"];
    const view = JSON.parse(execFileSync(kubectl, args, { env, encoding: "utf8", stdio: "pipe" }));
    const { cluster } = view.clusters[0];
    return {
      server: cluster.server,
      namespace: view.contexts[0].context.namespace ?? "default",
      ca: Buffer.from(cluster["certificate-authority-data"], "base64").toString(),
      serverName: cluster["tls-server-name"],
      token: view.users[0].user.token,
    };
  } catch {
    return undefined;
  }
}
