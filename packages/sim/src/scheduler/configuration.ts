/**
 * How a scheduler is set up: the part of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) that changes what it
 * does here. Whatever else stands in one is of no consequence in a simulation and is left alone, except for what would
 * change decisions: that is refused.
 */
import type { coreV1 } from "@berth/kube";
import { type NodeMatcher, nodeSelectorMatcher } from "../placement/selectors.ts";
import type { Extender, ExtenderSettings } from "./extenders/extender.ts";
import type { HttpExtenderConfiguration } from "./extenders/http-extender.ts";
import type { IgnoredResources } from "./filters/node-resources-fit.ts";
import type { Plugin } from "./rejection.ts";
import { type ResourceWeight, type ScoringStrategy, strategyOf } from "./scores/resource-strategy.ts";
import { type SpreadDefaults, SYSTEM_DEFAULTS } from "./spread-constraints.ts";

/** As in `plugins` of a profile. */
export interface PluginSet {
  readonly enabled?: readonly { readonly name: string; readonly weight?: number }[];
  /** "*" stands for all. */
  readonly disabled?: readonly { readonly name: string }[];
}

export interface ProfileConfiguration {
  /** Which pods it is for. Default: "default-scheduler". */
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  /** By extension point: "score", "filter", "postFilter", "multiPoint"; others are left alone. */
  readonly plugins?: Readonly<Record<string, PluginSet>>;
  readonly pluginConfig?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[];
}

/** An extender in this process. */
export interface LocalExtenderConfiguration extends ExtenderSettings {
  readonly extender: Extender;
}

export type ExtenderConfiguration = HttpExtenderConfiguration | LocalExtenderConfiguration;

/** What a scheduler is told, as kube-scheduler is by its file: the fields of KubeSchedulerConfiguration that mean something here. */
export interface SchedulerConfiguration {
  /** Default: one for "default-scheduler". */
  readonly profiles?: readonly ProfileConfiguration[];
  /** How many of the nodes are looked at before the best of them is taken. Default: 0, which goes by their number. */
  readonly percentageOfNodesToScore?: number;
  /** Default: 1. */
  readonly podInitialBackoffSeconds?: number;
  /** Default: 10. */
  readonly podMaxBackoffSeconds?: number;
  /** Who is asked besides. Shared by all profiles. */
  readonly extenders?: readonly ExtenderConfiguration[];
}

/** A profile in the one form that the rest knows. */
export interface Profile {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number;
  /** Rules that are not switched off. */
  readonly filters: ReadonlySet<Plugin>;
  /** Scores by their weight; those that are switched off are not in it. */
  readonly scores: ReadonlyMap<Plugin, number>;
  readonly preempts: boolean;
  /** Whether the plugin for resource claims has a word in messages, as it always has: there are no claims here. */
  readonly speaksOfClaims: boolean;
  readonly strategy: ScoringStrategy;
  readonly balanced: readonly ResourceWeight[];
  readonly ignoredResources: IgnoredResources;
  readonly spreadDefaults: SpreadDefaults;
  readonly hardPodAffinityWeight: number;
  readonly ignoresPreferencesOfOthers: boolean;
  readonly addedNodes: NodeMatcher | undefined;
  readonly addedPreferences: readonly coreV1.PreferredSchedulingTerm[];
  readonly minCandidatePercentage: number;
  readonly minCandidates: number;
}

const FILTERS: readonly Plugin[] = [
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "PodTopologySpread",
  "InterPodAffinity",
];

const SCORES: readonly (readonly [Plugin, number])[] = [
  ["TaintToleration", 3],
  ["NodeAffinity", 2],
  ["NodeResourcesFit", 1],
  ["PodTopologySpread", 2],
  ["InterPodAffinity", 2],
  ["NodeResourcesBalancedAllocation", 1],
];

const DEFAULT_RESOURCES: readonly ResourceWeight[] = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 1 },
];

