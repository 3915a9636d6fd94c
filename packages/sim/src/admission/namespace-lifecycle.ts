/** Nothing comes to be in a namespace that is not there, or that is going; and some namespaces never go. */
import { notFound } from "../api/refusal.ts";
import type { Admission } from "../api/write.ts";
import type { Namespace } from "../kinds/core/namespace.ts";
import { refused } from "./refused.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);
/** Questions, which are answered and not kept. */
const QUESTIONS = "authorization.k8s.io";

export const namespaceLifecycle: Admission = {
  admit: (object, resource, { lookup }, operation) => {
    const { name = "", namespace } = object.metadata;
    if (operation === "delete") {
      if (resource.storage === "/namespaces" && IMMORTAL.has(name)) {
        throw refused(object, resource, "this namespace may not be deleted");
      }
      return;
    }
    if (namespace === undefined || resource.group === QUESTIONS) return;
    const found: Namespace | undefined = lookup.get(NAMESPACES, namespace);
    if (!found) throw notFound(NAMESPACES, namespace);
    if (operation !== "create" || found.status?.phase !== "Terminating") return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const message = `namespace ${namespace} is being terminated`;
    throw refused(object, resource, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
  },
};
