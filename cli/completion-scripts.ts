import type { Command } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

const program = "karpenter-node-holder";

/** The script that makes this shell complete the commands, their flags and their choices. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

const wordsOf = (command: Command): string[] => [
  ...command.options.flatMap(({ short, long }) => [short, long].filter((word) => word !== undefined)),
  "--help",
];

/** Flags that take one of a few words, and arguments that do. */
const choicesOf = (command: Command) =>
  command.options.flatMap((option) =>
    option.argChoices ? [{ flags: [option.short, option.long], words: option.argChoices }] : [],
  );

const argumentsOf = (command: Command): string[] =>
  command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);

function bash(commands: readonly Command[]): string {
  const names = commands.map((command) => command.name()).join(" ");
  const flags = commands.map(
    (command) =>
      `    ${command.name()}) words="${[...argumentsOf(command), ...wordsOf(command)].join(" ")}" ;;`,
  );
  const choices = commands.flatMap((command) =>
    choicesOf(command).flatMap(({ flags, words }) =>
      flags.filter(Boolean).map((flag) => `    "${command.name()} ${flag}") words="${words.join(" ")}" ;;`),
    ),
  );
  return `_karpenter_node_holder() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help --help --version" -- "$word"))
    return
  fi
  case "$command" in
${flags.join("\n")}
  esac
  case "$command $before" in
${choices.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _karpenter_node_holder ${program}
`;
}

function zsh(commands: readonly Command[]): string {
  const described = commands.map((command) => `    '${command.name()}:${quiet(command.description())}'`);
  const cases = commands.map((command) => {
    const specs = command.options.map((option) => {
      const words = option.argChoices ? `(${option.argChoices.join(" ")})` : "";
      const takes = option.required || option.optional ? `:${option.attributeName()}:${words}` : "";
      return `'${option.long}[${quiet(option.description)}]${takes}'`;
    });
    const positional = argumentsOf(command);
    const words = positional.length > 0 ? [`'1:word:(${positional.join(" ")})'`] : [];
    return `    ${command.name()}) _arguments ${[...words, ...specs].join(" ")} ;;`;
  });
  return `#compdef ${program}
_karpenter_node_holder() {
  local -a commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
compdef _karpenter_node_holder ${program}
`;
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const seen = `-n '__fish_seen_subcommand_from ${command.name()}'`;
    const flags = command.options.map((option) => {
      const words = option.argChoices ? ` -a '${option.argChoices.join(" ")}'` : "";
      const takes = option.required || option.optional ? " -r" : "";
      const short = option.short ? ` -s ${option.short.slice(1)}` : "";
      return `complete -c ${program} ${seen}${short} -l ${option.long?.slice(2)}${takes}${words} -d '${quiet(option.description)}'`;
    });
    const positional = argumentsOf(command).map((word) => `complete -c ${program} ${seen} -f -a ${word}`);
    const itself = `complete -c ${program} -f -n __fish_use_subcommand -a ${command.name()} -d '${quiet(command.description())}'`;
    return [itself, ...positional, ...flags];
  });
  return `${lines.join("\n")}\n`;
}

/** A description within single quotes and brackets. */
const quiet = (text: string): string => text.replaceAll(/['[\]:`]/g, " ");
