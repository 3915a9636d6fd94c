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
import { RateLimit, tooMany } from "./rate.ts";

/** How to ask. */
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
/** No token is longer; the API server need not be bothered with it. */
const LONGEST_TOKEN = 16 * 1024;
/** Tokens that nobody knows, from one address: each of them is a question to the API server. */
const WRONG_TOKENS = { perSecond: 5, burst: 50 };

/** Lets in whom Kubernetes knows, to do what RBAC allows. */
export class ReviewGuard implements Guard {
  readonly isOpen = false;
  readonly #options: ReviewGuardOptions;
  readonly #users: Answers<User | undefined>;
  readonly #rights: Answers<boolean>;
  readonly #strangers: RateLimit;

  constructor(options: ReviewGuardOptions) {
    this.#options = options;
    const { clock, keepMs = 10_000 } = options;
    this.#users = new Answers(clock, keepMs);
    this.#rights = new Answers(clock, keepMs);
    this.#strangers = new RateLimit(clock, WRONG_TOKENS);
  }

  async authenticate(token: string | undefined, from: string): Promise<User> {
    if (token === undefined) throw new GatewayError("BERTH_UNAUTHENTICATED", "there is no bearer token");
    const digest = createHash("sha256").update(token).digest("base64");
    const user = token.length > LONGEST_TOKEN ? undefined : await this.#users.of(digest, () => this.#ask(token, from));
    if (!user) throw new GatewayError("BERTH_UNAUTHENTICATED", "the token is not valid, or not any more");
    return user;
  }

  async mayDo(user: User, right: Right, name?: string): Promise<boolean> {
    const { verb, resource, group = GROUP, clusterWide } = right;
    const key = JSON.stringify([user, verb, group, resource, name]);
    return this.#rights.of(key, async () => {
      const { client, namespace } = this.#options;
      const { status } = await client.create(authorizationV1.SubjectAccessReview, {
        metadata: {},
        spec: {
          user: user.name,
          groups: [...user.groups],
          ...(user.uid !== undefined && { uid: user.uid }),
          ...(user.extra && { extra: copyOf(user.extra) }),
          resourceAttributes: {
            ...{ verb, group, resource },
            // A role in a namespace says nothing about what is in none.
            ...(!clusterWide && { namespace }),
            ...(name !== undefined && { name }),
          },
        },
      });
      return status?.allowed === true;
    });
  }

  /** Counted before the answer is known, or many questions at once would all be let through. */
  async #ask(token: string, from: string): Promise<User | undefined> {
    const seconds = this.#strangers.take(from);
    if (seconds > 0) throw tooMany("too many tokens from your address were not valid", seconds);
    const user = await this.#review(token);
    if (user) this.#strangers.giveBack(from);
    return user;
  }

  async #review(token: string): Promise<User | undefined> {
    const { client, audiences } = this.#options;
    const { status } = await client.create(authenticationV1.TokenReview, {
      metadata: {},
      spec: { token, ...(audiences && { audiences: [...audiences] }) },
    });
    if (status?.authenticated !== true || !status.user?.username) return undefined;
    // Whoever checks tokens for the API server and knows nothing of audiences says none: it may be for somebody else.
    if (audiences && !status.audiences?.some((each) => audiences.includes(each))) return undefined;
    const { username: name, groups = [], uid, extra } = status.user;
    return { name, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) };
  }
}

function copyOf(extra: NonNullable<User["extra"]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
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
    answer.catch(() => {
      if (this.#known.get(key)?.answer === answer) this.#known.delete(key); // that was no answer
    });
    return answer;
  }
}
