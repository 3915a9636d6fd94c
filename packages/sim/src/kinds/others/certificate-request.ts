/** The rules of certificate signing requests, as far as anybody meets them. */
import type { certificatesV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules, WriteContext } from "../../api/resource.ts";
import { checkOneOf } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";

export type CertificateRequest = LooseObject<certificatesV1.CertificateSigningRequest>;

const DECISIONS = ["Approved", "Denied"];

export const certificateRequestRules: Rules = {
  names: "segment",
  generation: false,
  prepareForCreate: (request: CertificateRequest, { user }) => {
    request.status = {};
    request.spec ??= {};
    const { spec } = request;
    for (const name of ["username", "uid", "groups", "extra"] as const) delete spec[name];
    spec.username = user.username;
    if (user.uid) spec.uid = user.uid;
    if (user.groups.length > 0) spec.groups = [...user.groups];
    if (user.extra) spec.extra = Object.fromEntries(Object.entries(user.extra).map(([key, list]) => [key, [...list]]));
  },
  validate: ({ spec = {} }: CertificateRequest, errors) => {
    if (!spec.request || !isRequest(spec.request)) {
      const why = "PEM block type must be CERTIFICATE REQUEST";
      errors.invalid("spec.request", spec.request ?? "", why);
    }
    if (!spec.usages?.length) errors.required("spec.usages");
    if (!spec.signerName) errors.required("spec.signerName");
    else if (!spec.signerName.includes("/")) {
      const why = 'must be a fully qualified domain and path of the form "example.com/signer-name"';
      errors.invalid("spec.signerName", spec.signerName, why);
    }
    const seconds = spec.expirationSeconds;
    if (seconds !== undefined && seconds < 600) {
      const why = "may not specify a duration less than 600 seconds (10 minutes)";
      errors.invalid("spec.expirationSeconds", seconds, why);
    }
  },
  prepareForUpdate: (request: CertificateRequest, before: CertificateRequest) => {
    if (before.spec) request.spec = before.spec;
  },
  prepareForStatusUpdate: (request: CertificateRequest, before: CertificateRequest, context) => {
    // Who may approve says so elsewhere; here the decision stays what it was.
    const others = request.status?.conditions?.filter(({ type = "" }) => !DECISIONS.includes(type)) ?? [];
    const decided = before.status?.conditions?.filter(({ type = "" }) => DECISIONS.includes(type)) ?? [];
    request.status = { ...request.status };
    if (decided.length + others.length > 0) request.status.conditions = [...decided, ...others];
    stampConditions(request, before, context);
  },
  validateStatusUpdate: (request: CertificateRequest, _before, errors) => checkConditions(request, errors),
  fields: ({ spec = {} }: CertificateRequest) => ({ "spec.signerName": spec.signerName ?? "" }),
};

function isRequest(base64: string): boolean {
  return Buffer.from(base64, "base64").toString().includes("-----BEGIN CERTIFICATE REQUEST-----");
}

/** Says when conditions came, where whoever wrote them did not. */
export function stampConditions(
  request: CertificateRequest,
  before: CertificateRequest,
  { time }: Pick<WriteContext, "time">,
): void {
  const conditions = request.status?.conditions;
  if (!conditions || !request.status) return;
  request.status.conditions = conditions.map((condition) => {
    const old = before.status?.conditions?.find(({ type }) => type === condition.type);
    const changed = old?.status === condition.status ? old?.lastTransitionTime : undefined;
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? changed ?? time,
    };
  });
}

export function checkConditions({ status = {} }: CertificateRequest, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type = "", status: value = "" }] of (status.conditions ?? []).entries()) {
    const place = `status.conditions[${index}]`;
    if (!type) errors.required(`${place}.type`);
    const values = [...DECISIONS, "Failed"].includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (!value) errors.required(`${place}.status`);
    else checkOneOf(value, values, `${place}.status`, errors);
    if (seen.has(type)) errors.duplicate(`${place}.type`, type);
    seen.add(type);
  }
  if (DECISIONS.every((type) => seen.has(type))) {
    errors.invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive");
  }
}
