/** "certificatesigningrequests/approval": somebody says yes or no to a request. */
import type { SubresourceHandler } from "../../api/api-server.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import { type CertificateRequest, checkConditions, stampConditions } from "../others/certificate-request.ts";
import { checkMeant, wantedOf } from "./body.ts";

export const approve: SubresourceHandler = (call) => {
  const { api, request, resource, object, context, manager } = call;
  if (request.verb === "get") return object;
  const wanted: CertificateRequest = wantedOf(call, object, resource);
  checkMeant(wanted, object, resource);
  const before: CertificateRequest = object;
  const after: CertificateRequest = { ...before, metadata: { ...before.metadata }, status: { ...before.status } };
  if (wanted.status?.conditions && after.status) after.status.conditions = wanted.status.conditions;
  stampConditions(after, before, context);
  const errors = new FieldErrors();
  checkConditions(after, errors);
  for (const type of ["Approved", "Denied", "Failed"]) {
    const had = before.status?.conditions?.some((condition) => condition.type === type);
    if (had && !after.status?.conditions?.some((condition) => condition.type === type)) {
      errors.forbidden("status.conditions", `updates may not remove a condition of type ${JSON.stringify(type)}`);
    }
  }
  errors.throwIfAny(resource, object.metadata.name ?? "");
  return api.commit(object, after, resource, context, manager);
};
