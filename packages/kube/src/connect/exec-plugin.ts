/** Credentials from a program, as cloud providers have them: it is run, and prints an `ExecCredential`. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { KubeError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import type { ExecEntry } from "./kubeconfig.ts";

export interface ExecCredential {
  readonly token?: string;
  /** In PEM, and so the key. */
  readonly certificate?: string;
  readonly key?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** One that asks somebody over a network may hang, and everybody else with it. */
const TIMEOUT_MS = 60_000;

/** Runs the program once. It must not ask questions: nobody sits at this terminal. */
export async function runExecPlugin(exec: ExecEntry, connection: Connection): Promise<ExecCredential> {
  const refuse = (message: string, cause?: unknown) =>
    new KubeError("KUBE_CREDENTIALS_FAILED", `the credential plug-in "${exec.command}" ${message}`, { cause });
  if (exec.interactiveMode === "Always") throw refuse("wants to ask questions (interactiveMode Always)");

  const child = spawn(exec.command, exec.args ?? [], {
    env: {
      ...process.env,
      ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(exec, connection)),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [output, complaints, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]).catch(
    (cause) => {
      throw refuse(
        `cannot be run: ${(cause as Error).message}${exec.installHint ? `\n${exec.installHint}` : ""}`,
        cause,
      );
    },
  );
  if (exitCode === null) throw refuse(`was ended after ${TIMEOUT_MS / 1000} s, or by somebody else`);
  if (exitCode !== 0) throw refuse(`failed with exit code ${exitCode}: ${complaints.trim()}`);
  return parseExecCredential(output, exec.apiVersion, refuse);
}

function execInfo({ apiVersion, provideClusterInfo }: ExecEntry, { server, tls, proxy }: Connection): object {
  const cluster = {
    server,
    ...(tls.ca && { "certificate-authority-data": Buffer.from(tls.ca).toString("base64") }),
    ...(tls.serverName && { "tls-server-name": tls.serverName }),
    ...(tls.insecure && { "insecure-skip-tls-verify": true }),
    ...(proxy && { "proxy-url": proxy }),
  };
  return {
    apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(provideClusterInfo && { cluster }) },
  };
}

/** @internal What a plug-in printed. */
export function parseExecCredential(
  output: string,
  apiVersion: string,
  refuse: (message: string, cause?: unknown) => Error,
): ExecCredential {
  let printed: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> | null };
  try {
    printed = JSON.parse(output);
  } catch {
    throw refuse("printed something that is not JSON"); // and not what, nor where: it may be half a secret
  }
  if (printed?.kind !== "ExecCredential") throw refuse("did not print an ExecCredential");
  if (printed.apiVersion !== apiVersion) {
    throw refuse(`speaks ${printed.apiVersion}, but the kubeconfig says ${apiVersion}`);
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = printed.status ?? {};
  const certificate = typeof clientCertificateData === "string" ? clientCertificateData : undefined;
  const key = typeof clientKeyData === "string" ? clientKeyData : undefined;
  if ((certificate === undefined) !== (key === undefined))
    throw refuse("printed a certificate without key, or a key alone");
  if (typeof token !== "string" && certificate === undefined) throw refuse("printed neither a token nor a certificate");
  const expiresAt = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : Number.NaN;
  return {
    ...(typeof token === "string" && { token }),
    ...(certificate !== undefined && key !== undefined && { certificate, key }),
    ...(!Number.isNaN(expiresAt) && { expiresAt }),
  };
}
