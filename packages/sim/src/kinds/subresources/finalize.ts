/** "namespaces/finalize": whoever emptied a namespace says that he is done with it. */
import type { SubresourceHandler } from "../../api/api-server.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import { checkFinalizer, type Namespace } from "../core/namespace.ts";
import { checkMeant, wantedOf } from "./body.ts";

export const finalizeNamespace: SubresourceHandler = (call) => {
  const { api, resource, object, context, manager } = call;
  const wanted: Namespace = wantedOf(call, object, resource);
  checkMeant(wanted, object, resource);
  const finalizers = wanted.spec?.finalizers ?? [];
  const errors = new FieldErrors();
  for (const [index, name] of finalizers.entries()) checkFinalizer(name, `spec.finalizers[${index}]`, errors);
  errors.throwIfAny(resource, object.metadata.name ?? "");
  const { labels, annotations } = wanted.metadata;
  const metadata = { ...object.metadata, ...(labels && { labels }), ...(annotations && { annotations }) };
  const spec = { ...(finalizers.length > 0 && { finalizers }) };
  return api.commit(object, { ...object, metadata, spec }, resource, context, manager);
};
