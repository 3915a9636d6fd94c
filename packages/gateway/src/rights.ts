/**
 * What the gateway may do in a cluster: all that it does for others it does with these rights, after it has asked whether they may.
 *
 * A test serves a real cluster with these rights, and reads in the API server's audit log that each of them is used.
 */
import { authenticationV1, authorizationV1, coordinationV1, coreV1, type Kind, type rbacV1 } from "@berth/kube";
import { BatchJob, Scheduling, Slot, Testbed } from "@berth/model";

/** In the namespace that it serves. */
export const namespacedRules: readonly rbacV1.PolicyRule[] = [
  may(BatchJob, "list", "watch", "create", "patch", "delete"),
  may(Scheduling, "list", "watch", "get", "create", "update", "patch", "delete"),
  may(Slot, "list", "watch"),
  may(Testbed, "list", "watch"),
  // Who has a testbed.
  may(coordinationV1.Lease, "list", "watch", "get", "create", "update", "patch"),
];

/** Everywhere. The last two are needed with authentication only. */
export const clusterRules: readonly rbacV1.PolicyRule[] = [
  may(coreV1.Node, "list", "watch"),
  may(authenticationV1.TokenReview, "create"),
  may(authorizationV1.SubjectAccessReview, "create"),
];

function may({ group, plural }: Kind, ...verbs: readonly string[]): rbacV1.PolicyRule {
  return { apiGroups: [group], resources: [plural], verbs: [...verbs] };
}
