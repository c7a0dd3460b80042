import { Command } from "commander";
import { type Duration, hours, seconds } from "../../lambda/core/duration.ts";
import { parseStatus } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { durationOption, type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { statusView } from "../views/status-view.ts";
import { watch } from "../views/watch.ts";

type StatusOptions = HolderFlags & Readonly<{ output: Output; watch?: true; every: Duration }>;

/** Shows current holds: nodes, expiry and cause. */
export const status = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("status"), terminal))
      .summary("Show current holds: nodes, expiry and cause.")
      .description(
        "Show current holds: nodes, expiry and cause. NODES carry the hold's mark; AWAITED are launched instances whose nodes have not joined yet.",
      )
      .option("-w, --watch", "refresh it until you press Ctrl-C")
      .addOption(
        durationOption("--every <duration>", "how often to refresh it", [seconds(1), hours(1)], seconds(5)),
      )
      .action((options: StatusOptions) => notify(options, terminal)),
    [
      ["status --cluster prod", "current holds"],
      ["status --cluster prod -o wide --watch", "everything, refreshed every five seconds"],
      ["status --cluster prod -o json | jq '.scopes[].state'", "for a program"],
      ["status --run", "the holds of a `run` on this machine"],
    ],
  );

async function notify(options: StatusOptions, terminal: Terminal): Promise<void> {
  const { ask } = await controlOf(options, terminal.env);
  const picture = async (): Promise<string> => {
    const answer = await ask({ do: "status" });
    if (options.output === "json") return asJson(answer);
    return statusView(parseStatus(answer), terminal.style, options.output === "wide").join("\n");
  };
  if (options.watch) await watch(picture, options.every, terminal);
  else terminal.out(await picture());
}
