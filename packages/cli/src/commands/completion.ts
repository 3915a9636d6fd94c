/** `berth completion bash|zsh|fish`: scripts that know the commands, their flags, and what can be got. */
import type { Command } from "commander";
import { CliError } from "../errors.ts";
import { NOUNS } from "./get.ts";

interface Known {
  readonly name: string;
  readonly does: string;
  readonly flags: readonly string[];
}

export function completion(shell: string, program: Command): void {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    does: command.description(),
    flags: command.options.flatMap(({ long }) => long ?? []),
  }));
  const write = scripts[shell];
  if (!write)
    throw new CliError("BERTH_CLI_USAGE", `there is no script for ${shell}: ${Object.keys(scripts).join(", ")}`);
  process.stdout.write(write(commands));
}

const scripts: Readonly<Record<string, (commands: readonly Known[]) => string>> = { bash, zsh, fish };

function bash(commands: readonly Known[]): string {
  const cases = commands.map(({ name, flags }) => {
    const words = name === "get" ? [...NOUNS, ...flags] : flags;
    return `    ${name}) words="${words.join(" ")}" ;;`;
  });
  return `# source <(berth completion bash)
_berth() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _berth berth
`;
}

function zsh(commands: readonly Known[]): string {
  const list = commands.map(({ name, does }) => `    '${name}:${does.replaceAll("'", "").replaceAll(":", "")}'`);
  const cases = commands.map(({ name, flags }) => {
    const words = name === "get" ? [...NOUNS, ...flags] : flags;
    return `    ${name}) compadd -- ${words.join(" ")} ;;`;
  });
  return `#compdef berth
# source <(berth completion zsh)
_berth() {
  local -a commands
  commands=(
${list.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
compdef _berth berth
`;
}

function fish(commands: readonly Known[]): string {
  const lines = commands.flatMap(({ name, does, flags }) => [
    `complete -c berth -n __fish_use_subcommand -f -a ${name} -d '${does.replaceAll("'", "")}'`,
    ...flags.map((flag) => `complete -c berth -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
  ]);
  const nouns = `complete -c berth -n '__fish_seen_subcommand_from get' -f -a '${NOUNS.join(" ")}'`;
  return `# berth completion fish | source\n${[...lines, nouns].join("\n")}\n`;
}
