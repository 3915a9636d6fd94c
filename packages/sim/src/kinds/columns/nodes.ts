/** What `kubectl get nodes` shows. Pure. */
import type { AnyObject } from "../../api/json.ts";
import { conditionAt, itemsAt, textAt } from "../../api/reading.ts";
import type { Column } from "../../api/resource.ts";
import { age, column, name, wide } from "./common.ts";

const ROLE_LABEL = "node-role.kubernetes.io/";

function status(node: AnyObject): string {
  const ready = conditionAt(node, "Ready");
  const words = [ready === "" ? "Unknown" : ready === "True" ? "Ready" : "NotReady"];
  const { spec } = node;
  if (typeof spec === "object" && spec && "unschedulable" in spec && spec.unschedulable === true)
    words.push("SchedulingDisabled");
  return words.join(",");
}

function roles({ metadata: { labels = {} } }: AnyObject): string {
  const found = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_LABEL)) return key.slice(ROLE_LABEL.length) || [];
    return key === "kubernetes.io/role" && value ? value : [];
  });
  return [...new Set(found)].sort().join(",") || "<none>";
}

function address(node: AnyObject, type: string): string {
  return textAt(
    itemsAt(node, "status", "addresses").find((each) => each.type === type),
    "address",
  );
}

const info = (node: AnyObject, field: string) => textAt(node, "status", "nodeInfo", field);

function kernel(node: AnyObject): string {
  const architecture = info(node, "architecture");
  return (info(node, "kernelVersion") || "<unknown>") + (architecture && ` (${architecture})`);
}

export const nodeColumns: readonly Column[] = [
  name,
  column("Status", status),
  column("Roles", roles),
  age,
  column("Version", (node) => info(node, "kubeletVersion")),
  wide("Internal-IP", (node) => address(node, "InternalIP") || "<none>"),
  wide("External-IP", (node) => address(node, "ExternalIP") || "<none>"),
  wide("OS-Image", (node) => info(node, "osImage") || "<unknown>"),
  wide("Kernel-Version", kernel),
  wide("Container-Runtime", (node) => info(node, "containerRuntimeVersion") || "<unknown>"),
];
