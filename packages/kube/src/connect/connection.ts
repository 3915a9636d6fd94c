/** How to reach an API server and as whom, wherever that is written down: kubeconfig files, or the pod we run in. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { KubeError } from "../errors.ts";
import { type ExecEntry, type Kubeconfig, merge, resolveContext, withAbsolutePaths } from "./kubeconfig.ts";

/** How to reach an API server, and as whom. */
export interface Connection {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** The namespace that is meant where none is given. */
  readonly namespace: string;
  readonly tls: TlsOptions;
  readonly identity: Identity;
  /** "http://proxy:3128" */
  readonly proxy?: string;
  readonly impersonate?: Impersonation;
}

/** How the two ends of a connection know each other. */
export interface TlsOptions {
  /** Certificates in PEM, here and below. Default: those that the system trusts. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** The name in the server's certificate, if it is not the one in its address. */
  readonly serverName?: string;
  /** Do not check the server's certificate. */
  readonly insecure?: boolean;
}

/** Beside a client certificate, if there is one. */
export type Identity =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** Read again now and then: whoever writes the file renews it. */
  | { readonly kind: "tokenFile"; readonly file: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly exec: ExecEntry };

/** Somebody else to act as. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** What else is said of the user, for those who authorise. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Where to look for a connection. */
export interface LoadOptions {
  /** A kubeconfig file, or several to be merged. Default: KUBECONFIG, else ~/.kube/config, else the pod's own. */
  readonly kubeconfig?: string | readonly string[];
  /** Default: the current one. */
  readonly context?: string;
  /** Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Finds out how to connect, as kubectl does, and in a pod as client-go does. */
export function loadConnection({ kubeconfig, context, env = process.env }: LoadOptions = {}): Connection {
  const given = kubeconfig === undefined ? undefined : [kubeconfig].flat();
  const missing = given?.find((file) => !existsSync(file));
  if (missing !== undefined) throw new KubeError("KUBE_CONFIG_INVALID", `${missing} does not exist`);
  const fromEnvironment = env.KUBECONFIG ? env.KUBECONFIG.split(delimiter).filter(Boolean) : undefined;
  const files = (given ?? fromEnvironment ?? [join(env.HOME ?? homedir(), ".kube", "config")]).filter(existsSync);
  if (files.length > 0) return connectionFrom(merge(files.map(readKubeconfig)), context);
  if (env.KUBERNETES_SERVICE_HOST) return inCluster(env);
  throw new KubeError(
    "KUBE_CONFIG_INVALID",
    "no kubeconfig was found (KUBECONFIG, ~/.kube/config), and this is not a pod",
  );
}

/** The connection of a pod, with its service account. */
export function inCluster(env: LoadOptions["env"] = process.env, folder = SERVICE_ACCOUNT): Connection {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port)
    throw new KubeError("KUBE_CONFIG_INVALID", "KUBERNETES_SERVICE_HOST and _PORT are not set: this is not a pod");
  const namespace = join(folder, "namespace");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespace) ? readFileSync(namespace, "utf8").trim() : "default",
    tls: { ca: readFileSync(join(folder, "ca.crt"), "utf8") },
    identity: { kind: "tokenFile", file: join(folder, "token") },
  };
}

/** What a context of a kubeconfig means, its files read. */
export function connectionFrom(config: Kubeconfig, context?: string): Connection {
  const { cluster, user, namespace } = resolveContext(config, context);
  const ca = pem(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const certificate = pem(user["client-certificate-data"], user["client-certificate"]);
  const key = pem(user["client-key-data"], user["client-key"]);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new KubeError(
      "KUBE_CONFIG_INVALID",
      "a client certificate and its key belong together; one of them is missing",
    );
  }
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace,
    tls: {
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { certificate }),
      ...(key !== undefined && { key }),
      ...(cluster["tls-server-name"] && { serverName: cluster["tls-server-name"] }),
      ...(cluster["insecure-skip-tls-verify"] && { insecure: true }),
    },
    identity: identityOf(user),
    ...(cluster["proxy-url"] && { proxy: cluster["proxy-url"] }),
    ...(user.as && {
      impersonate: {
        user: user.as,
        groups: user["as-groups"] ?? [],
        ...(user["as-uid"] && { uid: user["as-uid"] }),
        ...(user["as-user-extra"] && { extra: user["as-user-extra"] }),
      },
    }),
  };
}

/** Of several ways to say who one is, the one that kubectl takes. */
function identityOf(user: ReturnType<typeof resolveContext>["user"]): Identity {
  if (user.tokenFile) return { kind: "tokenFile", file: user.tokenFile };
  if (user.token) return { kind: "token", token: user.token };
  if (user.username) return { kind: "basic", username: user.username, password: user.password ?? "" };
  if (user.exec) return { kind: "exec", exec: user.exec };
  return { kind: "none" };
}

function readKubeconfig(file: string): Kubeconfig {
  let config: unknown;
  try {
    config = parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new KubeError("KUBE_CONFIG_INVALID", `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (config === null) return {};
  if (typeof config !== "object" || Array.isArray(config))
    throw new KubeError("KUBE_CONFIG_INVALID", `${file} is not a kubeconfig`);
  return withAbsolutePaths(config as Kubeconfig, file);
}

/** Data in the file goes before the path of another file. */
function pem(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, "base64").toString("utf8");
  if (!file) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new KubeError("KUBE_CONFIG_INVALID", `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
