/**
 * Tokens of service accounts: who they are for, until when, and for as long as which object exists. They are JSON Web
 * Tokens, signed with a key that nobody but this process has and that is made when the first token is.
 */
import { generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { coreV1 } from "@berth/kube";
import { type AnyObject, isObject, type JsonObject } from "../api/json.ts";
import { at, numberAt, textAt, textsAt } from "../api/reading.ts";
import type { Lookup, User } from "../api/resource.ts";
import { AUTHENTICATED, serviceAccountGroups, serviceAccountName } from "./users.ts";

export const ISSUER = "https://kubernetes.default.svc";

/** Whom tokens are for if nobody says. */
export const DEFAULT_AUDIENCES: readonly string[] = [ISSUER];

/** How long after it was to go a pod's token is still good. */
const BOUND_OBJECT_LEEWAY_MS = 60_000;

const SIGNATURE_BYTES = 64;

/** An object with whose end a token ends too. */
export interface Bound {
  readonly kind: "Pod" | "Node" | "Secret";
  readonly object: AnyObject;
}

export interface Claims {
  readonly account: AnyObject;
  readonly audiences: readonly string[];
  readonly bound?: Bound | undefined;
  /** Of the node that the pod is on, which is only noted. */
  readonly node?: { readonly name: string; readonly uid?: string | undefined } | undefined;
  /** The token's own. */
  readonly id: string;
  /** In seconds since 1970. */
  readonly now: number;
  readonly expires: number;
}

/** Somebody who has shown a token. */
export interface TokenHolder {
  readonly user: User;
  /** For which of those that were asked about the token is. */
  readonly audiences: readonly string[];
}

export class Tokens {
  #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly id: string } | undefined;

  issue(claims: Claims): string {
    const { privateKey, id } = this.#key();
    const header = encoded({ alg: "ES256", kid: id });
    const body = `${header}.${encoded(payloadOf(claims))}`;
    const signature = sign("sha256", Buffer.from(body), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${body}.${signature.toString("base64url")}`;
  }

  /** Whose token it is; a text with the reason if it is nobody's any more, `undefined` if it is none of ours. */
  holder(token: string, lookup: Lookup, now: number, audiences = DEFAULT_AUDIENCES): TokenHolder | string | undefined {
    const payload = this.#payload(token);
    if (!payload) return undefined;
    if (numberAt(payload, "exp") * 1000 <= now) return "token has expired";
    if (numberAt(payload, "nbf") * 1000 > now) return "token is not valid yet";
    const meant = textsAt(payload, "aud").filter((audience) => audiences.includes(audience));
    if (meant.length === 0) {
      return `token audiences ${goList(textsAt(payload, "aud"))} is invalid for the target audiences ${goList(audiences)}`;
    }
    const claims = payload["kubernetes.io"];
    const [namespace, name] = [textAt(claims, "namespace"), textAt(claims, "serviceaccount", "name")];
    const account = lookup.get<AnyObject>(coreV1.ServiceAccount, name, namespace);
    if (!account) return `serviceaccounts ${JSON.stringify(name)} not found`;
    if (account.metadata.uid !== textAt(claims, "serviceaccount", "uid")) {
      return "service account UID does not match token";
    }
    const gone = boundProblem(claims, namespace, lookup, now);
    if (gone) return gone;
    return { user: userOf(account, claims, textAt(payload, "jti")), audiences: meant };
  }

  /** With what others can check our signatures. */
  publicKeys(): object {
    const { publicKey, id } = this.#key();
    return { keys: [{ use: "sig", ...publicKey.export({ format: "jwk" }), kid: id, alg: "ES256" }] };
  }

  #payload(token: string): JsonObject | undefined {
    const [header, body, signature, more] = token.split(".");
    if (!this.#keys || header === undefined || body === undefined || signature === undefined || more !== undefined)
      return undefined;
    const key = { key: this.#keys.publicKey, dsaEncoding: "ieee-p1363" } as const;
    const bytes = Buffer.from(signature, "base64url");
    if (bytes.length !== SIGNATURE_BYTES || !verify("sha256", Buffer.from(`${header}.${body}`), key, bytes)) return;
    const payload: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
    return isObject(payload) ? payload : undefined;
  }

  #key() {
    if (!this.#keys) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      this.#keys = { ...pair, id: "berth-sim" };
    }
    return this.#keys;
  }
}

function payloadOf({ account, audiences, bound, node, id, now, expires }: Claims): object {
  const { name = "", namespace = "", uid } = account.metadata;
  const reference = ({ metadata }: AnyObject) => ({ name: metadata.name, uid: metadata.uid });
  return {
    aud: audiences,
    exp: expires,
    iat: now,
    iss: ISSUER,
    jti: id,
    "kubernetes.io": {
      namespace,
      ...(node && { node }),
      ...(bound && { [bound.kind.toLowerCase()]: reference(bound.object) }),
      serviceaccount: { name, uid },
    },
    nbf: now,
    sub: serviceAccountName(namespace, name),
  };
}

/** Why a token is no longer good although its time is not over. */
function boundProblem(claims: unknown, namespace: string, lookup: Lookup, now: number): string | undefined {
  for (const [field, kind] of [
    ["pod", coreV1.Pod],
    ["secret", coreV1.Secret],
    // A pod's token notes the node, and outlives it.
    ...(at(claims, "pod") ? [] : [["node", coreV1.Node] as const]),
  ] as const) {
    const reference = at(claims, field);
    if (reference === undefined) continue;
    const name = textAt(reference, "name");
    const object = lookup.get<AnyObject>(kind, name, kind.namespaced ? namespace : undefined);
    if (!object) return `${kind.plural} ${JSON.stringify(name)} not found`;
    if (object.metadata.uid !== textAt(reference, "uid")) return `${field} UID does not match token`;
    const end = object.metadata.deletionTimestamp;
    if (end !== undefined && Date.parse(end) + BOUND_OBJECT_LEEWAY_MS < now) return `${field} has been deleted`;
  }
  return undefined;
}

function userOf({ metadata }: AnyObject, claims: unknown, id: string): User {
  const { name = "", namespace = "", uid } = metadata;
  const noted = (key: string, value: string): Record<string, string[]> =>
    value ? { [`authentication.kubernetes.io/${key}`]: [value] } : {};
  return {
    username: serviceAccountName(namespace, name),
    ...(uid !== undefined && { uid }),
    groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
    extra: {
      ...noted("credential-id", `JTI=${id}`),
      ...noted("node-name", textAt(claims, "node", "name")),
      ...noted("node-uid", textAt(claims, "node", "uid")),
      ...noted("pod-name", textAt(claims, "pod", "name")),
      ...noted("pod-uid", textAt(claims, "pod", "uid")),
    },
  };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** As Go prints a list of texts. */
const goList = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
