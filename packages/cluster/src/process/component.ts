/**
 * One process of a cluster: how it is started, whether it lives, how it is ended.
 *
 * Each component has a file of its own that says how to start it and which process it is now. Any process of the same
 * user can therefore restart a component, not only the one that started the cluster.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { join } from "node:path";
import { poll } from "../clock.ts";
import { readRecord } from "../cluster-record.ts";
import { ClusterError } from "../errors.ts";
import type { ClusterPlaces } from "../places.ts";
import { withClusterLock } from "../teardown.ts";
import { clusterEnvironment } from "./command.ts";
import { writeJsonFile } from "./json-file.ts";
import { identify, isAlive, killUntilGone, type ProcessIdentity } from "./processes.ts";

/** How a component is started and asked for its health. */
export interface ComponentSpec {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Answers 200 once the component does its work. `null`: a helper that nobody outside this package can name. */
  readonly health: string | null;
}

export interface ComponentRecord extends ComponentSpec {
  /** The process that runs now, or ran last; `null` if its program could not be started at all. */
  readonly process: ProcessIdentity | null;
}

/** Far more than a machine needs that has nothing else to do. */
export const READY_WITHIN_MS = 120_000;

/** The cluster that a component belongs to. */
export interface Home {
  readonly places: ClusterPlaces;
  readonly id: string;
}

/**
 * Starts a component and returns at once; one of the same name that still runs is ended first, as a crash would.
 *
 * Holds the cluster's lock, so that a cluster that is being taken down, or another start of the same component, comes
 * before or after, but never in between.
 */
export function startComponent({ places, id }: Home, spec: ComponentSpec): Promise<ComponentRecord> {
  return withClusterLock(places.folder, async () => {
    if (readRecord(places.folder)?.id !== id) {
      throw new ClusterError("BERTH_CLUSTER_NOT_FOUND", `${spec.name} cannot be started: its cluster is gone`);
    }
    const present = listComponents(places).find((component) => component.name === spec.name);
    if (present) await killComponent(present);
    return spawnComponent(places, spec);
  });
}

function spawnComponent(places: ClusterPlaces, { name, command, health }: ComponentSpec): ComponentRecord {
  mkdirSync(places.logs, { recursive: true });
  mkdirSync(places.components, { recursive: true });
  const log = openSync(places.log(name), "a");
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: places.folder,
    // A session of its own: a Ctrl-C in the terminal is for the starter, who decides what it means for the cluster.
    detached: true,
    stdio: ["ignore", log, log],
    env: clusterEnvironment(places.folder),
  });
  closeSync(log);
  child.on("error", () => {}); // no pid then, which waitUntilReady reports
  child.unref();
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  const record: ComponentRecord = { name, command, health, process: identity ?? null };
  return writeJsonFile(join(places.components, `${name}.json`), record);
}

/** Waits until the component is healthy; reports the tail of its log if it dies first. */
export async function waitUntilReady(
  places: ClusterPlaces,
  component: ComponentRecord,
  signal?: AbortSignal,
): Promise<void> {
  const ready = await poll(
    async () => {
      if (component.health === null || (await isHealthy(component.health))) return true;
      if (!isAlive(component.process)) throw died(places, component.name);
      return undefined;
    },
    { timeoutMs: READY_WITHIN_MS, signal },
  );
  if (!ready) {
    throw new ClusterError(
      "BERTH_CLUSTER_COMPONENT_NOT_READY",
      `${component.name} was not ready after ${READY_WITHIN_MS / 1000} s; ${logTail(places, component.name)}`,
    );
  }
}

/** Ends a component the hard way, as a crash would, and waits until it is gone. */
export async function killComponent({ process: identity }: ComponentRecord): Promise<void> {
  await killUntilGone(() => (identity && isAlive(identity) ? [identity.pid] : []));
}

/** Reads a component's record; an unknown name is an error that lists the known ones. */
export function readComponent(places: ClusterPlaces, name: string): ComponentRecord {
  const known = listNamedComponents(places);
  const found = known.find((component) => component.name === name);
  if (!found) {
    const names = known.map((component) => component.name).join(", ");
    throw new ClusterError("BERTH_CLUSTER_COMPONENT_UNKNOWN", `no component "${name}"; this cluster has: ${names}`);
  }
  return found;
}

/** The components that a person can name; the others are helpers. */
export function listNamedComponents(places: ClusterPlaces): NamedComponent[] {
  return listComponents(places).filter((component): component is NamedComponent => component.health !== null);
}

type NamedComponent = ComponentRecord & { readonly health: string };

/** All components in the order of their names. */
export function listComponents(places: ClusterPlaces): ComponentRecord[] {
  let files: string[];
  try {
    files = readdirSync(places.components);
  } catch {
    return []; // the cluster is only just being started, or taken down
  }
  return files
    .filter((file) => file.endsWith(".json"))
    .sort()
    .flatMap((file) => readFile(join(places.components, file)));
}

function readFile(file: string): ComponentRecord[] {
  try {
    return [JSON.parse(readFileSync(file, "utf8")) as ComponentRecord];
  } catch {
    return []; // removed since it was listed
  }
}

/** The last lines of a component's log. */
export function logTail(places: ClusterPlaces, name: string, lines = 15): string {
  let text: string;
  try {
    text = readFileSync(places.log(name), "utf8");
  } catch {
    text = "";
  }
  const tail = text.trimEnd().split("\n").slice(-lines).join("\n");
  return tail ? `the end of its log:\n${tail}` : "its log is empty";
}

/** For a component that ended before it was of any use. A port that somebody else has by now is an error of its own. */
export function died(places: ClusterPlaces, name: string): ClusterError {
  const tail = logTail(places, name);
  const code = tail.includes("address already in use") ? "BERTH_CLUSTER_PORT_IN_USE" : "BERTH_CLUSTER_COMPONENT_DIED";
  return new ClusterError(code, `${name} died while starting; ${tail}`);
}

/** One health question, answered within a second or counted as a no. */
function isHealthy(url: string): Promise<boolean> {
  // The components make their own serving certificates; on this machine's own addresses nobody else can answer.
  const get = url.startsWith("https:") ? httpsGet : httpGet;
  return new Promise((resolve) => {
    const call = get(url, { agent: false, rejectUnauthorized: false, timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(false));
  });
}
