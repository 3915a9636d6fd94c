/**
 * Somebody outside of the scheduler who is asked as well: which nodes will do, which are better, whom to evict, and to
 * bind. What is not implemented is not asked. Over HTTP (`HttpExtender`) or in this process, the messages are the same.
 */
import type { Pod } from "../pod-info.ts";
import type {
  ExtenderArgs,
  ExtenderBindingArgs,
  ExtenderBindingResult,
  ExtenderFilterResult,
  ExtenderPreemptionArgs,
  ExtenderPreemptionResult,
  HostPriority,
} from "./messages.ts";

/** Somebody who is asked besides the scheduler. */
export interface Extender {
  /** For error messages; a URL as a rule. Default: "extender". */
  readonly name?: string;
  filter?(args: ExtenderArgs): Promise<ExtenderFilterResult>;
  prioritize?(args: ExtenderArgs): Promise<readonly HostPriority[]>;
  preempt?(args: ExtenderPreemptionArgs): Promise<ExtenderPreemptionResult>;
  bind?(args: ExtenderBindingArgs): Promise<ExtenderBindingResult>;
  /** Lets go of connections. */
  close?(): void;
}

/** What the scheduler's configuration says about an extender, whichever way it is asked. */
export interface ExtenderSettings {
  /** Of its scores. Default: 0. */
  readonly weight?: number;
  /** Whether it knows the nodes, so that names will do. Default: no. */
  readonly nodeCacheCapable?: boolean;
  /** Only pods that ask for one of these are its affair. Default: all pods are. */
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[];
  /** Whether pods are scheduled without it if it fails. Default: no. */
  readonly ignorable?: boolean;
}

/** An extender and its settings, in the one form that the rest knows. */
export interface ConfiguredExtender {
  readonly extender: Extender;
  readonly name: string;
  readonly weight: number;
  readonly nodeCacheCapable: boolean;
  readonly ignorable: boolean;
  readonly managed: ReadonlySet<string>;
}

export function configured(extender: Extender, settings: ExtenderSettings): ConfiguredExtender {
  const { weight = 0, nodeCacheCapable = false, managedResources = [], ignorable = false } = settings;
  const managed = new Set(managedResources.map(({ name }) => name));
  return { extender, name: extender.name ?? "extender", weight, nodeCacheCapable, ignorable, managed };
}

/** Whether a pod asks for anything that the extender manages. */
export function isInterested({ managed }: ConfiguredExtender, { spec }: Pod): boolean {
  if (managed.size === 0) return true;
  for (const { resources } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
    for (const list of [resources?.requests, resources?.limits])
      for (const name in list) if (managed.has(name)) return true;
  }
  return false;
}
