/** How much of what a quota counts an object uses. Pure. */
import { type coreV1, Quantity } from "@berth/kube";
import type { AnyObject } from "../api/json.ts";
import type { Resource } from "../api/resource.ts";
import type { LooseObject } from "../kinds/common/loose.ts";
import { quantityOf } from "../kinds/common/quantities.ts";
import { isHugePages } from "../kinds/common/resource-names.ts";
import { type Amounts, podLimits, podRequests } from "../kinds/pod/pod-resources.ts";
import type { Container, Pod } from "../kinds/pod/types.ts";

type Service = LooseObject<coreV1.Service>;
type Claim = LooseObject<coreV1.PersistentVolumeClaim>;

const ONE = Quantity.parse("1");
/** Kinds whose objects are counted under their own name too. */
const NAMED = new Set(["configmaps", "replicationcontrollers", "resourcequotas", "secrets"]);
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];

/** What is stored is frozen, and uses what it uses. */
const known = new WeakMap<AnyObject, Amounts>();

export function usageOf(object: AnyObject, resource: Pick<Resource, "group" | "plural">): Amounts {
  const before = known.get(object);
  if (before) return before;
  const usage = computeUsage(object, resource);
  if (Object.isFrozen(object)) known.set(object, usage);
  return usage;
}

function computeUsage(object: AnyObject, { group, plural }: Pick<Resource, "group" | "plural">): Amounts {
  const usage: Amounts = new Map([[`count/${group ? `${plural}.${group}` : plural}`, ONE]]);
  if (group !== "") return usage;
  if (plural === "pods") addPod(usage, object);
  else if (plural === "services") addService(usage, object);
  else if (plural === "persistentvolumeclaims") addClaim(usage, object);
  else if (NAMED.has(plural)) usage.set(plural, ONE);
  return usage;
}

/** A pod that has ended is only counted as an object. */
function addPod(usage: Amounts, { spec = {}, status = {} }: Pod): void {
  if (status.phase === "Failed" || status.phase === "Succeeded") return;
  usage.set("pods", ONE);
  for (const [name, amount] of podRequests(spec)) {
    if (COMPUTE.includes(name) || isHugePages(name)) usage.set(name, amount);
    usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of podLimits(spec)) if (COMPUTE.includes(name)) usage.set(`limits.${name}`, amount);
}

function addService(usage: Amounts, { spec = {} }: Service): void {
  const { type, ports = [], allocateLoadBalancerNodePorts: allocates } = spec;
  const given = ports.filter(({ nodePort }) => nodePort).length;
  const isBalancer = type === "LoadBalancer";
  const count = type === "NodePort" ? ports.length : isBalancer ? (allocates === false ? given : ports.length) : 0;
  usage.set("services", ONE);
  usage.set("services.nodeports", quantityOf(String(count)));
  usage.set("services.loadbalancers", isBalancer ? ONE : Quantity.zero);
}

function addClaim(usage: Amounts, { spec = {} }: Claim): void {
  const size = quantityOf(spec.resources?.requests?.storage);
  usage.set("persistentvolumeclaims", ONE);
  usage.set("requests.storage", size);
  if (!spec.storageClassName) return;
  const prefix = `${spec.storageClassName}.storageclass.storage.k8s.io/`;
  usage.set(`${prefix}persistentvolumeclaims`, ONE);
  usage.set(`${prefix}requests.storage`, size);
}

/** What each container must say if a quota counts it. */
const MUST_SAY = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** What containers do not say, though a quota counts it: "cpu for: a,b; limits.memory for: c". */
export function unsaid({ spec = {} }: Pod, counted: readonly string[]): string {
  if (spec.resources) return "";
  const missing = new Map<string, string[]>();
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const name of counted) {
      if (MUST_SAY.has(name) && !says(container, name))
        missing.set(name, [...(missing.get(name) ?? []), container.name ?? ""]);
    }
  }
  return [...missing.keys()]
    .sort()
    .map((name) => `${name} for: ${[...new Set(missing.get(name))].sort().join(",")}`)
    .join("; ");
}

function says({ resources }: Container, name: string): boolean {
  const [, side = "requests", resource = name] = /^(requests|limits)\.(.*)$/.exec(name) ?? [];
  const list = side === "limits" ? resources?.limits : resources?.requests;
  return list !== undefined && Object.hasOwn(list, resource);
}
