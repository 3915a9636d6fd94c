/** Who somebody is, and what he may do. */
import { GROUP } from "@berth/model";
import { GatewayError } from "../errors.ts";
import type { Right } from "../http/route.ts";

/** Somebody, as Kubernetes knows him. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Tells people apart, and what they may do. */
export interface Guard {
  /** Whether there is anybody to be told apart. */
  readonly isOpen: boolean;
  /**
   * Rejects with BERTH_UNAUTHENTICATED.
   * @param from - The address it comes from: whoever tries many tokens is slowed down by it.
   */
  authenticate(token: string | undefined, from: string): Promise<User>;
  /** @param name - Of the object; absent: for all of them. */
  mayDo(user: User, right: Right, name?: string): Promise<boolean>;
}

/** Everybody may do everything: for the machine of the one who has started it. */
export const openGuard: Guard = {
  isOpen: true,
  authenticate: async () => ({ name: "anybody", groups: [] }),
  mayDo: async () => true,
};

/** The error for somebody who may not do something. @param name - Of the object; absent: all of them. */
export function lacking({ name: user }: User, { verb, resource, group = GROUP }: Right, name?: string): GatewayError {
  const what = group === "" ? resource : `${resource}.${group}`;
  const words = name === undefined ? what : `${what} ${name}`;
  return new GatewayError("BERTH_FORBIDDEN", `${user} may not ${verb} ${words}`);
}

/** The token of an Authorization header. */
export function bearerOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(text ?? "")?.[1];
}
