/** Reads Kubernetes' `.proto` files, which are all written by one generator and use little of what there is. Pure. */

export interface Field {
  readonly number: number;
  readonly name: string;
  /** "string", "int32" …, or the full name of a message: "k8s.io.api.core.v1.Container". */
  readonly type: string;
  readonly repeated: boolean;
  /** Its keys are texts, and `type` is that of the values. */
  readonly map: boolean;
}

/** By their full names. */
export type Messages = ReadonlyMap<string, readonly Field[]>;

const PACKAGE = /^package ([\w.]+);$/m;
const MESSAGE = /^message (\w+) \{\n([\s\S]*?)^\}/gm;
const FIELD = /^ {2}(optional|repeated|map<string, ([\w.]+)>) ?(?:([\w.]+) )?(\w+) = (\d+)[^;]*;$/gm;
const SCALARS = new Set(["string", "bytes", "bool", "int32", "int64", "double"]);

export function messagesIn(text: string): Messages {
  const [, home] = text.match(PACKAGE) ?? [];
  if (home === undefined) throw new Error("the file says no package");
  const full = (type: string) => (SCALARS.has(type) ? type : type.startsWith(".") ? type.slice(1) : `${home}.${type}`);
  const messages = [...text.matchAll(MESSAGE)].map(([, name, body = ""]) => {
    const fields = [...body.matchAll(FIELD)].map(([, rule = "", value, type, field = "", number]) => ({
      number: Number(number),
      name: field,
      type: full(value ?? type ?? ""),
      repeated: rule === "repeated",
      map: value !== undefined,
    }));
    return [`${home}.${name}`, fields] as const;
  });
  return new Map(messages);
}

/** All messages that some messages are made of, themselves included. */
export function reachable(messages: Messages, roots: Iterable<string>): Messages {
  const found = new Map<string, readonly Field[]>();
  const left = [...roots];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const fields = messages.get(name);
    if (!fields || found.has(name)) continue;
    found.set(name, fields);
    left.push(...fields.map(({ type }) => type));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One line for each message: its name, and its fields as number, name and type. */
export function written(messages: Messages): string {
  const short = (type: string) => type.replace(/^k8s\.io\./, "");
  const lines = [...messages].map(([name, fields]) => {
    const texts = fields.map(({ number, name: field, type, repeated, map }) =>
      [number, field, `${repeated ? "*" : map ? "%" : ""}${short(type)}`].join(":"),
    );
    return [short(name), ...texts].join(" ");
  });
  return `${lines.join("\n")}\n`;
}
