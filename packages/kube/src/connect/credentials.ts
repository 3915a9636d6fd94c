/** What goes along with each request to say who we are, renewed before and when the API server no longer takes it. */
import { readFile } from "node:fs/promises";
import { KubeError } from "../errors.ts";
import type { Clock } from "../time/clock.ts";
import type { Connection } from "./connection.ts";
import { runExecPlugin } from "./exec-plugin.ts";

/** One way of saying who we are, good until `expiresAt`. */
export interface Credential {
  /** The header: "Bearer …", "Basic …". */
  readonly authorization?: string;
  /** A certificate of its own, in PEM, instead of the connection's. */
  readonly certificate?: string;
  readonly key?: string;
  /** Milliseconds since 1970. Absent: until the server says no. */
  readonly expiresAt?: number;
  /** When to look whether there is a newer one; until there is, this one is good. */
  readonly renewAt?: number;
}

/** How long a token file is believed: whoever renews it does so long before the old token ends. */
const TOKEN_FILE_MS = 60_000;
/** Renewed so long before the end, so that a request does not arrive after it. */
const MARGIN_MS = 10_000;

export class Credentials {
  readonly #obtain: () => Promise<Credential>;
  readonly #clock: Clock;
  #credential: Credential | undefined;
  /** The one attempt to get a new one; all requests that need it wait for it together. */
  #renewal: Promise<Credential> | undefined;

  constructor(connection: Connection, clock: Clock) {
    this.#obtain = obtainer(connection, clock);
    this.#clock = clock;
  }

  /** What to send now. */
  async current(): Promise<Credential> {
    const credential = this.#credential;
    if (!credential || this.#isAboutToEnd(credential)) return this.#renew();
    if (credential.renewAt === undefined || this.#clock.now() < credential.renewAt) return credential;
    return this.#renew().catch(() => credential); // whoever writes the file may be at it right now
  }

  /** The server refused a credential: gets a new one, unless that has happened since. Says whether there is another. */
  async renewAfter(refused: Credential): Promise<boolean> {
    if (this.#credential !== refused) return true;
    const renewed = await this.#renew();
    return renewed.authorization !== refused.authorization || renewed.certificate !== refused.certificate;
  }

  #isAboutToEnd({ expiresAt }: Credential): boolean {
    return expiresAt !== undefined && this.#clock.now() >= expiresAt - MARGIN_MS;
  }

  #renew(): Promise<Credential> {
    this.#renewal ??= this.#obtain()
      .then((credential) => {
        this.#credential = credential;
        return credential;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }
}

function obtainer(connection: Connection, clock: Clock): () => Promise<Credential> {
  const { identity } = connection;
  switch (identity.kind) {
    case "none":
      return async () => ({});
    case "token":
      return async () => bearer(identity.token);
    case "basic": {
      const encoded = Buffer.from(`${identity.username}:${identity.password}`).toString("base64");
      return async () => ({ authorization: `Basic ${encoded}` });
    }
    case "tokenFile":
      return async () => ({
        ...bearer(await readToken(identity.file)),
        renewAt: clock.now() + TOKEN_FILE_MS,
      });
    case "exec":
      return async () => {
        const { token, certificate, key, expiresAt } = await runExecPlugin(identity.exec, connection);
        return {
          ...(token !== undefined && bearer(token)),
          ...(certificate !== undefined && key !== undefined && { certificate, key }),
          ...(expiresAt !== undefined && { expiresAt }),
        };
      };
  }
}

const bearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });

async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw new KubeError("KUBE_CREDENTIALS_FAILED", `the token file ${file} cannot be read`, { cause });
  }
  if (!token) throw new KubeError("KUBE_CREDENTIALS_FAILED", `the token file ${file} is empty`);
  return token;
}
