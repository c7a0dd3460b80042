import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Shell } from "../../cli/terminal/completion-scripts.ts";

/** Whether this shell is on this machine. */
export const hasShell = (shell: Shell): boolean => spawnSync(shell, ["-c", ":"]).status === 0;

/** What a shell itself offers after a line, with this completion script; the folder keeps what zsh remembers. */
export function offersOf(shell: Shell, script: string, line: string, folder: string): readonly string[] {
  writeFileSync(join(folder, "script"), script);
  writeFileSync(join(folder, "ask"), asking[shell]);
  const quiet = { bash: ["--norc", "--noprofile"], zsh: ["-f"], fish: ["--no-config"] }[shell];
  const told = execFileSync(shell, [...quiet, join(folder, "ask"), folder, line], { encoding: "utf8" });
  return told.split("\n").filter(Boolean);
}

// How each shell is asked; $1 is the folder, $2 the line.
const asking: Readonly<Record<Shell, string>> = {
  bash: `
source "$1/script"
read -ra COMP_WORDS <<<"$2"
[[ "$2" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
$(complete -p karpenter-node-holder | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "\${COMPREPLY[@]}"
`,
  fish: `
source $argv[1]/script
complete -C "$argv[2]" | string replace -r '\\t.*' ''; or true
`,
  // Only a zsh that somebody types into completes, so one is typed into. Keys are taken in turn: what the first lists is
  // there before the second says so. Neither begins a longer sequence of keys, for which zsh would wait.
  zsh: `
zmodload zsh/zpty
export TERM=dumb
zpty it zsh -f -i
zpty -w it "PS1=; COLUMNS=300; unsetopt zle_bracketed_paste prompt_cr prompt_sp; autoload -Uz compinit; compinit -u -d $1/dump; source $1/script; bindkey '^T' list-choices; over() { print 'O'VER }; zle -N over; bindkey '^O' over; print 'REA'DY"
zpty -r it heard '*READY*'
zpty -w -n it "$2"$'\\x14\\x0f'
zpty -r it heard '*OVER*'
for row in \${(f)heard//$'\\r'/}; do
  row=\${row//$'\\e['[0-9;?]#[a-zA-Z]/}
  [[ $row == *OVER* || $row == *"$2"* ]] && continue
  if [[ $row == *' -- '* ]]; then print -r -- \${\${(z)row}[1]}; else print -rl -- \${=row}; fi
done
`,
};
