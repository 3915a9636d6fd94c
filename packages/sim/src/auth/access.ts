/**
 * Who somebody is, and what they may do: everything about it that one API server knows.
 *
 * A user is known by a token (one that was given beforehand, or a service account's) or by a client certificate, which
 * whoever ends the TLS connection has checked.
 */
import { timingSafeEqual } from "node:crypto";
import { type ApiServer, type SubresourceHandler, SYSTEM } from "../api/api-server.ts";
import type { Lookup, Resource, User } from "../api/resource.ts";
import { type Attributes, type Decision, refusalOf } from "./attributes.ts";
import { withoutEscalation } from "./escalation.ts";
import { type Headers, impersonation, missingFirst } from "./impersonation.ts";
import { authorize } from "./rbac.ts";
import { answers } from "./reviews.ts";
import { requestToken } from "./token-request.ts";
import { DEFAULT_AUDIENCES, ISSUER, type TokenHolder, Tokens } from "./tokens.ts";
import { authenticated } from "./users.ts";

/** Who is known to a server. */
export interface AccessOptions {
  /** Tokens that are known beforehand, and whose they are. Default: none. */
  readonly tokens?: Readonly<Record<string, User>>;
}

export class Access {
  /** What the server does with requests to subresources that are about access. */
  readonly subresources: Readonly<Record<string, SubresourceHandler>>;
  readonly #tokens = new Tokens();
  readonly #given: readonly (readonly [token: Buffer, user: User])[];
  #attached: { readonly server: ApiServer; readonly lookup: Lookup } | undefined;

  constructor({ tokens = {} }: AccessOptions = {}) {
    this.#given = Object.entries(tokens).map(([token, user]) => [Buffer.from(token), authenticated(user)] as const);
    this.subresources = { "serviceaccounts/token": (call) => requestToken(call, this.#tokens) };
  }

  /** The server whose users these are; it must be told before anybody asks. */
  attach(server: ApiServer): void {
    this.#attached = { server, lookup: server.context(SYSTEM, true).lookup };
  }

  /** A resource as the server is to serve it: we answer those that are questions, and guard those that give rights. */
  completed(resource: Resource): Resource {
    const answer = this.#answers[`${resource.group}/${resource.plural}`];
    return answer ? { ...resource, rules: { ...resource.rules, answer } } : withoutEscalation(resource);
  }

  /** Whose token it is; a text says why it is nobody's any more, `undefined` that nobody knows it. */
  holderOf(token: string, audiences: readonly string[] = []): TokenHolder | string | undefined {
    const wanted = audiences.length > 0 ? audiences : DEFAULT_AUDIENCES;
    const bytes = Buffer.from(token);
    const given = this.#given.find(([each]) => each.length === bytes.length && timingSafeEqual(each, bytes));
    if (given) return { user: given[1], audiences: wanted };
    const { server, lookup } = this.#home;
    return this.#tokens.holder(token, lookup, server.clock.now(), wanted);
  }

  authorize(attributes: Attributes): Decision {
    return authorize(attributes, this.#home.lookup);
  }

  /** Refuses what is not allowed. */
  require(attributes: Attributes): void {
    const { allowed, reason } = this.authorize(attributes);
    if (!allowed) throw refusalOf(attributes, reason);
  }

  /** Whom a request is made as: whoever asks, or whom they may and want to be. */
  actingAs(headers: Headers, request: Attributes): User {
    const wanted = impersonation(request.user, headers);
    if (!wanted) return request.user;
    for (const need of wanted.needs) {
      const { allowed, reason } = this.authorize(need);
      if (!allowed) throw refusalOf(missingFirst(wanted, request) ?? need, reason);
    }
    return wanted.user;
  }

  /** What others need to check tokens of service accounts by themselves. */
  get discovery(): object {
    return {
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    };
  }

  get publicKeys(): object {
    return this.#tokens.publicKeys();
  }

  readonly #answers = answers((token, audiences) => this.holderOf(token, audiences));

  get #home() {
    if (!this.#attached) throw new Error("nobody has said which server this is about");
    return this.#attached;
  }
}
