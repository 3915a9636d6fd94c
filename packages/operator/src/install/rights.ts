/**
 * What the operator may do: each part says beside its code what it does to which kind, and the roles are made of that. Pure.
 *
 * A test plays all scenarios with these rights, and reads in the API server's audit log that each of them is used.
 */
import type { Kind, rbacV1 } from "@berth/kube";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export interface Right {
  readonly group: string;
  /** With its subresource: "pods", "slots/status". */
  readonly resource: string;
  readonly verbs: readonly Verb[];
}

/** To do something with objects of a kind, or with a subresource of theirs. */
export function may(verbs: readonly Verb[], { group, plural }: Kind, subresource?: string): Right {
  return { group, resource: subresource === undefined ? plural : `${plural}/${subresource}`, verbs };
}

/** What an informer needs. */
export const SEE: readonly Verb[] = ["list", "watch"];

/** Rules with all of the rights, each resource once, in an order that does not depend on theirs. */
export function rulesFor(rights: readonly Right[]): rbacV1.PolicyRule[] {
  const verbs = new Map<string, Set<Verb>>();
  for (const { group, resource, verbs: some } of rights) {
    const key = `${group} ${resource}`;
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...some]));
  }
  return [...verbs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, set]) => {
      const [group = "", resource = ""] = key.split(" ");
      return { apiGroups: [group], resources: [resource], verbs: [...set].sort() };
    });
}