/** Fills in what is left out. Throws at what cannot be. */
export function profilesOf(configuration: SchedulerConfiguration): Profile[] {
  const { profiles = [{}], extenders = [], percentageOfNodesToScore = 0 } = configuration;
  if (profiles.length === 0) throw new RangeError("a scheduler needs at least one profile");
  const ignored = extenders.flatMap(({ managedResources = [] }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  const result = profiles.map((profile) => profileOf(profile, percentageOfNodesToScore, ignored));
  const names = result.map(({ schedulerName }) => schedulerName);
  if (new Set(names).size < names.length) throw new RangeError("two profiles have the same schedulerName");
  return result;
}

function profileOf(given: ProfileConfiguration, percentage: number, ignoredByExtenders: readonly string[]): Profile {
  const { schedulerName = "default-scheduler", plugins = {} } = given;
  const args = (name: Plugin): Record<string, unknown> => {
    const found = given.pluginConfig?.find((each) => each.name === name)?.args;
    return found ?? {};
  };
  const fit = args("NodeResourcesFit") as FitArgs;
  const spread = args("PodTopologySpread") as SpreadArgs;
  const added = (args("NodeAffinity") as { addedAffinity?: coreV1.NodeAffinity }).addedAffinity;
  const affinity = args("InterPodAffinity") as AffinityArgs;
  const preemption = args("DefaultPreemption") as PreemptionArgs;
  const required = added?.requiredDuringSchedulingIgnoredDuringExecution;
  return {
    schedulerName,
    percentageOfNodesToScore: given.percentageOfNodesToScore ?? percentage,
    filters: new Set(FILTERS.filter((name) => isOn(name, plugins, "filter"))),
    scores: new Map(
      SCORES.filter(([name]) => isOn(name, plugins, "score")).map(([name, weight]) => [
        name,
        weightOf(name, plugins) ?? weight,
      ]),
    ),
    preempts: isOn("DefaultPreemption", plugins, "postFilter"),
    speaksOfClaims: isOn("DynamicResources", plugins, "postFilter"),
    strategy: strategyOf(fit.scoringStrategy, DEFAULT_RESOURCES),
    balanced: strategyOf(args("NodeResourcesBalancedAllocation"), DEFAULT_RESOURCES).resources,
    // What extenders say comes before what the profile says.
    ignoredResources: {
      names: new Set(ignoredByExtenders.length > 0 ? ignoredByExtenders : fit.ignoredResources),
      groups: new Set(fit.ignoredResourceGroups),
    },
    spreadDefaults:
      spread.defaultingType === "List"
        ? { system: false, constraints: spread.defaultConstraints ?? [] }
        : SYSTEM_DEFAULTS,
    hardPodAffinityWeight: affinity.hardPodAffinityWeight ?? 1,
    ignoresPreferencesOfOthers: affinity.ignorePreferredTermsOfExistingPods ?? false,
    addedNodes: required && nodeSelectorMatcher(required),
    addedPreferences: added?.preferredDuringSchedulingIgnoredDuringExecution ?? [],
    minCandidatePercentage: preemption.minCandidateNodesPercentage ?? 10,
    minCandidates: preemption.minCandidateNodesAbsolute ?? 100,
  };
}

interface FitArgs {
  readonly scoringStrategy?: Parameters<typeof strategyOf>[0];
  readonly ignoredResources?: readonly string[];
  readonly ignoredResourceGroups?: readonly string[];
}

interface SpreadArgs {
  readonly defaultingType?: "System" | "List";
  readonly defaultConstraints?: readonly coreV1.TopologySpreadConstraint[];
}

interface AffinityArgs {
  readonly hardPodAffinityWeight?: number;
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

interface PreemptionArgs {
  readonly minCandidateNodesPercentage?: number;
  readonly minCandidateNodesAbsolute?: number;
}

/** Off at its own extension point, or everywhere; on again if it is named. */
function isOn(name: Plugin, plugins: Readonly<Record<string, PluginSet>>, point: string): boolean {
  const names = (set: PluginSet | undefined, list: "enabled" | "disabled") =>
    (set?.[list] ?? []).map((each) => each.name);
  const here = plugins[point];
  if (names(here, "enabled").includes(name)) return true;
  if (names(here, "disabled").some((each) => each === name || each === "*")) return false;
  const everywhere = plugins.multiPoint;
  if (names(everywhere, "enabled").includes(name)) return true;
  return !names(everywhere, "disabled").some((each) => each === name || each === "*");
}

function weightOf(name: Plugin, plugins: Readonly<Record<string, PluginSet>>): number | undefined {
  for (const set of [plugins.score, plugins.multiPoint]) {
    const found = set?.enabled?.find((each) => each.name === name);
    if (found) return found.weight ?? 1;
  }
  return undefined;
}
