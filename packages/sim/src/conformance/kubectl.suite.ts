/** kubectl itself, as somebody uses it for ten minutes: each command prints on both targets what the transcript has. */
import { sleep, WallClock } from "@berth/kube";
import { expect } from "vitest";
import { type Chapter, type Command, chapters } from "./kubectl/chapters.ts";
import { normalised, words } from "./kubectl/command-line.ts";
import { type Printed, readTranscript, writeTranscript } from "./kubectl/transcript.ts";
import { suite } from "./suite.ts";
import type { KubectlResult, Target } from "./target.ts";

const clock = new WallClock();
const PATIENCE_MS = 30_000;
const INTERVAL_MS = 100;
const updates = process.env.UPDATE_TRANSCRIPTS !== undefined;

export const kubectl = suite("kubectl", (it, target) => {
  for (const chapter of chapters) {
    it(chapter.title, async () => {
      const session = await Session.begin(target());
      const printed = await session.follow(chapter, readTranscript(chapter.title));
      if (updates && target().name === "real") writeTranscript(chapter.title, printed);
      else expect(printed.map(shown).join("\n")).toBe(readTranscript(chapter.title).map(shown).join("\n"));
    });
  }
});

const shown = ({ line, text }: Printed) => `$ kubectl ${line}\n${text}`;

/** Somebody at a terminal, in a namespace and with nodes of their own. */
class Session {
  readonly #target: Target;
  readonly #namespace: string;
  /** What stands for what in commands and in the transcript. */
  readonly #names: Readonly<Record<string, string>>;

  private constructor(target: Target, namespace: string) {
    this.#target = target;
    this.#namespace = namespace;
    this.#names = { "NODE-1": `n1-${namespace}`, "NODE-2": `n2-${namespace}`, NODES: namespace, NAMESPACE: namespace };
  }

  static async begin(target: Target): Promise<Session> {
    const session = new Session(target, await target.namespace());
    const [corner, taints] = [session.#namespace, [{ key: "corner", effect: "NoSchedule" as const }]];
    for (const name of ["NODE-1", "NODE-2"]) {
      await target.addNode({ name: session.#named(name), labels: { corner }, taints });
    }
    return session;
  }

  /** Types the commands of a chapter, one after the other. */
  async follow({ commands }: Chapter, expected: readonly Printed[]): Promise<Printed[]> {
    const printed: Printed[] = [];
    for (const [index, each] of commands.entries()) {
      const command = typeof each === "string" ? { line: each } : each;
      printed.push({ line: command.line, text: await this.#type(command, expected[index]?.text) });
    }
    return printed;
  }

  async #type(command: Command, expected: string | undefined): Promise<string> {
    const line = words(this.#named(command.line));
    const input = this.#named(command.input ?? "");
    const run = async () => this.#read(await this.#target.kubectl(["-n", this.#namespace, ...line], input), command);
    if (!command.eventually) return run();
    if (updates) await sleep(clock, 3000);
    for (let waited = 0; ; waited += INTERVAL_MS) {
      const text = await run();
      if (text === expected || updates || waited > PATIENCE_MS) return text;
      await sleep(clock, INTERVAL_MS);
    }
  }

  #read({ code, stdout, stderr }: KubectlResult, { until, without, sorted }: Command): string {
    // What is longer goes first: a node's name contains that of the namespace.
    const names = Object.entries(this.#names).map(([stand, name]) => [name, stand === "NODES" ? "NAMESPACE" : stand]);
    const clean = (text: string) => normalised(text, Object.fromEntries(names)).split("\n");
    const printed = [...clean(stdout), ...clean(stderr).map((line) => line && `! ${line}`)].filter(Boolean);
    const end = until ? printed.findIndex((line) => until.test(line)) : -1;
    const all = (end === -1 ? printed : printed.slice(0, end)).filter((line) => !without?.test(line));
    if (sorted) all.sort();
    return [...all, ...(code === 0 ? [] : [`[exit ${code}]`])].join("\n");
  }

  #named(text: string): string {
    let result = text;
    for (const [stand, name] of Object.entries(this.#names)) result = result.replaceAll(stand, name);
    return result;
  }
}
