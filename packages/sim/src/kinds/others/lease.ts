/** The rules of leases. */
import type { coordinationV1 } from "@berth/kube";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { Rules } from "../../api/resource.ts";
import { checkNotNegative } from "../common/formats.ts";
import type { LooseObject } from "../common/loose.ts";

type Lease = LooseObject<coordinationV1.Lease>;

export const leaseRules: Rules = {
  needsVersion: true,
  prepareForCreate: (lease: Lease) => dropUnserved(lease),
  prepareForUpdate: (lease: Lease) => dropUnserved(lease),
  validate: (lease: Lease, errors) => checkLease(lease, errors),
  validateUpdate: (lease: Lease, _before, errors) => checkLease(lease, errors),
};

function checkLease({ spec = {} }: Lease, errors: FieldErrors): void {
  const { leaseDurationSeconds: duration, leaseTransitions } = spec;
  if (duration !== undefined && duration <= 0) {
    errors.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0");
  }
  checkNotNegative(leaseTransitions, "spec.leaseTransitions", errors);
}

/** Fields that the API knows, for a feature that is switched off: candidates that let the server choose. */
function dropUnserved({ spec }: Lease): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}
