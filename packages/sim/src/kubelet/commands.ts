/**
 * What a simple command would do: how long it takes, what it says, how it ends. Enough for the examples that people type:
 * `sleep 30`, `true`, `exit 3`, `sh -c "echo hello; sleep 5; exit 1"`. What is not understood is said to be so, and
 * somebody else decides. Pure.
 */

/** What a command does. */
export interface Script {
  /** When it ends, in milliseconds from its start; `undefined`: never. */
  readonly endsAfterMs: number | undefined;
  readonly exitCode: number;
  /** What it says, and when. */
  readonly lines: readonly { readonly afterMs: number; readonly text: string }[];
}

const SHELLS = new Set(["sh", "bash", "ash", "dash"]);

/** What a command does, or `undefined` if that is not understood. */
export function scriptOf(command: readonly string[], variables: ReadonlyMap<string, string>): Script | undefined {
  const [program = "", ...args] = command;
  const execution = new Execution(variables);
  if (SHELLS.has(baseName(program))) {
    const flag = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
    const script = flag === -1 ? undefined : args[flag + 1];
    if (script === undefined) return undefined;
    return execution.runShell(script);
  }
  return execution.runOne([program, ...args]);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What a step leads to: it ended with this code, the whole script exits, or nothing comes after it. */
type StepResult = { readonly code: number } | { readonly exit: number } | "forever" | "unknown";

class Execution {
  readonly #variables: ReadonlyMap<string, string>;
  readonly #lines: { afterMs: number; text: string }[] = [];
  #now = 0;
  #last = 0;

  constructor(variables: ReadonlyMap<string, string>) {
    this.#variables = variables;
  }

  runOne(words: readonly string[]): Script | undefined {
    return this.#script(this.#step(words));
  }

  runShell(text: string): Script | undefined {
    const commands = shellCommands(text, this.#variables);
    if (!commands) return undefined;
    let result: StepResult = { code: 0 };
    for (const { words, after } of commands) {
      const failed: boolean = this.#last !== 0;
      if ((after === "&&" && failed) || (after === "||" && !failed)) continue;
      if (words[0] === "while") return this.#loop(words, commands);
      result = this.#step(words);
      if (result === "unknown" || result === "forever" || "exit" in result) return this.#script(result);
      this.#last = result.code;
    }
    return this.#script({ code: this.#last });
  }

  /** `while true; do …; done` goes on for ever; what it says the first time is said. */
  #loop([, condition]: readonly string[], commands: readonly ShellCommand[]): Script | undefined {
    if (condition !== "true" && condition !== ":" && condition !== "sleep") return undefined;
    const body = commands.find(({ words }) => words[0] === "do")?.words.slice(1);
    if (body && body[0] === "echo") this.#step(body);
    return this.#script("forever");
  }

  #script(result: StepResult): Script | undefined {
    if (result === "unknown") return undefined;
    if (result === "forever") return { endsAfterMs: undefined, exitCode: 0, lines: this.#lines };
    const code = "exit" in result ? result.exit : result.code;
    return { endsAfterMs: this.#now, exitCode: code & 255, lines: this.#lines };
  }

  #step([program = "", ...args]: readonly string[]): StepResult {
    switch (baseName(program)) {
      case "true":
      case ":":
      case "":
      case "trap":
      case "set":
      case "export":
        return { code: 0 };
      case "false":
        return { code: 1 };
      case "exec":
        return this.#step(args);
      case "exit":
        if (args[0] === undefined) return { exit: this.#last };
        return /^\d{1,9}$/.test(args[0]) ? { exit: Number(args[0]) } : { exit: 2 };
      case "echo":
        this.#say(args[0] === "-n" || args[0] === "-e" ? args.slice(1) : args);
        return { code: 0 };
      case "sleep":
        return this.#sleep(args);
      case "tail":
        return args.includes("-f") && args.includes("/dev/null") ? "forever" : "unknown";
      case "pause":
        return "forever";
      default:
        return "unknown";
    }
  }

  #say(words: readonly string[]): void {
    for (const text of words.join(" ").split("\n")) this.#lines.push({ afterMs: this.#now, text });
  }

  #sleep(args: readonly string[]): StepResult {
    if (args.length === 0) return { code: 1 };
    let sum = 0;
    for (const arg of args) {
      if (/^inf(inity)?$/i.test(arg)) return "forever";
      const [, number, unit = "s"] = /^(\d{1,12}(?:\.\d{1,9})?)([smhd]?)$/.exec(arg) ?? [];
      if (number === undefined) return { code: 1 };
      sum +=
        Number(number) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[(unit || "s") as "s" | "m" | "h" | "d"];
    }
    this.#now += sum;
    return { code: 0 };
  }
}

interface ShellCommand {
  readonly words: readonly string[];
  /** What stands between the command before and this one. */
  readonly after: ";" | "&&" | "||";
}

/** What a shell has to read differently than we do: pipes, substitutions, redirections, background, blocks. */
const BEYOND_US = new Set(["|", "<", ">", "`", "(", ")", "&"]);
const BLOCKS = new Set(["if", "for", "case", "until", "function", "{", "}", "!"]);

/** The commands of a shell script in order; `undefined` if it is beyond us. */
function shellCommands(text: string, variables: ReadonlyMap<string, string>): readonly ShellCommand[] | undefined {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let after: ShellCommand["after"] = ";";
  const finish = (next: ShellCommand["after"]) => {
    if (words.length > 0) commands.push({ words, after });
    words = [];
    after = next;
  };
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    const two = text.slice(at, at + 2);
    if (two === "&&" || two === "||") {
      finish(two);
      at += 2;
    } else if (character === ";" || character === "\n") {
      finish(";");
      at++;
    } else if (character === " " || character === "\t") {
      at++;
    } else if (character === "#") {
      while (at < text.length && text[at] !== "\n") at++;
    } else if (BEYOND_US.has(character)) {
      return undefined;
    } else {
      const word = readWord(text, at, variables);
      if (!word || (words.length === 0 && BLOCKS.has(word.text))) return undefined;
      words.push(word.text);
      at = word.end;
    }
  }
  finish(";");
  return commands;
}

/** One word from a place on, quotes taken off and variables put in. */
function readWord(
  text: string,
  from: number,
  variables: ReadonlyMap<string, string>,
): { text: string; end: number } | undefined {
  let [word, at] = ["", from];
  let quote = "";
  while (at < text.length) {
    const character = text[at] as string;
    if (quote === "'") {
      if (character === "'") quote = "";
      else word += character;
      at++;
    } else if (character === "$") {
      const [all, braced, plain] = /^\$(?:\{(\w+)\}|([A-Za-z_]\w*))/.exec(text.slice(at, at + 256)) ?? [];
      const name = braced ?? plain;
      if (all === undefined || name === undefined) return undefined;
      word += variables.get(name) ?? "";
      at += all.length;
    } else if (character === "\\" && at + 1 < text.length) {
      word += text[at + 1];
      at += 2;
    } else if (character === '"') {
      quote = quote ? "" : '"';
      at++;
    } else if (character === "`") {
      return undefined;
    } else if (quote) {
      word += character;
      at++;
    } else if (character === "'") {
      quote = "'";
      at++;
    } else if (" \t\n;&|<>()".includes(character)) {
      break;
    } else {
      word += character;
      at++;
    }
  }
  return quote ? undefined : { text: word, end: at };
}
