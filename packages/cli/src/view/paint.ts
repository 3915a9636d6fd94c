/** Colours of a terminal, or none. */

export interface Paint {
  strong(text: string): string;
  faint(text: string): string;
  bad(text: string): string;
  /** A colour of its own for each job: the same one wherever it appears. @param plain - Leave it as it is. */
  job(name: string, text: string, plain?: boolean): string;
}

/** Readable on dark and on light screens. */
const COLORS = [36, 33, 35, 32, 34, 96, 95, 93, 92, 94];

const none: Paint = {
  strong: (text) => text,
  faint: (text) => text,
  bad: (text) => text,
  job: (_, text) => text,
};

export function paintFor(color: boolean): Paint {
  if (!color) return none;
  const in_ = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`;
  return {
    strong: (text) => in_(1, text),
    faint: (text) => in_(2, text),
    bad: (text) => in_(31, text),
    job: (name, text, plain = false) => (plain ? text : in_(COLORS[hash(name) % COLORS.length] ?? 36, text)),
  };
}

function hash(text: string): number {
  let value = 7;
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return value;
}

/** Whether a stream is to be coloured: https://no-color.org. */
export function wantsColor(stream: { isTTY?: boolean }, env = process.env): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  return stream.isTTY === true && env.TERM !== "dumb";
}
