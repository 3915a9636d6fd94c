/** Kubeconfig files: what they may contain, how several of them are merged, and what a context in them means. Pure. */

import { dirname, isAbsolute, join } from "node:path";
import { KubeError } from "../errors.ts";

/** A file as it was parsed; only what we use. Unknown fields are ignored, as kubectl ignores them. */
export interface Kubeconfig {
  "current-context"?: string;
  clusters?: { name: string; cluster?: ClusterEntry }[] | null;
  users?: { name: string; user?: UserEntry }[] | null;
  contexts?: { name: string; context?: ContextEntry }[] | null;
}

export interface ClusterEntry {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
  "proxy-url"?: string;
}

export interface UserEntry {
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  as?: string;
  "as-uid"?: string;
  "as-groups"?: string[];
  "as-user-extra"?: Record<string, string[]>;
  exec?: ExecEntry;
}

/** A program that is asked for credentials. */
export interface ExecEntry {
  apiVersion: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: string;
}

export interface ContextEntry {
  cluster?: string;
  user?: string;
  namespace?: string;
}

/** Makes a file's paths absolute: they are meant from the folder that the file is in. */
export function withAbsolutePaths(config: Kubeconfig, file: string): Kubeconfig {
  const absolute = <T extends object>(entry: T | undefined, keys: readonly (keyof T)[]): T | undefined => {
    if (!entry) return entry;
    const paths = keys.flatMap((key) => {
      const value = entry[key];
      return typeof value === "string" && value !== ""
        ? [[key, isAbsolute(value) ? value : join(dirname(file), value)]]
        : [];
    });
    return { ...entry, ...Object.fromEntries(paths) };
  };
  const command = (user: UserEntry | undefined): UserEntry | undefined => {
    // A command with a slash is a path; without one it is looked for in PATH.
    if (!user?.exec?.command.includes("/")) return user;
    return { ...user, exec: absolute(user.exec, ["command"]) as ExecEntry };
  };
  return {
    ...config,
    clusters: (config.clusters ?? []).map(({ name, cluster }) =>
      optional({ name, cluster: absolute(cluster, ["certificate-authority"]) }),
    ),
    users: (config.users ?? []).map(({ name, user }) =>
      optional({ name, user: command(absolute(user, ["client-certificate", "client-key", "tokenFile"])) }),
    ),
  };
}

/** Merges files in the order of KUBECONFIG: whoever says something first is right. */
export function merge(configs: readonly Kubeconfig[]): Kubeconfig {
  const first = <T extends { name: string }>(lists: (readonly T[] | null | undefined)[]): T[] => {
    const byName = new Map<string, T>();
    for (const entry of lists.flatMap((list) => list ?? [])) if (!byName.has(entry.name)) byName.set(entry.name, entry);
    return [...byName.values()];
  };
  const current = configs.map((config) => config["current-context"]).find(Boolean);
  return {
    ...(current !== undefined && { "current-context": current }),
    clusters: first(configs.map(({ clusters }) => clusters)),
    users: first(configs.map(({ users }) => users)),
    contexts: first(configs.map(({ contexts }) => contexts)),
  };
}

/** What a context stands for. */
export interface ResolvedContext {
  readonly name: string;
  readonly namespace: string;
  readonly cluster: ClusterEntry & { server: string };
  readonly user: UserEntry;
}

/** Looks a context up, the current one by default; everything it refers to must exist. */
export function resolveContext(config: Kubeconfig, context = config["current-context"]): ResolvedContext {
  if (!context) {
    const names = (config.contexts ?? []).map(({ name }) => name).join(", ");
    throw new KubeError(
      "KUBE_CONFIG_INVALID",
      `no current context is set; ${names ? `there are: ${names}` : "there are no contexts"}`,
    );
  }
  const found = entry(config.contexts, context, "context")?.context ?? {};
  const { cluster: clusterName = "", user: userName, namespace = "default" } = found;
  const cluster = entry(config.clusters, clusterName, `cluster of context "${context}"`).cluster ?? {};
  if (!cluster.server) throw new KubeError("KUBE_CONFIG_INVALID", `cluster "${clusterName}" has no server`);
  const user = userName ? (entry(config.users, userName, `user of context "${context}"`).user ?? {}) : {};
  return { name: context, namespace, cluster: { ...cluster, server: cluster.server }, user };
}

function entry<T extends { name: string }>(list: readonly T[] | null | undefined, name: string, what: string): T {
  const found = list?.find((candidate) => candidate.name === name);
  if (!found) throw new KubeError("KUBE_CONFIG_INVALID", `the ${what}, "${name}", does not exist`);
  return found;
}

/** Without the fields that are undefined, which are not the same as absent ones. */
function optional<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}
