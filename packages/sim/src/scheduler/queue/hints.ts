/**
 * Which event may help which pod: for each rule, what would have to happen for it to judge differently. Whoever was
 * rejected by a rule is only tried again after such an event. Pure.
 */

import { equal } from "../../api/json.ts";
import { anyConflict } from "../../placement/host-ports.ts";
import { requiredNodes } from "../../placement/required-nodes.ts";
import { labelOf } from "../../placement/selectors.ts";
import { anyUntolerated, toleratesUnschedulable } from "../../placement/tolerations.ts";
import { matchesAllTerms } from "../affinity-terms.ts";
import type { Surrounded } from "../checks.ts";
import type { Profile } from "../configuration.ts";
import { nodeResourcesFit } from "../filters/node-resources-fit.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import type { Plugin } from "../rejection.ts";
import { hasAllKeys, type SpreadConstraint, spreadConstraints } from "../spread-constraints.ts";
import type { ClusterEvent, NodeAction, PodAction } from "./cluster-events.ts";

type Change<T> = { readonly before: T | undefined; readonly after: T | undefined };
/** Whether a pod may have a chance now. */
type PodHint = (waiting: PodInfo, change: Change<PodInfo>) => boolean;
type NodeHint = (waiting: PodInfo, change: Change<NodeInfo>) => boolean;

interface Hints {
  readonly pod?: Partial<Record<PodAction, PodHint>>;
  readonly node?: Partial<Record<NodeAction, NodeHint>>;
}

const always = () => true;
const never = () => false;

const ofItself: PodHint = (waiting, { after }) => after?.uid === waiting.uid;

const nodeUnschedulable: NodeHint = (_, { before, after }) =>
  after !== undefined && !after.unschedulable && (before === undefined || before.unschedulable);

const toleratesNow: PodHint = (waiting, { after }) =>
  after?.uid === waiting.uid && toleratesUnschedulable(after.pod.spec?.tolerations);

const taints: NodeHint = ({ pod }, { before, after }) => {
  const isKeptAway = (node: NodeInfo | undefined) => !node || anyUntolerated(node.hardTaints, pod.spec?.tolerations);
  return isKeptAway(before) && !isKeptAway(after);
};

const nodeLabels =
  ({ addedNodes }: Profile): NodeHint =>
  ({ pod }, { before, after }) => {
    if (!after || (addedNodes && !addedNodes(after))) return false;
    const required = requiredNodes(pod);
    if (!required) return before === undefined;
    return required(after) && (!before || !required(before));
  };

/** Whether a pod has, or had, a place somewhere. */
const hasPlace = ({ pod }: PodInfo) => Boolean(pod.spec?.nodeName || pod.status?.nominatedNodeName);

const portsFreed: PodHint = (waiting, { before }) =>
  before !== undefined && hasPlace(before) && anyConflict(waiting.ports, before.ports);

const resourcesFreed: PodHint = (_, { before }) => before !== undefined && hasPlace(before);

const scaledDown: PodHint = (waiting, { before, after }) => {
  if (!before || !after) return false;
  if (after.uid === waiting.uid) return true;
  if (!after.pod.spec?.nodeName) return false;
  const { cpu, memory, storage, scalars } = waiting.requests;
  const [was, is] = [before.requests, after.requests];
  if ((cpu > 0 && was.cpu > is.cpu) || (memory > 0 && was.memory > is.memory)) return true;
  if (storage > 0 && was.storage > is.storage) return true;
  for (const [name, amount] of scalars ?? [])
    if (amount > 0 && (was.scalars?.get(name) ?? 0) > (is.scalars?.get(name) ?? 0)) return true;
  return false;
};

const hasMore: NodeHint = (waiting, { before, after }) => {
  if (!after || nodeResourcesFit(waiting, after)) return false;
  if (!before || after.maxPods > before.maxPods) return true;
  const { cpu, memory, storage, scalars } = waiting.requests;
  if ((cpu > 0 && after.cpu > before.cpu) || (memory > 0 && after.memory > before.memory)) return true;
  if (storage > 0 && after.storage > before.storage) return true;
  for (const [name, amount] of scalars ?? [])
    if (amount > 0 && (after.scalars?.get(name) ?? 0) > (before.scalars?.get(name) ?? 0)) return true;
  return false;
};

const nearby: PodHint = (waiting, { before, after }) => {
  if (before && after && after.uid === waiting.uid) return true;
  if ((after && !hasPlace(after)) || (before && !hasPlace(before))) return false;
  const { affinity, antiAffinity } = waiting.terms;
  if (before && after) {
    const comes = !matchesAllTerms(affinity, before) && matchesAllTerms(affinity, after);
    return comes || (matchesAllTerms(antiAffinity, before) && !matchesAllTerms(antiAffinity, after));
  }
  if (after) return matchesAllTerms(affinity, after);
  return (
    before !== undefined &&
    (matchesAllTerms(antiAffinity, before) || matchesAllTerms(before.terms.antiAffinity, waiting))
  );
};

const moved: NodeHint = (waiting, { before, after }) => {
  const { affinity, antiAffinity } = waiting.terms;
  for (const { topologyKey } of affinity) {
    const [was, is] = [labelOf(before?.labels, topologyKey), labelOf(after?.labels, topologyKey)];
    if (is !== undefined && was !== is) return true;
  }
  for (const { topologyKey } of antiAffinity) {
    if (!before) return true;
    const [was, is] = [labelOf(before.labels, topologyKey), labelOf(after?.labels, topologyKey)];
    if (was !== undefined && was !== is) return true;
  }
  return false;
};

