/** The users and groups that mean something to the server itself. */
import type { User } from "../api/resource.ts";

/** May do everything, whatever the roles say. */
export const MASTERS = "system:masters";
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const SERVICE_ACCOUNTS = "system:serviceaccounts";

/** Whoever does not say who they are. */
export const ANONYMOUS: User = { username: "system:anonymous", groups: [UNAUTHENTICATED] };

/** Whoever started the cluster. */
export const ADMINISTRATOR: User = { username: "kubernetes-admin", groups: [MASTERS, AUTHENTICATED] };

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

export function serviceAccountName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The namespace and name of a service account, if a user is one. */
export function asServiceAccount(username: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  return namespace !== undefined && name !== undefined ? { namespace, name } : undefined;
}

export function serviceAccountGroups(namespace: string): string[] {
  return [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS}:${namespace}`];
}

/** With the group of all who have said who they are. */
export function authenticated(user: User): User {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
