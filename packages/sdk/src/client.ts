/** The gateway's REST interface, call by call. */
import type {
  JobView,
  NodeView,
  RunView,
  SchedulingView,
  SlotView,
  TestbedView,
  TimeView,
  TurnReply,
  TurnRequest,
} from "@berth/model";
import { BerthError, type Problem } from "./errors.ts";

export interface ClientOptions {
  /** Where the gateway is. Default: BERTH_URL, or http://127.0.0.1:8080. */
  readonly url?: string;
  /** A Kubernetes token. Default: BERTH_TOKEN, or none. */
  readonly token?: string;
}

export interface PageQuery {
  readonly limit?: number;
  readonly after?: string;
  readonly labelSelector?: string;
}

/** A part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly next?: string;
}

interface Call {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

interface WriteOptions {
  /** Only say what would be. */
  readonly dryRun?: boolean;
}

/** One change of one object, or everything as it is. */
export type Change =
  | {
      readonly topic: string;
      readonly type: "added" | "changed" | "removed";
      readonly name: string;
      readonly object: unknown;
    }
  | { readonly topic: string; readonly type: "snapshot"; readonly items: readonly unknown[]; readonly last: boolean };

/** Asks a gateway. Every method rejects with a `BerthError` if the gateway says no. */
export class BerthClient {
  readonly url: string;
  readonly #token: string | undefined;

  constructor({ url, token }: ClientOptions = {}) {
    this.url = (url ?? process.env.BERTH_URL ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
    this.#token = token ?? process.env.BERTH_TOKEN;
  }

  /** One turn of a scheduler; resolves when there is something to decide. */
  turn(scheduler: string, body: TurnRequest, signal?: AbortSignal): Promise<TurnReply> {
    return this.#json("POST", `/v1/schedulers/${encodeURIComponent(scheduler)}/turn`, { body, signal });
  }

  /** Gives a testbed back. */
  async endScheduler(scheduler: string, testbed: string): Promise<void> {
    await this.#json("DELETE", `/v1/schedulers/${encodeURIComponent(scheduler)}`, { query: { testbed } });
  }

  jobs(query: PageQuery = {}): Promise<Page<JobView>> {
    return this.#json("GET", "/v1/jobs", { query: { ...query } });
  }

  job(name: string): Promise<JobView> {
    return this.#json("GET", `/v1/jobs/${encodeURIComponent(name)}`);
  }

  /** The BatchJob as Kubernetes has it. */
  jobManifest(name: string): Promise<Record<string, unknown>> {
    return this.#json("GET", `/v1/jobs/${encodeURIComponent(name)}/manifest`);
  }

  /** @param manifest - As kubectl takes it: an object, or YAML. */
  submit(manifest: object | string, { dryRun }: WriteOptions = {}): Promise<JobView> {
    return this.#json("POST", "/v1/jobs", { ...written(manifest), query: { dryRun } });
  }

  async deleteJob(name: string, { dryRun }: WriteOptions = {}): Promise<void> {
    await this.#json("DELETE", `/v1/jobs/${encodeURIComponent(name)}`, { query: { dryRun } });
  }

  /** Puts a job that has ended back into the queue. */
  retry(name: string, { dryRun }: WriteOptions = {}): Promise<JobView> {
    return this.#json("POST", `/v1/jobs/${encodeURIComponent(name)}/retry`, { query: { dryRun } });
  }

  /** Takes a job down; it is in the queue again then. */
  release(name: string): Promise<JobView> {
    return this.#json("POST", `/v1/jobs/${encodeURIComponent(name)}/release`);
  }

  /** Keeps data with a job, by a merge patch. @param version - Only if the job is still at this version. */
  keep(name: string, data: Readonly<Record<string, unknown>>, version?: string): Promise<JobView> {
    return this.#json("PATCH", `/v1/jobs/${encodeURIComponent(name)}/data`, {
      ...{ body: data, type: "application/merge-patch+json" },
      ...(version !== undefined && { headers: { "if-match": `"${version}"` } }),
    });
  }

  async runs(name: string): Promise<readonly RunView[]> {
    const { items } = await this.#json<{ items: RunView[] }>("GET", `/v1/jobs/${encodeURIComponent(name)}/runs`);
    return items;
  }

  /** Why a job waits, where it is, or how it ended. */
  explain(name: string): Promise<{ name: string; phase: string; summary: string; reasons: string[] } & object> {
    return this.#json("GET", `/v1/jobs/${encodeURIComponent(name)}/explain`);
  }

  testbeds(query: PageQuery = {}): Promise<Page<TestbedView>> {
    return this.#json("GET", "/v1/testbeds", { query: { ...query } });
  }

  testbed(name: string): Promise<TestbedView> {
    return this.#json("GET", `/v1/testbeds/${encodeURIComponent(name)}`);
  }

  async slots(testbed: string): Promise<readonly SlotView[]> {
    const path = `/v1/testbeds/${encodeURIComponent(testbed)}/slots`;
    return (await this.#json<{ items: SlotView[] }>("GET", path)).items;
  }

  schedulings(query: PageQuery = {}): Promise<Page<SchedulingView>> {
    return this.#json("GET", "/v1/schedulings", { query: { ...query } });
  }

  scheduling(name: string): Promise<SchedulingView> {
    return this.#json("GET", `/v1/schedulings/${encodeURIComponent(name)}`);
  }

  /** Decides by hand. @param manifest - As kubectl takes it: an object, or YAML. */
  schedule(manifest: object | string, { dryRun }: WriteOptions = {}): Promise<SchedulingView> {
    return this.#json("POST", "/v1/schedulings", { ...written(manifest), query: { dryRun } });
  }

  async deleteScheduling(name: string, { dryRun }: WriteOptions = {}): Promise<void> {
    await this.#json("DELETE", `/v1/schedulings/${encodeURIComponent(name)}`, { query: { dryRun } });
  }

  nodes(query: PageQuery = {}): Promise<Page<NodeView>> {
    return this.#json("GET", "/v1/nodes", { query: { ...query } });
  }

  /** What time it is in the cluster: virtual, or faster than here, if it is a simulated one. */
  time(): Promise<TimeView> {
    return this.#json("GET", "/v1/time");
  }

  /** All changes of some topics, first everything as it is. Ends with the signal, or when the gateway does. */
  async *changes(topics: readonly string[], signal?: AbortSignal): AsyncGenerator<Change> {
    const query = { topics: topics.join(","), snapshot: true };
    const response = await this.#call("GET", "/v1/events", { query, signal });
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const topic = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (topic !== undefined && data !== undefined) yield { topic, ...JSON.parse(data) };
      }
    }
  }

  async #json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.#call(method, path, call);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  async #call(method: string, path: string, call: Call): Promise<Response> {
    const { body, type = "application/json", headers = {}, query = {}, signal } = call;
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    const response = await fetch(url, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": type }),
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.ok || response.status === 304) return response;
    throw new BerthError(await problemIn(response));
  }
}

function written(manifest: object | string): Call {
  return typeof manifest === "string" ? { body: manifest, type: "application/yaml" } : { body: manifest };
}

/** Something in between may answer as well, in words of its own. */
async function problemIn(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.code === "string") return problem;
  } catch {
    // it is no JSON: it is what it is
  }
  const { status, statusText: title } = response;
  return { status, code: `HTTP_${status}`, title, detail: text.slice(0, 200) || title };
}
