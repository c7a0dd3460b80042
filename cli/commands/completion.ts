import { Argument, Command } from "commander";
import { completionScript, type Shell, shells } from "../terminal/completion-scripts.ts";
import { withExamples } from "../terminal/examples.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Prints what makes a shell complete our commands and flags. */
export const completion = (terminal: Terminal): Command =>
  withExamples(
    new Command("completion")
      .description("Print the completion script of your shell.")
      .addArgument(new Argument("<shell>", "your shell").choices(shells))
      .action(async (shell: Shell) => {
        // Only now: the table of commands contains this one.
        const { commands } = await import("../commands.ts");
        const known = commands.map((make) => make(terminal));
        terminal.out(completionScript(shell, known).trimEnd());
      }),
    [
      [
        "completion bash > ~/.local/share/bash-completion/completions/karpenter-node-holder",
        "in bash, for good",
      ],
      ["completion zsh > ~/.zfunc/_karpenter-node-holder", "in zsh, with ~/.zfunc in your fpath"],
      ["completion fish > ~/.config/fish/completions/karpenter-node-holder.fish", "in fish, for good"],
    ],
  );
