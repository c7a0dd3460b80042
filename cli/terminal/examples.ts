import type { Command } from "commander";

/** Shows examples below a command's help: each with what it does. */
export const withExamples = (
  command: Command,
  examples: readonly (readonly [line: string, action: string])[],
): Command =>
  command.addHelpText(
    "after",
    `\nExamples:\n${examples.map(([line, action]) => `  # ${action}\n  $ karpenter-node-holder ${line}`).join("\n")}`,
  );
