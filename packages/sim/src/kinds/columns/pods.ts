/** What `kubectl get pods` shows: above all the one word that says how a pod is. Pure. */
import type { AnyObject, JsonObject } from "../../api/json.ts";
import { at, conditionAt, itemsAt, lengthAt, numberAt, textAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { since } from "./ages.ts";
import { age, column, labelsText, name, wide } from "./common.ts";

export interface PodSummary {
  readonly ready: number;
  readonly containers: number;
  readonly status: string;
  readonly restarts: number;
  /** When a container last ended to begin again; "" if none did. */
  readonly lastRestart: string;
}

/** An init container that runs beside the others, for as long as they do. */
const isSidecar = (container: JsonObject | undefined) => container?.restartPolicy === "Always";

export function podSummary(pod: AnyObject): PodSummary {
  const initContainers = itemsAt(pod, "spec", "initContainers");
  const initStatuses = itemsAt(pod, "status", "initContainerStatuses");
  const statuses = itemsAt(pod, "status", "containerStatuses");
  const sidecars = new Set(initContainers.filter(isSidecar).map((container) => container.name));
  const phase = textAt(pod, "status", "phase");
  let status = textAt(pod, "status", "reason") || phase;
  const gated = itemsAt(pod, "status", "conditions").some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  if (gated) status = "SchedulingGated";

  let ready = 0;
  let seen = 0;
  let initializing = "";
  for (const [index, container] of initStatuses.entries()) {
    seen++;
    const sidecar = sidecars.has(container.name);
    if (at(container, "state", "terminated") && numberAt(container, "state", "terminated", "exitCode") === 0) continue;
    if (sidecar && container.started === true) {
      if (container.ready === true) ready++;
      continue;
    }
    const waiting = textAt(container, "state", "waiting", "reason");
    if (at(container, "state", "terminated")) initializing = `Init:${endOf(container)}`;
    else if (waiting && waiting !== "PodInitializing") initializing = `Init:${waiting}`;
    else initializing = `Init:${index}/${initContainers.length}`;
    break;
  }
  if (initializing) status = initializing;

  let restarted = initStatuses.slice(0, seen);
  if (!initializing || conditionAt(pod, "Initialized") === "True") {
    restarted = [...restarted.filter((container) => sidecars.has(container.name)), ...statuses];
    let running = false;
    let failure = "";
    for (const container of statuses.toReversed()) {
      const waiting = textAt(container, "state", "waiting", "reason");
      if (waiting) status = waiting;
      else if (at(container, "state", "terminated")) {
        status = endOf(container);
        if (numberAt(container, "state", "terminated", "exitCode") !== 0) failure = status;
      } else if (container.ready === true && at(container, "state", "running")) {
        running = true;
        ready++;
      }
    }
    // One container has ended well; what counts is what the others do.
    if (status === "Completed") {
      if (running && conditionAt(pod, "Ready") === "True") status = "Running";
      else if (failure) status = failure;
      else if (running) status = "NotReady";
    }
  }

  if (pod.metadata.deletionTimestamp !== undefined) {
    if (textAt(pod, "status", "reason") === "NodeLost") status = "Unknown";
    else if (phase !== "Succeeded" && phase !== "Failed") status = "Terminating";
  }
  const ends = restarted.map((container) => textAt(container, "lastState", "terminated", "finishedAt"));
  return {
    ready,
    containers: lengthAt(pod, "spec", "containers") + sidecars.size,
    status,
    restarts: restarted.reduce((sum, container) => sum + numberAt(container, "restartCount"), 0),
    lastRestart: ends.sort().at(-1) ?? "",
  };
}

/** How a container ended. */
function endOf(container: JsonObject): string {
  const terminated = at(container, "state", "terminated");
  const signal = numberAt(terminated, "signal");
  return textAt(terminated, "reason") || (signal ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, "exitCode")}`);
}

/** Several columns ask for the same pod one after the other. */
let [lastPod, lastSummary]: [AnyObject | undefined, PodSummary | undefined] = [undefined, undefined];
function summaryOf(pod: AnyObject): PodSummary {
  if (pod === lastPod && lastSummary) return lastSummary;
  [lastPod, lastSummary] = [pod, podSummary(pod)];
  return lastSummary;
}

function restartsText(pod: AnyObject, now: number): string {
  const { restarts, lastRestart } = summaryOf(pod);
  return restarts > 0 && lastRestart ? `${restarts} (${since(lastRestart, now)} ago)` : String(restarts);
}

function gatesText(pod: AnyObject): string {
  const gates = itemsAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  const open = gates.filter((gate) => conditionAt(pod, textAt(gate, "conditionType")) === "True");
  return `${open.length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  name,
  column("Ready", (pod) => `${summaryOf(pod).ready}/${summaryOf(pod).containers}`),
  column("Status", (pod) => summaryOf(pod).status),
  column("Restarts", restartsText),
  age,
  wide("IP", (pod) => textAt(itemsAt(pod, "status", "podIPs")[0], "ip") || "<none>"),
  wide("Node", (pod) => textAt(pod, "spec", "nodeName") || "<none>"),
  wide("Nominated Node", (pod) => textAt(pod, "status", "nominatedNodeName") || "<none>"),
  wide("Readiness Gates", gatesText),
];

export const podTemplateColumns: readonly Column[] = [
  name,
  column("Containers", (object) => names(object, "name")),
  column("Images", (object) => names(object, "image")),
  column("Pod Labels", (object) => labelsText(at(object, "template", "metadata", "labels"))),
];

const names = (object: AnyObject, field: string) =>
  itemsAt(object, "template", "spec", "containers")
    .map((container) => textAt(container, field))
    .join(",");
