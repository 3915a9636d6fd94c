/** What a cluster needs for a gateway: its account, with the rights that it needs and no others. Pure. */
import { clusterRules, namespacedRules } from "./rights.ts";

/** The name of the account, and of its roles. */
export const GATEWAY = "berth-gateway";

/** Where a gateway runs, and what it serves. */
export interface GatewayInstallationOptions {
  /** Where the gateway runs. */
  readonly namespace: string;
  /** The namespace that it serves. */
  readonly serves: string;
}

/** Manifests, in an order in which they can be applied. */
export function gatewayInstallation({ namespace, serves }: GatewayInstallationOptions): object[] {
  const subjects = [{ kind: "ServiceAccount", name: GATEWAY, namespace }];
  const rbac = "rbac.authorization.k8s.io";
  const roleRef = (kind: string) => ({ apiGroup: rbac, kind, name: GATEWAY });
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: GATEWAY, namespace } },
    { apiVersion, kind: "ClusterRole", metadata: { name: GATEWAY }, rules: clusterRules },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name: GATEWAY }, roleRef: roleRef("ClusterRole"), subjects },
    { apiVersion, kind: "Role", metadata: { name: GATEWAY, namespace: serves }, rules: namespacedRules },
    {
      ...{ apiVersion, kind: "RoleBinding", metadata: { name: GATEWAY, namespace: serves } },
      ...{ roleRef: roleRef("Role"), subjects },
    },
  ];
}
