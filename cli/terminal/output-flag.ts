import { type Command, Option } from "commander";

export type Output = "table" | "wide" | "json";

/** Adds the flag for the output format. */
export const withOutput = (
  command: Command,
  choices: readonly Output[] = ["table", "wide", "json"],
): Command =>
  command.addOption(
    new Option("-o, --output <form>", "output format").choices([...choices]).default("table"),
  );

/** An answer for programs: whole, and one way only. */
export const asJson = (answer: unknown): string => JSON.stringify(answer, null, 2);
