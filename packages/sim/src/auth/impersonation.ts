/** Acting as somebody else: `kubectl --as`. Who asks for it must be allowed to be each part of whom they want to be. Pure. */
import { badRequest } from "../api/refusal.ts";
import type { User } from "../api/resource.ts";
import type { Attributes, ResourceAttributes } from "./attributes.ts";
import { ANONYMOUS, AUTHENTICATED, asServiceAccount, serviceAccountGroups, UNAUTHENTICATED } from "./users.ts";

/** Headers by their names in lower case; several of one name are several values. */
export type Headers = Readonly<Record<string, readonly string[]>>;

export interface Impersonation {
  /** Whom the request is made as. */
  readonly user: User;
  /** What must be allowed to whoever really asks. */
  readonly needs: readonly ResourceAttributes[];
}

const EXTRA = "impersonate-extra-";
const AUTHENTICATION_GROUP = "authentication.k8s.io";

/** `undefined` if nobody else is meant. */
export function impersonation(asking: User, headers: Headers): Impersonation | undefined {
  const username = headers["impersonate-user"]?.[0] ?? "";
  const groups = headers["impersonate-group"] ?? [];
  const uid = headers["impersonate-uid"]?.[0] ?? "";
  const extra = extraOf(headers);
  if (username === "") {
    const other = groups.length > 0 || uid !== "" || Object.keys(extra).length > 0;
    if (other) throw badRequest(`requested ${goText(uid, groups, extra)} without impersonating a user name`);
    return undefined;
  }
  const need = (group: string, resource: string, name: string, more: object = {}): ResourceAttributes => ({
    user: asking,
    verb: "impersonate",
    group,
    resource,
    name,
    ...more,
  });
  const account = asServiceAccount(username);
  return {
    user: {
      username,
      ...(uid && { uid }),
      groups: groupsOf(username, groups),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
    needs: [
      account
        ? need("", "serviceaccounts", account.name, { namespace: account.namespace })
        : need("", "users", username),
      ...groups.map((group) => need("", "groups", group)),
      ...Object.entries(extra).flatMap(([key, values]) =>
        values.map((value) => need(AUTHENTICATION_GROUP, "userextras", value, { subresource: key })),
      ),
      ...(uid ? [need(AUTHENTICATION_GROUP, "uids", uid)] : []),
    ],
  };
}

/**
 * What the real server says is missing: it has a newer way to allow this, which it tries first and which we have not, by
 * verbs such as "impersonate-on:user-info:list" on what is then to be done. `undefined` if that way is not open.
 */
export function missingFirst({ user, needs }: Impersonation, wanted: Attributes): Attributes | undefined {
  const mode = asServiceAccount(user.username)
    ? "serviceaccount"
    : user.username.startsWith("system:node:")
      ? "arbitrary-node"
      : "user-info";
  if (mode !== "user-info" && needs.length > 1) return undefined;
  return { ...wanted, verb: `impersonate-on:${mode}:${wanted.verb}` };
}

/** As Go prints somebody. */
function goText(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map((text) => JSON.stringify(text)).join(", ")}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const map = entries.length > 0 ? `map[string][]string{${entries.join(", ")}}` : "map[string][]string(nil)";
  const groupsText = groups.length > 0 ? list(groups) : "[]string(nil)";
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${groupsText}, Extra:${map}}`;
}

/** Service accounts bring their groups along, unless others are asked for; everybody is in one of the two large ones. */
function groupsOf(username: string, asked: readonly string[]): string[] {
  const account = asServiceAccount(username);
  const groups = asked.length === 0 && account ? serviceAccountGroups(account.namespace) : [...asked];
  if (username === ANONYMOUS.username) {
    return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED];
  }
  const settled = groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return settled ? groups : [...groups, AUTHENTICATED];
}

function extraOf(headers: Headers): Record<string, readonly string[]> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith(EXTRA));
  return Object.fromEntries(found.map(([name, values]) => [unescaped(name.slice(EXTRA.length)), values]));
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
