/** Who somebody is, and what he may do. */
import type { Right } from "../http/route.ts";

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Guard {
  /** Whether there is anybody to be told apart. */
  readonly isOpen: boolean;
  /** Rejects with BERTH_UNAUTHENTICATED. */
  authenticate(token: string | undefined): Promise<User>;
  mayDo(user: User, right: Right, name?: string): Promise<boolean>;
}

/** Everybody may do everything: for the machine of the one who has started it. */
export const openGuard: Guard = {
  isOpen: true,
  authenticate: async () => ({ name: "anybody", groups: [] }),
  mayDo: async () => true,
};

/** The token of an Authorization header. */
export function bearerOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(text ?? "")?.[1];
}
