import { Argument, Command, type Option } from "commander";
import { BadInputError } from "../../lambda/core/errors.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { withExamples } from "../terminal/flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The word with which the scripts ask what fits at the cursor; the words up to there follow. */
export const suggestFor = "__complete";

/** Where nothing fits, each shell suggests files. */
const scripts = {
  bash: `_karpenter_node_holder() {
  local IFS=$'\\n'
  COMPREPLY=($(${holderName} ${suggestFor} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _karpenter_node_holder ${holderName}`,
  zsh: `_karpenter_node_holder() {
  local -a found
  found=("\${(@f)$(${holderName} ${suggestFor} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then compadd -- $found; else _files; fi
}
compdef _karpenter_node_holder ${holderName}`,
  fish: `function __karpenter_node_holder
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (${holderName} ${suggestFor} $words (commandline -ct) 2>/dev/null)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ${holderName} -f -a '(__karpenter_node_holder)'`,
} as const;

/** Prints a script that lets a shell complete commands, flags and their choices. */
export const completion = ({ out }: Terminal): Command =>
  withExamples(
    new Command("completion")
      .summary("Print a script that completes commands and flags in your shell.")
      .description("Print a script that completes commands, flags and their choices in your shell.")
      .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(scripts)).argParser(scriptFor))
      .action((script: string) => out(script)),
    [
      ["completion bash > ~/.local/share/bash-completion/completions/karpenter-node-holder", "for bash"],
      ["completion zsh >> ~/.zshrc", "for zsh, after its compinit"],
      ["completion fish > ~/.config/fish/completions/karpenter-node-holder.fish", "for fish"],
    ],
  );

function scriptFor(shell: string): string {
  const known = Object.entries(scripts).find(([name]) => name === shell);
  if (known) return known[1];
  throw new BadInputError(`There is no completion for ${shell}`, [
    `the shells are ${Object.keys(scripts).join(", ")}`,
  ]);
}

/** What fits in place of the last word: a command, a flag, a choice of the flag or argument; nothing where any value does. */
export function suggestionsFor(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const [, flag = ""] = /^(--[\w-]+=)/.exec(words.at(-1) ?? "") ?? [];
  // bash gives --output=json as three words, other shells as one.
  const apart = words.flatMap((word) => (word.startsWith("--") ? word.split(/=(.*)/s).slice(0, 2) : word));
  const [name, ...rest] = apart.slice(0, -1).filter((word) => word !== "=");
  const typed = apart.at(-1) === "=" ? "" : (apart.at(-1) ?? "");
  const fitting = candidates(name, rest, typed, commands).filter((one) => one.startsWith(typed));
  return fitting.map((one) => flag + one);
}

function candidates(
  name: string | undefined,
  rest: readonly string[],
  typed: string,
  commands: readonly Command[],
): readonly string[] {
  if (name === undefined || name === "help") return commands.map((one) => one.name());
  const command = commands.find((one) => one.name() === name);
  const shown = command?.options.filter(({ hidden }) => !hidden) ?? [];
  const open = shown.find((one) => (one.required || one.optional) && isNamed(one, rest.at(-1)));
  if (open && (open.required || !typed.startsWith("-"))) return open.argChoices ?? [];
  if (typed.startsWith("-"))
    return shown.filter((one) => one.variadic || !rest.some((word) => isNamed(one, word))).map(longOf);
  return command?.registeredArguments.flatMap(({ argChoices = [] }) => argChoices) ?? [];
}

const isNamed = ({ long, short }: Option, word = ""): boolean =>
  word !== "" && (word === long || word === short);

const longOf = ({ long }: Option): string => long ?? "";
