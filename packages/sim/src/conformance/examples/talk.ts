/** A series of requests, and what came of each: compared with what the real server answered once. */
import { coreV1, type Kind } from "@berth/kube";
import type { JsonObject } from "../../api/json.ts";
import { type Reply, Subject, send } from "../patching.ts";
import type { Declare } from "../suite.ts";
import type { Target } from "../target.ts";
import { collectionOf } from "./example.ts";
import { normalised, verdict } from "./normalised.ts";
import { Recorded } from "./recorded.ts";

export class Talk {
  readonly target: Target;
  readonly namespace: string;
  readonly answers: Record<string, unknown> = {};

  constructor(target: Target, namespace: string) {
    this.target = target;
    this.namespace = namespace;
  }

  /** An object of this namespace, there or not. */
  subject(kind: Kind, name: string): Subject {
    return new Subject(this.target, collectionOf(kind, this.namespace), name);
  }

  /** An object that nothing is remarkable about yet. */
  async made(kind: Kind, name: string, object: JsonObject): Promise<Subject> {
    const subject = this.subject(kind, name);
    const { status, body } = await subject.create(object);
    if (status !== 201) throw new Error(`${name}: ${body.message}`);
    return subject;
  }

  /** @param path - Without the namespace's: "pods". */
  send(method: string, path: string, body?: unknown): Promise<Reply> {
    return send(this.target, method, `/api/v1/namespaces/${this.namespace}/${path}`, body);
  }

  /** Names of the pods that a query gives. */
  async pods(query: string): Promise<readonly string[]> {
    const { body } = await send(this.target, "GET", `${collectionOf(coreV1.Pod, this.namespace)}?${query}`);
    return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  }

  /** Notes whether it was accepted, or why not. */
  async hears(label: string, reply: Promise<Reply>): Promise<Reply> {
    const answer = await reply;
    this.answers[label] = verdict(answer, this.namespace);
    return answer;
  }

  /** Notes the whole answer. */
  async reads(label: string, reply: Promise<Reply>): Promise<Reply> {
    const answer = await reply;
    this.shows(label, answer.body);
    return answer;
  }

  /** Notes some value. */
  shows(label: string, value: unknown): void {
    this.answers[label] = normalised(value, this.namespace);
  }
}

/** Declares tests that talk, each in a namespace of its own. @param name - Of the file with the answers. */
export function talks(name: string, it: Declare, target: () => Target) {
  const recorded = Recorded.of(name);
  return (title: string, body: (talk: Talk) => Promise<void>): void =>
    it(title, async () => {
      const talk = new Talk(target(), await target().namespace());
      await body(talk);
      recorded.check(title, talk.answers, target());
    });
}
