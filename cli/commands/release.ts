import { Command } from "commander";
import { BadInputError } from "../../lambda/core/errors.ts";
import { parseReleased } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import { scopeFlag } from "../terminal/scope-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { failWhereSomeStay, formatReleased } from "../views/release-view.ts";

type ReleaseOptions = HolderFlags &
  Readonly<{ force?: true; reason?: string; scope?: string; output: Output }>;

/** Ends holds at once. */
export const release = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("release"), terminal), ["table", "json"])
      .description("End holds now; launches before now do not start them again.")
      .option("--force", "confirm")
      .option("--reason <text>", "why, for the record")
      .addOption(scopeFlag())
      .action((options: ReleaseOptions) => end(options, terminal)),
    [
      ["release --cluster prod --force", "release every node now"],
      ['release --cluster prod --force --scope nodepool/batch --reason "job is done"', "only one NodePool's"],
      ["release --run --force", "release what a `run` on this machine holds"],
    ],
  );

async function end(options: ReleaseOptions, terminal: Terminal): Promise<void> {
  const { force, reason, scope, output } = options;
  if (!force) {
    throw new BadInputError("This release cannot be done", [
      "holds end by themselves; add --force to end them now",
    ]);
  }
  const request = { do: "release", ...(reason && { reason }), ...(scope && { scope }) };
  const { ask } = await controlOf(options, terminal.env);
  const answer = await ask(request);
  const action = parseReleased(answer);
  if (output === "json") terminal.out(asJson(answer));
  else formatReleased(action, terminal);
  failWhereSomeStay(action);
}
