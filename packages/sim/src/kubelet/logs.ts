/** What containers said, as `kubectl logs` asks for it. */
import { type ApiRequest, type Clock, type coreV1, KubeError } from "@berth/kube";
import { badRequest, notFound } from "../api/refusal.ts";
import type { Container, ContainerLog, LogLine } from "./container.ts";
import type { PodRun } from "./pod-run.ts";

interface Reading {
  readonly pod: coreV1.Pod | undefined;
  readonly name: string;
  readonly run: PodRun | undefined;
  readonly parameters: NonNullable<ApiRequest["parameters"]>;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  /** Calls back when there may be more to read. */
  readonly subscribe: (wake: () => void) => () => void;
}

/** A container's lines, and those to come if they are followed. Refuses as the API server does. */
export async function* readLog(reading: Reading): AsyncIterable<Uint8Array> {
  const { parameters, clock, signal, subscribe } = reading;
  const log = logOf(reading);
  const timestamps = isTrue(parameters.timestamps);
  const encoder = new TextEncoder();
  let left = number(parameters.limitBytes) ?? Number.POSITIVE_INFINITY;
  const bytesOf = ({ at, text }: LogLine) => {
    const line = encoder.encode(`${timestamps ? `${new Date(at).toISOString()} ` : ""}${text}\n`);
    const bytes = line.subarray(0, Math.max(0, left));
    left -= bytes.length;
    return bytes;
  };
  const said = () => log.lines.filter(({ at }) => at <= (log.endedAt ?? clock.now()));
  const before = said();
  for (const line of chosen(before, parameters, clock.now())) yield bytesOf(line);
  if (!isTrue(parameters.follow)) return;
  for (let told = before.length; left > 0; ) {
    signal?.throwIfAborted();
    const lines = said();
    for (const line of lines.slice(told)) yield bytesOf(line);
    told = lines.length;
    if (log.endedAt !== undefined) return;
    await more(log, clock, signal, subscribe);
  }
}

function chosen(lines: readonly LogLine[], parameters: Reading["parameters"], now: number): readonly LogLine[] {
  const seconds = number(parameters.sinceSeconds);
  const since = seconds !== undefined ? now - seconds * 1000 : Date.parse(String(parameters.sinceTime ?? ""));
  const recent = Number.isNaN(since) ? lines : lines.filter(({ at }) => at >= since);
  const tail = number(parameters.tailLines);
  return tail === undefined ? recent : recent.slice(Math.max(0, recent.length - tail));
}

/** Waits until there may be more. */
function more(log: ContainerLog, clock: Clock, signal: AbortSignal | undefined, subscribe: Reading["subscribe"]) {
  return new Promise<void>((resolve, reject) => {
    const next = log.lines.find(({ at }) => at > clock.now());
    const timer = next && clock.setTimer(next.at - clock.now(), () => finish(resolve));
    const onAbort = () => finish(() => reject(signal?.reason ?? new KubeError("KUBE_SHUT_DOWN", "aborted")));
    const unsubscribe = subscribe(() => finish(resolve));
    const finish = (settle: () => void) => {
      timer?.cancel();
      unsubscribe();
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The log that is asked for, or why there is none. */
function logOf({ pod, name, run, parameters }: Reading): ContainerLog {
  if (!pod) throw notFound({ group: "", plural: "pods" }, name);
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  let wanted = String(parameters.container ?? "");
  if (wanted === "") {
    if (containers.length !== 1) {
      const names = (list: readonly coreV1.Container[]) => `[${list.map((each) => each.name).join(" ")}]`;
      const init = initContainers.length > 0 ? ` or one of the init containers: ${names(initContainers)}` : "";
      const choice = `choose one of: ${names(containers)}${init}`;
      throw badRequest(`a container name must be specified for pod ${name}, ${choice}`);
    }
    wanted = (containers[0] as coreV1.Container).name;
  }
  if (![...containers, ...initContainers].some((each) => each.name === wanted)) {
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const container = run?.containers.find(({ spec }) => spec.name === wanted);
  if (isTrue(parameters.previous)) {
    if (container?.previousLog) return container.previousLog;
    throw badRequest(
      `previous terminated container ${JSON.stringify(wanted)} in pod ${JSON.stringify(name)} not found`,
    );
  }
  return presentLog(container, wanted, name);
}

function presentLog(container: Container | undefined, wanted: string, pod: string): ContainerLog {
  const who = `container ${JSON.stringify(wanted)} in pod ${JSON.stringify(pod)}`;
  if (!container) throw badRequest(`${who} is not available`);
  if (!container.isNew) return container.log;
  throw badRequest(`${who} is waiting to start: ${container.state.waiting?.reason ?? "no reason given"}`);
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === "1";
}

function number(value: unknown): number | undefined {
  const read = value === undefined || value === "" ? Number.NaN : Number(value);
  return Number.isFinite(read) ? read : undefined;
}
