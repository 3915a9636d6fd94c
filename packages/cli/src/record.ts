/** What `berth up` leaves behind for other commands: where the gateway is, and how kubectl reaches the cluster. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface UpRecord {
  readonly pid: number;
  readonly url: string;
  readonly kubeconfig?: string;
}

/** Whose: of this user, on this machine. */
export function stateFolder(env = process.env): string {
  const base = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(base, "berth");
}

export function writeRecord(record: UpRecord): void {
  mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
  writeFileSync(join(stateFolder(), "up.json"), JSON.stringify(record), { mode: 0o600 });
}

/** A kubeconfig is a secret: nobody else may read it. */
export function writeKubeconfig(text: string): string {
  mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
  const path = join(stateFolder(), `up-${process.pid}.kubeconfig`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Of one that still runs. */
export function readRecord(): UpRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(join(stateFolder(), "up.json"), "utf8")) as UpRecord;
    process.kill(record.pid, 0);
    return record;
  } catch {
    return undefined; // there is none, or it has ended
  }
}

/** Only one's own: another one may have been started since. */
export function removeRecord(): void {
  const record = readRecord();
  if (record?.pid !== process.pid) return;
  if (record.kubeconfig?.startsWith(stateFolder())) rmSync(record.kubeconfig, { force: true });
  rmSync(join(stateFolder(), "up.json"), { force: true });
}
