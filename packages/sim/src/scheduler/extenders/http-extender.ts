/** An extender at the other end of HTTP: one POST of JSON for each question, as kube-scheduler sends it. */
import { readFileSync } from "node:fs";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type Clock, WallClock } from "@berth/kube";
import type { Extender, ExtenderSettings } from "./extender.ts";
import type {
  ExtenderArgs,
  ExtenderBindingArgs,
  ExtenderBindingResult,
  ExtenderFilterResult,
  ExtenderPreemptionArgs,
  ExtenderPreemptionResult,
  HostPriority,
} from "./messages.ts";
import { readBindingResult, readFilterResult, readPreemptionResult, readPriorities } from "./reading.ts";

/** As an entry of `extenders` in a KubeSchedulerConfiguration. */
export interface HttpExtenderConfiguration extends ExtenderSettings {
  readonly urlPrefix: string;
  /** What comes after the prefix; a verb that is left out is not asked. */
  readonly filterVerb?: string;
  readonly prioritizeVerb?: string;
  readonly preemptVerb?: string;
  readonly bindVerb?: string;
  /** Without a CA, any certificate will do. */
  readonly enableHTTPS?: boolean;
  /** Data are base64, and come before files. */
  readonly tlsConfig?: {
    readonly insecure?: boolean;
    readonly serverName?: string;
    readonly caFile?: string;
    readonly caData?: string;
    readonly certFile?: string;
    readonly certData?: string;
    readonly keyFile?: string;
    readonly keyData?: string;
  };
  /** As Go writes durations: "5s", "100ms". Default: 5 s. */
  readonly httpTimeout?: string;
}

const DEFAULT_TIMEOUT_MS = 5000;
/** More than any cluster needs; whoever sends more is not an extender. */
const LONGEST_ANSWER = 256 * 1024 * 1024;

export class HttpExtender implements Extender {
  readonly name: string;
  readonly filter?: NonNullable<Extender["filter"]>;
  readonly prioritize?: NonNullable<Extender["prioritize"]>;
  readonly preempt?: NonNullable<Extender["preempt"]>;
  readonly bind?: NonNullable<Extender["bind"]>;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  readonly #agent: HttpAgent;
  readonly #clock: Clock;

  /** @param clock - The world's: whoever is asked lives there. */
  constructor(configuration: HttpExtenderConfiguration, clock: Clock = new WallClock()) {
    const { urlPrefix, filterVerb, prioritizeVerb, preemptVerb, bindVerb, httpTimeout } = configuration;
    this.name = urlPrefix;
    this.#prefix = urlPrefix.replace(/\/+$/, "");
    this.#timeoutMs = (httpTimeout && durationMs(httpTimeout)) || DEFAULT_TIMEOUT_MS;
    this.#agent = agentFor(configuration);
    this.#clock = clock;
    if (filterVerb)
      this.filter = async (args: ExtenderArgs): Promise<ExtenderFilterResult> =>
        readFilterResult(await this.#send(filterVerb, args));
    if (prioritizeVerb)
      this.prioritize = async (args: ExtenderArgs): Promise<readonly HostPriority[]> =>
        readPriorities(await this.#send(prioritizeVerb, args));
    if (preemptVerb)
      this.preempt = async (args: ExtenderPreemptionArgs): Promise<ExtenderPreemptionResult> =>
        readPreemptionResult(await this.#send(preemptVerb, args));
    if (bindVerb)
      this.bind = async (args: ExtenderBindingArgs): Promise<ExtenderBindingResult> =>
        readBindingResult(await this.#send(bindVerb, args));
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(verb: string, args: object): Promise<unknown> {
    const url = `${this.#prefix}/${verb}`;
    const { status, text } = await this.#post(url, JSON.stringify(args));
    if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${status}`);
    if (text.trim() === "") throw new Error("EOF");
    return JSON.parse(text);
  }

  #post(url: string, body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const request = url.startsWith("https:") ? httpsRequest : httpRequest;
      const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
      const outgoing = request(url, { method: "POST", agent: this.#agent, headers });
      const timer = this.#clock.setTimer(this.#timeoutMs, () => {
        const why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
        outgoing.destroy(new Error(why));
      });
      const fail = (error: Error) => {
        timer.cancel();
        reject(new Error(`Post ${JSON.stringify(url)}: ${inGoWords(error)}`));
      };
      outgoing.on("error", fail);
      outgoing.on("response", (incoming) => {
        textOf(incoming).then((text) => {
          timer.cancel();
          resolve({ status: incoming.statusCode ?? 0, text });
        }, fail);
      });
      outgoing.end(body);
    });
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length > LONGEST_ANSWER) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** What people look for in messages; the rest is in Node's words. */
function inGoWords(error: Error & { code?: string; address?: string; port?: number }): string {
  if (error.code !== "ECONNREFUSED") return error.message;
  return `dial tcp ${error.address}:${error.port}: connect: connection refused`;
}

function agentFor({ urlPrefix, enableHTTPS = false, tlsConfig = {} }: HttpExtenderConfiguration): HttpAgent {
  if (!urlPrefix.startsWith("https:")) return new HttpAgent({ keepAlive: true });
  const read = (data: string | undefined, file: string | undefined) =>
    data ? Buffer.from(data, "base64") : file ? readFileSync(file) : undefined;
  const ca = read(tlsConfig.caData, tlsConfig.caFile);
  const [cert, key] = [read(tlsConfig.certData, tlsConfig.certFile), read(tlsConfig.keyData, tlsConfig.keyFile)];
  return new HttpsAgent({
    keepAlive: true,
    rejectUnauthorized: !(tlsConfig.insecure || (enableHTTPS && !ca)),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(tlsConfig.serverName && { servername: tlsConfig.serverName }),
  });
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /([\d.]+)(ns|us|µs|ms|s|m|h)/g;

/** "1m30s". Throws at anything else. */
export function durationMs(text: string): number {
  const parts = [...text.matchAll(PART)];
  if (text !== "0" && (parts.length === 0 || parts.map(([part]) => part).join("") !== text))
    throw new RangeError(`${JSON.stringify(text)} is not a duration`);
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit as string] as number), 0);
}
