import { Command } from "commander";
import { describeLength } from "../../lambda/core/auto/staircase.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { describeCauses } from "../../lambda/core/holds/causes.ts";
import { historyDays, type PastHold } from "../../lambda/core/holds/hold.ts";
import { parseHistory } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { asJson, countFlag, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import { writePrivateFile } from "../terminal/private-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, absolute, relative, table } from "../terminal/text.ts";

type HistoryOptions = HolderFlags & Readonly<{ output: Output; limit: number; html?: string }>;

/** Shows the holds of the last 90 days. */
export const history = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("history"), terminal))
      .description("Show the holds of the last 90 days.")
      .option("--limit <count>", "how many, to 1000, the newest first", countFlag(1, 1000), 20)
      .option("--html <file>", "write them as a self-contained page")
      .action((options: HistoryOptions) => notify(options, terminal)),
    [
      ["history --cluster prod", "the last twenty holds"],
      ["history --cluster prod --limit 500 --html holds.html", "more of them, drawn on a page"],
      ["history --cluster prod -o json", "for a program"],
    ],
  );

async function notify(
  { output, limit, html, ...flags }: HistoryOptions,
  { env, out, style }: Terminal,
): Promise<void> {
  if (html !== undefined && output !== "table")
    throw new BadInputError("These flags do not fit", ["--html shows a page: leave out --output"]);
  const { ask, name } = await controlOf(flags, env);
  const answer = await ask({ do: "history", limit });
  if (output === "json") return out(asJson(answer));
  const holds = parseHistory(answer);
  const now = new Date();
  if (html !== undefined) {
    const { historyPage } = await import("../views/history-page.ts");
    writePrivateFile(html, historyPage(holds, name, now));
    return out(html);
  }
  if (holds.length === 0)
    return out(`No hold has ended in the last ${historyDays} days. \`status\` shows the holds that are on.`);
  for (const line of historyTable(holds, now, style, output === "wide")) out(line);
}

/** Past holds as rows, newest first. */
export function historyTable(
  holds: readonly PastHold[],
  now: Date,
  style: Terminal["style"],
  wide: boolean,
): string[] {
  const heading = ["STARTED", "ENDED", "LASTED", "SCOPE", "LAUNCHES", "EXTENSIONS", "NODES", "WHY IT ENDED"];
  const rest = wide ? ["CAUSES", "LEARNED LENGTH", "HOLD"] : [];
  const rows = holds.map((hold) => [
    absolute(hold.startedAt, now),
    relative(hold.endedAt, now),
    about(hold.endedAt.getTime() - hold.startedAt.getTime()),
    hold.scope,
    String(hold.launches),
    String(hold.extensions),
    String(hold.nodes),
    hold.endedBecause + (hold.capped ? style("yellow", " (capped)") : ""),
    ...(wide ? [describeCauses(hold), hold.length ? describeLength(hold.length) : "–", hold.id] : []),
  ]);
  return table([[...heading, ...rest].map((one) => style("dim", one)), ...rows]);
}
