/** Files that tell a client where the API server is and who the client is. */
import { readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { KeyPair } from "./pki.ts";

export interface KubeconfigOptions {
  readonly cluster: string;
  readonly server: string;
  readonly authority: string;
  readonly user: KeyPair;
}

/** Writes a kubeconfig with everything inside, so that it can be copied elsewhere. */
export function writeKubeconfig(file: string, { cluster, server, authority, user }: KubeconfigOptions): void {
  const data = (path: string) => readFileSync(path).toString("base64");
  const name = `berth-${cluster}`;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server, "certificate-authority-data": data(authority) } }],
    users: [{ name, user: { "client-certificate-data": data(user.certificate), "client-key-data": data(user.key) } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
  };
  writeFileSync(file, stringify(config, { lineWidth: 0 }), { mode: 0o600 });
}
