/** The audit log: the requests that the API server answered, for tests and measurements that count them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";

/** One answered request, as far as this package promises its fields; the file has more. */
export interface AuditEvent {
  readonly auditID: string;
  readonly stage: "ResponseComplete" | "Panic";
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number; readonly reason?: string };
  /** With "authorization.k8s.io/decision", for one. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Who asked for what and when, without bodies. Each request appears once, when it has been answered; see the rules. */
const DEFAULT_POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [
    { level: "None", resources: [{ group: "coordination.k8s.io", resources: ["leases"] }] }, // heartbeats
    { level: "None", nonResourceURLs: ["/healthz*", "/livez*", "/readyz*"] },
    { level: "Metadata" },
  ],
};

/** `true` for the default, or an audit policy of one's own (without apiVersion and kind). */
export type AuditOption = boolean | Readonly<Record<string, unknown>>;

export function writeAuditPolicy(file: string, option: Exclude<AuditOption, false>): void {
  writeFileSync(file, stringify(option === true ? DEFAULT_POLICY : { ...DEFAULT_POLICY, ...option }));
}

/** Reads the log as it is now, oldest first. */
export function readAudit(file: string): AuditEvent[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  lines.pop(); // empty, or a line that is just being written
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}
