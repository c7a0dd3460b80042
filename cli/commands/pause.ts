import { Command } from "commander";
import { type Duration, formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import { parseReleased, type ReleasedAnswer } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { durationFlag, type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import { scopeFlag } from "../terminal/scope-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatMoment } from "../terminal/times.ts";
import { failWhereSomeStay, formatReleased } from "../views/release-view.ts";

type PauseOptions = HolderFlags &
  Readonly<{ for?: Duration; reason?: string; scope?: string; output: Output }>;

/** Releases all nodes, and starts no hold for a while. */
export const pause = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("pause"), terminal), ["table", "json"])
      .description("Release all nodes and start no holds, for a while or until resumed.")
      .option(
        "--for <duration>",
        "how long, 1m to 2160h (default: until resumed)",
        durationFlag(minutes(1), hours(24 * 90)),
      )
      .option("--reason <text>", "why, and who: shown by status during the pause")
      .addOption(scopeFlag())
      .action((options: PauseOptions) => stepAside(options, terminal)),
    [
      ['pause --cluster prod --for 2h --reason "Ada replaces every node"', "pause for two hours"],
      ["pause --cluster prod", "pause until resumed"],
    ],
  );

async function stepAside(options: PauseOptions, terminal: Terminal): Promise<void> {
  const { reason, scope, output } = options;
  const asked = options.for === undefined ? {} : { for: formatDuration(options.for) };
  const request = { do: "pause", ...asked, ...(reason && { reason }), ...(scope && { scope }) };
  const { ask, flags } = await controlOf(options, terminal.env);
  const answer = await ask(request);
  const action = parseReleased(answer);
  if (output === "json") terminal.out(asJson(answer));
  else formatPause(action, flags, terminal);
  failWhereSomeStay(action);
}

function formatPause(action: ReleasedAnswer, flags: string, terminal: Terminal): void {
  const until = action.until
    ? `until ${formatMoment(action.until, new Date())}`
    : `until \`resume ${flags}\``;
  terminal.out(`Paused ${until}.`);
  if (action.released) formatReleased(action, terminal);
}
