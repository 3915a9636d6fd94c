/** Groups that belong to Kubernetes itself: who defines something there must say who allowed it. */
import type { DefinitionCondition } from "./definition.ts";

export const APPROVED = "api-approved.kubernetes.io";

/** Whether a group is Kubernetes' own. */
export function isProtected(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

export interface Approval {
  readonly state: "missing" | "invalid" | "approved" | "bypassed";
  readonly reason: string;
}

export function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const text = annotations?.[APPROVED];
  if (!text) {
    const see = "https://github.com/kubernetes/enhancements/pull/1111";
    return { state: "missing", reason: `protected groups must have approval annotation "${APPROVED}", see ${see}` };
  }
  if (text.startsWith("unapproved")) return { state: "bypassed", reason: `not approved: ${JSON.stringify(text)}` };
  if (URL.canParse(text)) return { state: "approved", reason: `approved in ${text}` };
  const rule = `protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved"`;
  return { state: "invalid", reason: `${rule}, see https://github.com/kubernetes/enhancements/pull/1111` };
}

const REASONS = {
  missing: "MissingAnnotation",
  invalid: "InvalidAnnotation",
  approved: "ApprovedAnnotation",
  bypassed: "UnapprovedAnnotation",
};

/** What a definition's status says of it. */
export function approvalCondition({ state, reason }: Approval): Omit<DefinitionCondition, "lastTransitionTime"> {
  const status = state === "approved" ? "True" : "False";
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason: REASONS[state], message: reason };
}
