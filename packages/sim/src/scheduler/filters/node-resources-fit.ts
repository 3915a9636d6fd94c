/** The filter NodeResourcesFit: what a pod asks for must be free. Pure. */

import { isExtended } from "../../placement/resources.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import type { Rejection } from "../rejection.ts";

/** Resources that are somebody else's affair: by name, or by what comes before the slash. */
export interface IgnoredResources {
  readonly names: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

export const NONE_IGNORED: IgnoredResources = { names: new Set(), groups: new Set() };

const PODS = 1;
const CPU = 2;
const MEMORY = 4;
const STORAGE = 8;
const UNRESOLVABLE = 16;
const REASONS: readonly [number, string][] = [
  [PODS, "Too many pods"],
  [CPU, "Insufficient cpu"],
  [MEMORY, "Insufficient memory"],
  [STORAGE, "Insufficient ephemeral-storage"],
];

/** All combinations, made once: thousands of nodes are rejected for the same few reasons. */
const REJECTIONS: readonly Rejection[] = Array.from({ length: 32 }, (_, what) => ({
  plugin: "NodeResourcesFit",
  reasons: REASONS.filter(([bit]) => what & bit).map(([, reason]) => reason),
  resolvable: (what & UNRESOLVABLE) === 0,
}));

export function nodeResourcesFit(
  { requests }: PodInfo,
  node: NodeInfo,
  ignored: IgnoredResources = NONE_IGNORED,
): Rejection | undefined {
  const { cpu, memory, storage, scalars } = requests;
  let lacking = 0;
  if (node.pods.length + 1 > node.maxPods) lacking |= PODS;
  if (cpu > 0 && cpu > node.cpu - node.usedCpu) lacking |= cpu > node.cpu ? CPU | UNRESOLVABLE : CPU;
  if (memory > 0 && memory > node.memory - node.usedMemory)
    lacking |= memory > node.memory ? MEMORY | UNRESOLVABLE : MEMORY;
  if (storage > 0 && storage > node.storage - node.usedStorage)
    lacking |= storage > node.storage ? STORAGE | UNRESOLVABLE : STORAGE;
  if (scalars) return withScalars(scalars, node, ignored, lacking);
  return lacking === 0 ? undefined : REJECTIONS[lacking];
}

function withScalars(
  scalars: ReadonlyMap<string, number>,
  node: NodeInfo,
  ignored: IgnoredResources,
  lacking: number,
): Rejection | undefined {
  const reasons: string[] = [];
  let unresolvable = lacking & UNRESOLVABLE;
  for (const [name, amount] of scalars) {
    if (amount === 0 || isIgnored(name, ignored)) continue;
    const has = node.scalars?.get(name) ?? 0;
    if (amount <= has - (node.usedScalars?.get(name) ?? 0)) continue;
    reasons.push(`Insufficient ${name}`);
    if (amount > has) unresolvable = UNRESOLVABLE;
  }
  const rejection = REJECTIONS[(lacking & ~UNRESOLVABLE) | unresolvable] as Rejection;
  if (reasons.length > 0) return { ...rejection, reasons: [...rejection.reasons, ...reasons] };
  return lacking === 0 ? undefined : rejection;
}

function isIgnored(name: string, { names, groups }: IgnoredResources): boolean {
  if (!isExtended(name)) return false;
  return names.has(name) || (groups.size > 0 && groups.has(name.slice(0, name.indexOf("/"))));
}
