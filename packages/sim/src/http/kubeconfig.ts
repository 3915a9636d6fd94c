/** Files that tell kubectl, and whoever reads the same files, where the server is and as whom to speak to it. Pure. */
import { stringify } from "yaml";
import type { KeyPair } from "./certificates.ts";

export interface KubeconfigOptions {
  /** "https://127.0.0.1:20123" */
  readonly server: string;
  /** The authority's certificate; without TLS there is none. */
  readonly authority?: string | undefined;
  /** Who one is: by a certificate, by a token, or not at all. */
  readonly user?: KeyPair | { readonly token: string } | undefined;
  /** Of the cluster, the user and the context. Default: "berth-sim". */
  readonly name?: string;
  /** The namespace that is meant where none is given. Default: "default". */
  readonly namespace?: string;
}

/** With everything inside, so that it can be copied elsewhere. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { server, authority, user, name = "berth-sim", namespace = "default" } = options;
  const data = (text: string) => Buffer.from(text).toString("base64");
  const credentials =
    user === undefined
      ? {}
      : "token" in user
        ? { token: user.token }
        : { "client-certificate-data": data(user.certificate), "client-key-data": data(user.key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server, ...(authority && { "certificate-authority-data": data(authority) }) } }],
    users: [{ name, user: credentials }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  };
  return stringify(config, { lineWidth: 0 });
}
