/** An extender over HTTP that does what a test tells it, and remembers what it was asked. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  ExtenderArgs,
  ExtenderBindingArgs,
  ExtenderBindingResult,
  ExtenderFilterResult,
  ExtenderPreemptionArgs,
  ExtenderPreemptionResult,
  HostPriority,
} from "../scheduler/extenders/messages.ts";

export interface Answers {
  filter?(args: ExtenderArgs): ExtenderFilterResult | number;
  prioritize?(args: ExtenderArgs): readonly HostPriority[] | number;
  preempt?(args: ExtenderPreemptionArgs): ExtenderPreemptionResult | number;
  /** May take its time, as one that asks the API server must. */
  bind?(args: ExtenderBindingArgs): Promise<ExtenderBindingResult | number>;
}

export type Call =
  | { readonly verb: "filter" | "prioritize"; readonly args: ExtenderArgs }
  | { readonly verb: "preempt"; readonly args: ExtenderPreemptionArgs }
  | { readonly verb: "bind"; readonly args: ExtenderBindingArgs };

export class RecordingExtender {
  readonly calls: Call[] = [];
  readonly #answers: Answers;
  readonly #server = createServer();

  private constructor(answers: Answers) {
    this.#answers = answers;
    // Longer than any client keeps a connection that it does not use.
    this.#server.keepAliveTimeout = 120_000;
    this.#server.on("request", async (request, response) => {
      const answer = await this.#answer(request);
      const [status, body] = typeof answer === "number" ? [answer, ""] : [200, JSON.stringify(answer)];
      response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
      response.end(body);
    });
  }

  /** A number is answered as a status without a body. */
  static async start(answers: Answers): Promise<RecordingExtender> {
    const extender = new RecordingExtender(answers);
    await new Promise<void>((resolve) => extender.#server.listen(0, "127.0.0.1", resolve));
    return extender;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** In how many words each call was about which nodes, for comparing: "filter a b". */
  get summary(): string[] {
    return this.calls.map((call) => `${call.verb} ${nodesOf(call).join(" ")}`.trim());
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const args = JSON.parse(await textOf(request));
    const verb = request.url?.slice(1) as Call["verb"];
    this.calls.push({ verb, args });
    switch (verb) {
      case "filter":
        return this.#answers.filter?.(args) ?? { NodeNames: args.NodeNames, Nodes: args.Nodes };
      case "prioritize":
        return this.#answers.prioritize?.(args) ?? [];
      case "preempt":
        return this.#answers.preempt?.(args) ?? { NodeNameToMetaVictims: args.NodeNameToMetaVictims };
      case "bind":
        return (await this.#answers.bind?.(args)) ?? 500;
      default:
        return 404;
    }
  }
}

/** In alphabetical order: nobody promises another. */
function nodesOf(call: Call): string[] {
  switch (call.verb) {
    case "filter":
    case "prioritize": {
      const { NodeNames, Nodes } = call.args;
      return (NodeNames ?? Nodes?.items.map(({ metadata }) => metadata.name ?? "") ?? []).toSorted();
    }
    case "preempt":
      return Object.keys(call.args.NodeNameToMetaVictims ?? call.args.NodeNameToVictims ?? {}).sort();
    case "bind":
      return [call.args.Node];
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
