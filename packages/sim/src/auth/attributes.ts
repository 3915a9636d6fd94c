/** What somebody wants to do, as those who decide about it see it, and how they are told that they may not. Pure. */
import { forbidden, Refusal } from "../api/refusal.ts";
import type { User } from "../api/resource.ts";

/** Something done to objects. */
export interface ResourceAttributes {
  readonly user: User;
  /** "get", "list", "watch", "create", "impersonate" … */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Something done to a path that is no object's: "/version". */
export interface PathAttributes {
  readonly user: User;
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

export interface Decision {
  readonly allowed: boolean;
  /** Who allowed it, or what went wrong in finding out; may be empty. */
  readonly reason: string;
}

export function isPath(attributes: Attributes): attributes is PathAttributes {
  return "path" in attributes;
}

/** `User "jane" cannot list resource "pods" in API group "" in the namespace "default"` */
export function describe(attributes: Attributes): string {
  const who = `User ${JSON.stringify(attributes.user.username)} cannot ${attributes.verb}`;
  if (isPath(attributes)) return `${who} path ${JSON.stringify(attributes.path)}`;
  const { resource, subresource, group, namespace } = attributes;
  const what = JSON.stringify(subresource ? `${resource}/${subresource}` : resource);
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : "at the cluster scope";
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}

export function refusalOf(attributes: Attributes, reason = ""): Refusal {
  const why = harmless(describe(attributes)) + (reason && `: ${reason}`);
  if (isPath(attributes)) return new Refusal(403, "Forbidden", `forbidden: ${why}`, { details: {} });
  return forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name ?? "", why);
}

/** No message may look like a page to a browser. */
function harmless(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