function spreadHints(profile: Profile, { kindSelector }: Surrounded): Hints {
  const constraintsOf = ({ pod }: PodInfo): readonly SpreadConstraint[] =>
    spreadConstraints(pod, "DoNotSchedule", profile.spreadDefaults, kindSelector);
  const isInvolved = (other: PodInfo | undefined, waiting: PodInfo) =>
    !other || other.uid === waiting.uid || (hasPlace(other) && other.namespace === waiting.namespace);
  const pod: PodHint = (waiting, { before, after }) => {
    if (!isInvolved(before, waiting) || !isInvolved(after, waiting)) return false;
    const constraints = constraintsOf(waiting);
    const matches = (other: PodInfo) => constraints.some(({ selector }) => selector.matches(other.labels));
    if (before && after) {
      const [was, is] = [before.pod.spec?.tolerations, after.pod.spec?.tolerations];
      const tolerates = after.uid === waiting.uid && !equal(was, is);
      if (tolerates && constraints.some(({ honorsTaints }) => honorsTaints)) return true;
      return constraints.some(({ selector }) => selector.matches(before.labels) !== selector.matches(after.labels));
    }
    const other = after ?? before;
    return other !== undefined && matches(other);
  };
  const node: NodeHint = (waiting, { before, after }) => {
    const constraints = constraintsOf(waiting);
    const [was, is] = [before, after].map((each) => each !== undefined && hasAllKeys(each.labels, constraints));
    if (!before || !after) return Boolean(before ? was : is);
    if (was !== is) return true;
    const differs = constraints.some(
      ({ topologyKey }) => labelOf(before.labels, topologyKey) !== labelOf(after.labels, topologyKey),
    );
    return Boolean(is) && (differs || !equal(before.node?.spec?.taints ?? [], after.node?.spec?.taints ?? []));
  };
  return {
    pod: { Add: pod, UpdateLabels: pod, UpdateTolerations: pod, Delete: pod },
    node: { Add: node, Delete: node, UpdateLabels: node, UpdateTaints: node },
  };
}

/** Whoever cannot say whether it helps is tried again, lest it wait for ever. */
function says(hint: PodHint | NodeHint, waiting: PodInfo, change: Change<unknown>): boolean {
  try {
    // The event has said of which kind the two are.
    return (hint as (waiting: PodInfo, change: Change<unknown>) => boolean)(waiting, change);
  } catch {
    return true;
  }
}

/** Whether an event may help a pod that these rules have rejected. */
export type Helps = (waiting: PodInfo, rejectedBy: ReadonlySet<Plugin>, event: ClusterEvent) => boolean;

export interface HintTable {
  readonly helps: Helps;
  /** The rules that an event is of any interest to. */
  interested(event: ClusterEvent): readonly Plugin[];
  /** Whether a pod that a rule does not even let into the queue may get in after an event. */
  mayOpen(gate: Plugin, event: ClusterEvent): boolean;
}

/** Who hears of what, by the rules of a profile. New taints count wherever new nodes do, as in kube-scheduler. */
export function hintTable(profile: Profile, around: Surrounded): HintTable {
  const affinity = { Add: nearby, UpdateLabels: nearby, Delete: nearby };
  const table: Partial<Record<Plugin, Hints>> = {
    SchedulingGates: { pod: { GatesEliminated: ofItself } },
    NodeUnschedulable: {
      node: { Add: nodeUnschedulable, UpdateTaints: nodeUnschedulable },
      pod: { UpdateTolerations: toleratesNow },
    },
    NodeName: { node: { Add: always, UpdateTaints: always } },
    TaintToleration: { node: { Add: taints, UpdateTaints: taints }, pod: { UpdateTolerations: ofItself } },
    NodeAffinity: { node: { Add: nodeLabels(profile), UpdateLabels: nodeLabels(profile), UpdateTaints: always } },
    NodePorts: { pod: { Delete: portsFreed }, node: { Add: always, UpdateTaints: always } },
    NodeResourcesFit: {
      pod: { Delete: resourcesFreed, ScaleDown: scaledDown },
      node: { Add: hasMore, UpdateAllocatable: hasMore, UpdateTaints: always },
    },
    PodTopologySpread: spreadHints(profile, around),
    InterPodAffinity: { pod: affinity, node: { Add: moved, UpdateLabels: moved, UpdateTaints: always } },
    // It only ever waits for pods to go, and leaves it to the other rules to say whether that helps.
    DefaultPreemption: { pod: { Delete: never } },
  };
  const hintOf = (plugin: Plugin, event: ClusterEvent): PodHint | NodeHint | undefined => {
    if (plugin === "Extender") return always; // nobody knows what it waits for
    if (event.on === "*") return undefined;
    return event.on === "Pod" ? table[plugin]?.pod?.[event.action] : table[plugin]?.node?.[event.action];
  };
  const plugins: readonly Plugin[] = [...(Object.keys(table) as Plugin[]), "Extender"];
  const interested = new Map<string, readonly Plugin[]>();
  return {
    helps(waiting, rejectedBy, event) {
      if (rejectedBy.size === 0) return true;
      if (event.on === "*") return event.uid === undefined || event.uid === waiting.uid;
      const change = { before: event.before, after: event.after };
      for (const plugin of rejectedBy) {
        const hint = hintOf(plugin, event);
        if (hint && says(hint, waiting, change)) return true;
      }
      return false;
    },
    interested(event) {
      if (event.on === "*") return plugins;
      const key = `${event.on}/${event.action}`;
      let found = interested.get(key);
      if (!found) {
        found = plugins.filter((plugin) => hintOf(plugin, event));
        interested.set(key, found);
      }
      return found;
    },
    mayOpen: (gate, event) => event.on !== "*" && hintOf(gate, event) !== undefined,
  };
}
