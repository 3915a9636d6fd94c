/**
 * Kubernetes decides: who somebody is by TokenReview, what he may do by SubjectAccessReview. Its answers are kept for a few
 * seconds, since most who ask ask again; tokens are kept as digests only.
 */
import { createHash } from "node:crypto";
import { authenticationV1, authorizationV1, type Client, type Clock } from "@berth/kube";
import { GROUP } from "@berth/model";
import { GatewayError } from "../errors.ts";
import type { Right } from "../http/route.ts";
import type { Guard, User } from "./guard.ts";

export interface ReviewGuardOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The namespace that the gateway serves. */
  readonly namespace: string;
  /** For which tokens have to be made; none: those of the API server. */
  readonly audiences?: readonly string[];
  /** For how long an answer is kept. Default: 10 s, as the API server's own. */
  readonly keepMs?: number;
}

const MOST = 10_000;

export class ReviewGuard implements Guard {
  readonly isOpen = false;
  readonly #options: ReviewGuardOptions;
  readonly #users: Answers<User | undefined>;
  readonly #rights: Answers<boolean>;

  constructor(options: ReviewGuardOptions) {
    this.#options = options;
    const { clock, keepMs = 10_000 } = options;
    this.#users = new Answers(clock, keepMs);
    this.#rights = new Answers(clock, keepMs);
  }

  async authenticate(token: string | undefined): Promise<User> {
    if (token === undefined) throw new GatewayError("BERTH_UNAUTHENTICATED", "there is no bearer token");
    const digest = createHash("sha256").update(token).digest("base64");
    const user = await this.#users.of(digest, () => this.#review(token));
    if (!user) throw new GatewayError("BERTH_UNAUTHENTICATED", "the token is not valid, or not any more");
    return user;
  }

  async mayDo(user: User, { verb, resource, group = GROUP }: Right, name?: string): Promise<boolean> {
    const key = JSON.stringify([user.name, user.groups, verb, group, resource, name]);
    return this.#rights.of(key, async () => {
      const { client, namespace } = this.#options;
      const { status } = await client.create(authorizationV1.SubjectAccessReview, {
        metadata: {},
        spec: {
          user: user.name,
          groups: [...user.groups],
          resourceAttributes: { namespace, verb, group, resource, ...(name !== undefined && { name }) },
        },
      });
      return status?.allowed === true;
    });
  }

  async #review(token: string): Promise<User | undefined> {
    const { client, audiences } = this.#options;
    const { status } = await client.create(authenticationV1.TokenReview, {
      metadata: {},
      spec: { token, ...(audiences && { audiences: [...audiences] }) },
    });
    if (status?.authenticated !== true || !status.user?.username) return undefined;
    return { name: status.user.username, groups: status.user.groups ?? [] };
  }
}

/** Answers that are kept for a while. Who asks while one is under way waits for that one. */
class Answers<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #known = new Map<string, { readonly until: number; readonly answer: Promise<T> }>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  async of(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#clock.steady();
    const known = this.#known.get(key);
    if (known && known.until > now) return known.answer;
    // The oldest is the first: answers are never put back.
    if (this.#known.size >= MOST) this.#known.delete(this.#known.keys().next().value as string);
    const answer = ask();
    this.#known.delete(key);
    this.#known.set(key, { until: now + this.#keepMs, answer });
    answer.catch(() => this.#known.delete(key)); // that was no answer
    return answer;
  }
}
