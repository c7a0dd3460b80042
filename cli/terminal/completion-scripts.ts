import type { Command, Option } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

const program = "karpenter-node-holder";

/** What can be said after a flag: nothing, one of a few words, a path, or what nobody can know here. */
type Value = "none" | "path" | "any" | readonly string[];
type Flag = Readonly<{ names: readonly string[]; description: string; value: Value }>;
type Known = Readonly<{ name: string; summary: string; words: readonly string[]; flags: readonly Flag[] }>;

/** The script that makes this shell complete the commands, their flags and their choices. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const known = commands.map(read);
  const help = { name: "help", summary: "Tell what a command does.", words: known.map(({ name }) => name) };
  return { bash, zsh, fish }[shell]([...known, { ...help, flags: [] }]);
}

const read = (command: Command): Known => ({
  name: command.name(),
  summary: command.summary() || command.description(),
  words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  flags: [
    ...command.options.map((option) => ({
      names: namesOf(option),
      description: option.description,
      value: takenBy(option),
    })),
    { names: ["-h", "--help"], description: "display help", value: "none" as const },
  ],
});

const namesOf = ({ short, long }: Option) => [short, long].filter((name) => name !== undefined);

function takenBy({ argChoices, required, optional, flags }: Option): Value {
  if (argChoices) return argChoices;
  if (!required && !optional) return "none";
  return /<(path|file|folder)/.test(flags) ? "path" : "any";
}

const isWords = (value: Value): value is readonly string[] => typeof value === "object";

// No compopt and no arrays of names, so that the bash of macOS understands it, too.
function bash(commands: readonly Known[]): string {
  const offer = (value: Value) =>
    isWords(value)
      ? `words="${value.join(" ")}"`
      : value === "path"
        ? 'COMPREPLY=($(compgen -f -- "$word")); return'
        : "return";
  const values = commands.flatMap(({ name, flags }) =>
    flags
      .filter(({ value }) => value !== "none")
      .map(
        ({ names, value }) => `    ${names.map((flag) => `"${name} ${flag}"`).join("|")}) ${offer(value)} ;;`,
      ),
  );
  const words = commands.map(({ name, words, flags }) => {
    const all = [...words, ...flags.flatMap(({ names }) => names)];
    return `    "${name} "*) words="${all.join(" ")}" ;;`;
  });
  return `_karpenter_node_holder() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "$command $before" in
${[...values, ...words].join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o filenames -F _karpenter_node_holder ${program}
`;
}

function zsh(commands: readonly Known[]): string {
  const described = commands.map(
    ({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`, "'\\''")}`,
  );
  const offer = (value: Value) =>
    isWords(value)
      ? `:word:(${value.join(" ")})`
      : { none: "", any: ":value: ", path: ":path:_files" }[value];
  const cases = commands.map(({ name, words, flags }) => {
    const specs = flags.map(({ names, description, value }) => {
      const rest = quoted(`[${description.replaceAll(/[[\]]/g, "\\$&")}]${offer(value)}`, "'\\''");
      // Said under one name, it is not offered under the other.
      return names.length > 1 ? `'(${names.join(" ")})'{${names.join(",")}}${rest}` : `${names[0]}${rest}`;
    });
    const first = words.length > 0 ? [`'1:word:(${words.join(" ")})'`] : [];
    return `    ${name}) _arguments ${[...first, ...specs].join(" \\\n      ")} ;;`;
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

function fish(commands: readonly Known[]): string {
  const offer = (value: Value) =>
    isWords(value)
      ? ` -x -a ${quoted(value.join(" "), "\\'")}`
      : { none: "", any: " -x", path: " -r -F" }[value];
  const lines = commands.flatMap(({ name, summary, words, flags }) => {
    const here = `complete -c ${program} -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${quoted(summary, "\\'")}`,
      ...(words.length > 0 ? [`${here} -a '${words.join(" ")}'`] : []),
      ...flags.map(({ names, description, value }) => {
        const said = names.map((flag) =>
          flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        );
        return `${here} ${said.join(" ")}${offer(value)} -d ${quoted(description, "\\'")}`;
      }),
    ];
  });
  // Files only where a flag takes one.
  return `complete -c ${program} -f\n${lines.join("\n")}\n`;
}

const quoted = (text: string, quote: string): string => `'${text.replaceAll("'", () => quote)}'`;
