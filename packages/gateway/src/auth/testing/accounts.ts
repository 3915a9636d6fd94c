/** Service accounts with roles, and tokens of theirs: on any cluster. */
import { type authenticationV1, type Client, coreV1, isAlreadyExists, rbacV1 } from "@berth/kube";

const API_GROUP = "rbac.authorization.k8s.io";

/** What an account may do: in a namespace, and everywhere. */
export interface Rights {
  readonly namespaced?: readonly rbacV1.PolicyRule[];
  readonly everywhere?: readonly rbacV1.PolicyRule[];
}

/** One rule. */
export function rule(apiGroup: string, resource: string, verbs: string, names?: readonly string[]): rbacV1.PolicyRule {
  return {
    ...{ apiGroups: [apiGroup], resources: resource.split(","), verbs: verbs.split(",") },
    ...(names && { resourceNames: [...names] }),
  };
}

/** Makes an account in a namespace, with a role and a cluster role of its own. */
export async function makeAccount(
  client: Client,
  name: string,
  rights: Rights = {},
  namespace = "default",
): Promise<void> {
  const metadata = { name, namespace };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  await client.create(coreV1.ServiceAccount, { metadata }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  if (rights.namespaced) {
    await client.create(rbacV1.Role, { metadata, rules: [...rights.namespaced] });
    const roleRef = { apiGroup: API_GROUP, kind: "Role", name };
    await client.create(rbacV1.RoleBinding, { metadata, roleRef, subjects });
  }
  if (rights.everywhere) {
    await client.create(rbacV1.ClusterRole, { metadata: { name }, rules: [...rights.everywhere] });
    const roleRef = { apiGroup: API_GROUP, kind: "ClusterRole", name };
    await client.create(rbacV1.ClusterRoleBinding, { metadata: { name }, roleRef, subjects });
  }
}

/** How to make a token. */
export interface TokenOptions {
  /** Default: the API server's own. */
  readonly audiences?: readonly string[];
  /** Default: 600, which is the least. */
  readonly expirationSeconds?: number;
  /** An object with whose end the token ends. Default: only the account. */
  readonly boundObjectRef?: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}

/** A token of an account in the namespace "default", as `kubectl create token` makes it. */
export async function tokenOf(client: Client, name: string, options: TokenOptions = {}): Promise<string> {
  const { audiences = [], expirationSeconds = 600, boundObjectRef } = options;
  const { status } = await client.subresource("token").create<authenticationV1.TokenRequest>(
    coreV1.ServiceAccount,
    { namespace: "default", name },
    {
      ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {} },
      spec: { audiences, expirationSeconds, ...(boundObjectRef && { boundObjectRef }) },
    },
  );
  return status?.token ?? "";
}
