import type { Command, Option } from "commander";

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The flags of a command that were typed, as words of an argument list; only those that `isMeant` admits. */
export const typedFlags = (command: Command, isMeant: (option: Option) => boolean): readonly string[] =>
  command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli" && isMeant(option))
    .flatMap((option) => [option.long ?? "", String(command.opts()[option.attributeName()])]);
