/** Selectors of labels and of nodes, read once and asked often. Pure. */
import { type coreV1, LabelSelector, type LabelSelectorSpec } from "@berth/kube";

export type Labels = Readonly<Record<string, string>>;

export interface Selector {
  /** Selects everything, for want of any requirement. */
  readonly isEmpty: boolean;
  matches(labels: Labels | undefined): boolean;
}

export const NOTHING: Selector = { isEmpty: false, matches: () => false };
export const EVERYTHING: Selector = { isEmpty: true, matches: () => true };

/** None selects nothing, an empty one everything. Throws if it cannot be read. */
export function selectorOf(spec: LabelSelectorSpec | undefined): Selector {
  if (!spec) return NOTHING;
  const selector = LabelSelector.fromSpec(spec);
  if (selector.requirements.length === 0) return EVERYTHING;
  return { isEmpty: false, matches: (labels) => selector.matches(labels) };
}

/** All of these labels. */
export function selectorOfLabels(wanted: Labels): Selector {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return EVERYTHING;
  return { isEmpty: false, matches: (labels) => entries.every(([key, value]) => labelOf(labels, key) === value) };
}

export function both(a: Selector, b: Selector): Selector {
  if (a.isEmpty) return b;
  if (b.isEmpty) return a;
  return { isEmpty: false, matches: (labels) => a.matches(labels) && b.matches(labels) };
}

/** A label's value, whatever it is called: "constructor" is a name like any other. */
export function labelOf(labels: Labels | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** What a selector of nodes looks at. */
export interface LabelledNode {
  readonly name: string;
  readonly labels: Labels;
}

export type NodeMatcher = (node: LabelledNode) => boolean;

/** One term: all of its expressions and all of its fields. An empty one selects no node, nor one that cannot be read. */
export function termMatcher({ matchExpressions = [], matchFields = [] }: coreV1.NodeSelectorTerm): NodeMatcher {
  if (matchExpressions.length === 0 && matchFields.length === 0) return () => false;
  let labels: Selector = EVERYTHING;
  try {
    labels = selectorOf({ matchExpressions });
  } catch {
    return () => false;
  }
  const fields = matchFields.map(({ key, operator, values = [] }) => {
    const known = key === "metadata.name" && values.length === 1 && (operator === "In" || operator === "NotIn");
    return known && { name: values[0], wanted: operator === "In" };
  });
  if (fields.some((field) => !field)) return () => false;
  return (node) =>
    labels.matches(node.labels) && fields.every((field) => field && (node.name === field.name) === field.wanted);
}

/** Any of the terms. */
export function nodeSelectorMatcher({ nodeSelectorTerms = [] }: Partial<coreV1.NodeSelector>): NodeMatcher {
  const terms = nodeSelectorTerms.map(termMatcher);
  return (node) => terms.some((matches) => matches(node));
}
