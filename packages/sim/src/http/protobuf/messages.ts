/** Which number stands for which field, for all messages that clients send. Read when the first of them comes. */
import { readFileSync } from "node:fs";

export interface MessageField {
  readonly name: string;
  /** "string", "int32" …, or the name of a message: "api.core.v1.Container". */
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
}

export type Message = ReadonlyMap<number, MessageField>;

let known: ReadonlyMap<string, Message> | undefined;

/** By the name of OpenAPI without "io.k8s.": "api.core.v1.Pod". */
export function messageNamed(name: string): Message | undefined {
  known ??= read(readFileSync(new URL("./messages.txt", import.meta.url), "utf8"));
  return known.get(name);
}

function read(text: string): ReadonlyMap<string, Message> {
  const lines = text.trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [message = "", ...fields] = line.split(" ");
      return [message, new Map(fields.map(fieldOf))];
    }),
  );
}

function fieldOf(text: string): [number, MessageField] {
  const [number, name = "", written = ""] = text.split(":");
  const [repeated, map] = [written.startsWith("*"), written.startsWith("%")];
  return [Number(number), { name, type: repeated || map ? written.slice(1) : written, repeated, map }];
}
