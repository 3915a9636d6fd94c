/** Whom a pod wants to be near, and whom not: read once for each pod. Pure. */
import type { coreV1 } from "@berth/kube";
import { type Labels, type Selector, selectorOf } from "../placement/selectors.ts";

export interface AffinityTerm {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
  readonly topologyKey: string;
  /** Of a preference; 0 of what is required. */
  readonly weight: number;
}

export interface AffinityTerms {
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferred: readonly AffinityTerm[];
  readonly preferredNot: readonly AffinityTerm[];
  /** Why the terms cannot be read, if so; then there are none. */
  readonly problem?: string;
}

export const NO_TERMS: AffinityTerms = { affinity: [], antiAffinity: [], preferred: [], preferredNot: [] };

export function affinityTermsOf(namespace: string, affinity: coreV1.Affinity | undefined): AffinityTerms {
  const { podAffinity: near, podAntiAffinity: apart } = affinity ?? {};
  if (!near && !apart) return NO_TERMS;
  const required = (term: coreV1.PodAffinityTerm) => termOf(namespace, term, 0);
  const weighted = ({ podAffinityTerm, weight }: coreV1.WeightedPodAffinityTerm) =>
    termOf(namespace, podAffinityTerm, weight);
  try {
    return {
      affinity: (near?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(required),
      antiAffinity: (apart?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(required),
      preferred: (near?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted),
      preferredNot: (apart?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted),
    };
  } catch (error) {
    return { ...NO_TERMS, problem: error instanceof Error ? error.message : String(error) };
  }
}

function termOf(namespace: string, term: coreV1.PodAffinityTerm, weight: number): AffinityTerm {
  const { labelSelector, namespaceSelector, topologyKey } = term;
  const namespaces = term.namespaces ?? [];
  return {
    namespaces: new Set(namespaces.length === 0 && !namespaceSelector ? [namespace] : namespaces),
    namespaceSelector: selectorOf(namespaceSelector),
    selector: selectorOf(labelSelector),
    topologyKey,
    weight,
  };
}

/** What a term looks at in a pod. */
export interface LabelledPod {
  readonly namespace: string;
  readonly labels: Labels | undefined;
}

/** @param namespaceLabels - Of the pod's namespace, if they are to be looked at. */
export function matchesTerm(term: AffinityTerm, pod: LabelledPod, namespaceLabels: Labels | undefined): boolean {
  if (!term.namespaces.has(pod.namespace) && !term.namespaceSelector.matches(namespaceLabels)) return false;
  return term.selector.matches(pod.labels);
}

/** One pod must match all terms, and there must be some. */
export function matchesAllTerms(terms: readonly AffinityTerm[], pod: LabelledPod): boolean {
  return terms.length > 0 && terms.every((term) => matchesTerm(term, pod, undefined));
}

/** All namespaces, by their labels. */
export type Namespaces = () => Iterable<readonly [name: string, labels: Labels | undefined]>;

/** The terms with the namespaces named that their selectors select: so they need not be looked up pod by pod. */
export function withNamespaces(terms: readonly AffinityTerm[], namespaces: Namespaces): readonly AffinityTerm[] {
  return terms.map((term) => {
    if (term.namespaceSelector.isEmpty) return term;
    const named = new Set(term.namespaces);
    for (const [name, labels] of namespaces()) if (term.namespaceSelector.matches(labels)) named.add(name);
    return { ...term, namespaces: named };
  });
}
