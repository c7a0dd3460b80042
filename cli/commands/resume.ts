import { Command } from "commander";
import { parseResumed } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import { scopeFlag } from "../terminal/scope-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";

type ResumeOptions = HolderFlags & Readonly<{ scope?: string; output: Output }>;

/** Ends a pause or a breather. */
export const resume = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("resume"), terminal), ["table", "json"])
      .description("End a pause or a breather: launches count again.")
      .addOption(scopeFlag())
      .action((options: ResumeOptions) => goOn(options, terminal)),
    [["resume --cluster prod", "let launches count again"]],
  );

async function goOn(options: ResumeOptions, terminal: Terminal): Promise<void> {
  const { scope, output } = options;
  const { ask } = await controlOf(options, terminal.env);
  const answer = await ask({ do: "resume", ...(scope && { scope }) });
  if (output === "json") return terminal.out(asJson(answer));
  const { resumed, because } = parseResumed(answer);
  terminal.out(
    resumed.length > 0 ? `Resumed ${resumed.join(", ")}: ${because}.` : `Nothing to resume: ${because}.`,
  );
}
