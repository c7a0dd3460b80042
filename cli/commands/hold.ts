import { Command } from "commander";
import { type Duration, formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import { parseHeld } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { durationFlag, type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import { scopeFlag } from "../terminal/scope-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatMoment } from "../terminal/times.ts";

type HoldOptions = HolderFlags & Readonly<{ for?: Duration; reason: string; scope?: string; output: Output }>;

/** Starts or extends a hold by hand. */
export const hold = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("hold"), terminal), ["table", "json"])
      .description("Start or extend a hold now, as a launch would; never past the cap.")
      .option(
        "--for <duration>",
        "how long, 1m to 24h (default: the deployment's hold)",
        durationFlag(minutes(1), hours(24)),
      )
      .requiredOption("--reason <text>", "why, for the record")
      .addOption(scopeFlag("default: cluster; required where scope is nodepool"))
      .action((options: HoldOptions) => begin(options, terminal)),
    [
      ['hold --cluster prod --for 45m --reason "load test"', "keep every node for 45 minutes"],
      [
        'hold --cluster prod --scope nodepool/batch --reason "nightly run"',
        "where holds are by NodePool: the nodes of one",
      ],
    ],
  );

async function begin(options: HoldOptions, terminal: Terminal): Promise<void> {
  const { scope, reason, output } = options;
  const asked = options.for === undefined ? {} : { for: formatDuration(options.for) };
  const request = { do: "hold", ...asked, reason, ...(scope && { scope }) };
  const { ask } = await controlOf(options, terminal.env);
  const answer = await ask(request);
  if (output === "json") return terminal.out(asJson(answer));
  const { until, because, marked, userHeld } = parseHeld(answer);
  terminal.out(`Held until ${formatMoment(until, new Date())}: ${because}.`);
  const without = marked === 0 ? " (those already held are not counted)" : "";
  terminal.out(`Nodes marked now: ${marked}${without}; held by their users already: ${userHeld}.`);
}
