/** The rules of nodes. */
import type { coreV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import { labelValueProblems } from "../../api/names.ts";
import type { Rules } from "../../api/resource.ts";
import { checkRange, isDualStack } from "../common/addresses.ts";
import { checkQualified } from "../common/formats.ts";
import type { Loose, LooseObject } from "../common/loose.ts";
import { roundResources } from "../common/quantities.ts";
import { same } from "../common/semantic.ts";
import { checkAmount } from "../pod/resources.ts";
import { checkEffect } from "../pod/tolerations.ts";

type Node = LooseObject<coreV1.Node>;
type Taint = Loose<coreV1.Taint>;

export const nodeRules: Rules = {
  generation: false,
  keepsStatus: true,
  default: ({ spec }: Node) => {
    if (spec) completeRanges(spec);
  },
  defaultStatus: ({ status = {} }: Node) => {
    if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity };
    roundResources(status.capacity);
    roundResources(status.allocatable);
  },
  prepareForCreate: ({ spec }: Node) => {
    delete spec?.configSource;
  },
  validate: (node: Node, errors) => checkNode(node, errors),
  prepareForUpdate: ({ spec }: Node) => {
    delete spec?.configSource;
  },
  validateUpdate: (node: Node, before: Node, errors) => {
    checkNode(node, errors);
    checkChange(node, before, errors);
  },
  validateStatusUpdate: (node: Node, before: Node, errors) => {
    checkResources(node, errors);
    checkChange(node, before, errors);
  },
  fields: ({ spec = {} }: Node) => ({ "spec.unschedulable": String(spec.unschedulable ?? false) }),
};

/** Either form of a node's range of addresses will do, and both are shown. */
function completeRanges(spec: NonNullable<Node["spec"]>): void {
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
}

function checkNode(node: Node, errors: FieldErrors): void {
  const { taints, podCIDRs = [] } = node.spec ?? {};
  if (taints) checkTaints(taints, "metadata.taints", errors);
  checkResources(node, errors);
  const before = errors.causes.length;
  for (const [index, range] of podCIDRs.entries()) checkRange(range, `spec.podCIDRs[${index}]`, errors);
  if (podCIDRs.length > 1 && errors.causes.slice(before).some(({ message }) => message.includes("must be a valid"))) {
    errors.internal("spec.podCIDRs", "invalid PodCIDRs. failed to check with dual stack");
  }
  if (podCIDRs.length > 1 && !isDualStack(podCIDRs)) {
    errors.invalid("spec.podCIDRs", podCIDRs, "may specify no more than one CIDR for each IP family");
  }
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;

/** What a kubelet says it can: names in order, each once. */
function checkFeatures(features: readonly string[], errors: FieldErrors): void {
  for (const [index, feature] of features.entries()) {
    const place = `status.declaredFeatures[${index}]`;
    if (feature.length > 253 || !FEATURE.test(feature)) {
      const how = "must start with an UpperCamelCase segment, with subsequent segments separated by '/'";
      const example =
        "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
      errors.invalid(place, feature, `invalid feature name ${JSON.stringify(feature)}: ${how} ${example}`);
    }
    const previous = features[index - 1];
    if (previous === undefined) continue;
    if (previous === feature) errors.duplicate(place, feature);
    else if (previous > feature) errors.invalid(place, feature, "list must be sorted alphabetically");
  }
}

function checkTaints(taints: readonly Taint[], field: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const { key = "", value = "", effect = "" } = taint;
    const place = `${field}[${index}]`;
    checkQualified(key, `${place}.key`, errors);
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(`${place}.value`, value, problems.join(";"));
    checkEffect(effect, `${place}.effect`, errors);
    const id = `${effect} ${key}`;
    if (seen.has(id)) errors.duplicate(place, taint, "taints must be unique by key and effect pair");
    seen.add(id);
  }
}

function checkResources({ status = {} }: Node, errors: FieldErrors): void {
  checkFeatures(status.declaredFeatures ?? [], errors);
  for (const list of ["capacity", "allocatable"] as const) {
    for (const name in status[list]) {
      checkAmount(name, status[list][name] as string, `status.${list}.${name}`, errors);
    }
  }
}

function checkChange({ spec = {}, status = {} }: Node, { spec: old = {} }: Node, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, address] of (status.addresses ?? []).entries()) {
    const id = `${address.type} ${address.address}`;
    if (seen.has(id)) errors.duplicate(`status.addresses[${index}]`, address);
    seen.add(id);
  }
  if (old.podCIDRs?.length && !same(spec.podCIDRs, old.podCIDRs)) {
    errors.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid');
  }
  if (old.providerID && old.providerID !== spec.providerID) {
    errors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
  if ((spec.externalID ?? "") !== (old.externalID ?? "")) errors.forbidden("spec.externalID", "may not be updated");
}
