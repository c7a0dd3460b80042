import { Command } from "commander";
import { describeLength } from "../../lambda/core/auto/staircase.ts";
import { after, type Duration, formatDuration, hours } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { describeCauses } from "../../lambda/core/holds/causes.ts";
import { historyDays, type PastHold } from "../../lambda/core/holds/hold.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { counted } from "../../report/timeline/clock.ts";
import { parseHistory } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import {
  asJson,
  countFlag,
  durationFlag,
  type Output,
  priceFlag,
  withExamples,
  withOutput,
} from "../terminal/flags.ts";
import { writePrivateFile } from "../terminal/private-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, absolute, relative, table } from "../terminal/text.ts";

type Terms = Readonly<{ price?: number; relaunchCost?: Duration }>;
type HistoryOptions = HolderFlags &
  Terms &
  Readonly<{ output: Output; since?: Duration; limit?: number; html?: string }>;

const mostHolds = 1_000;
const { least, most } = holderSettings.relaunchCost.value;

/** Shows the holds of the last 90 days. */
export const history = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("history"), terminal))
      .description("Show the holds of the last 90 days, and what they cost and spared.")
      .option("--since <duration>", "how far to look back, to 2160h", durationFlag(hours(1), hours(2160)))
      .option(
        "--limit <count>",
        "how many, to 1000, the newest first (default: 20, or 1000 with --since)",
        countFlag(1, mostHolds),
      )
      .option("--price <amount>", "what an hour of a node costs", priceFlag)
      .option(
        "--relaunch-cost <duration>",
        "what one needless relaunch of a node is worth, in time of that node",
        durationFlag(least, most),
      )
      .option("--html <file>", "write them as a self-contained page")
      .action((options: HistoryOptions) => show(options, terminal)),
    [
      ["history --cluster prod", "the last twenty holds"],
      ["history --cluster prod --since 30d --price 0.096", "a month, with its cost in money"],
      ["history --cluster prod --limit 500 --html holds.html", "more of them, drawn on a page"],
      ["history --cluster prod -o json", "for a program"],
    ],
  );

async function show(options: HistoryOptions, { env, out, notify, style }: Terminal): Promise<void> {
  const { output, since, html } = options;
  if (html !== undefined && output !== "table")
    throw new BadInputError("These flags do not fit", ["--html shows a page: leave out --output"]);
  const { ask, name } = await controlOf(options, env);
  const limit = options.limit ?? (since ? mostHolds : 20);
  const answer = await ask({ do: "history", limit });
  if (output === "json" && !since) return out(asJson(answer));
  const now = new Date();
  const holds = parseHistory(answer).filter(({ endedAt }) => !since || endedAt >= after(now, -since));
  const isCut = holds.length === limit;
  if (since && isCut) notify(`These are the newest ${limit}; there may be more.`);
  if (output === "json") return out(asJson({ holds }));
  const from = since && !isCut ? after(now, -since) : (holds.at(-1)?.startedAt ?? now);
  const sums = describeSums(holds, options, now.getTime() - from.getTime());
  const none = `No hold has ended in the last ${since ? about(since) : `${historyDays} days`}.`;
  if (html !== undefined) {
    const { historyPage } = await import("../views/history-page.ts");
    writePrivateFile(html, historyPage(holds, { holder: name, sums, none, now }));
    return out(html);
  }
  if (holds.length === 0) return out(`${none} \`status\` shows the holds that are on.`);
  for (const line of historyTable(holds, now, style, output === "wide")) out(line);
  out(`${counted(holds.length, "hold")}: ${sums}.`);
}

/** What the holds of a time are estimated to have cost and spared. */
export function describeSums(
  holds: readonly PastHold[],
  { price, relaunchCost }: Terms,
  lasted: Duration,
): string {
  const idle = holds.reduce((sum, { idleTime = 0 }) => sum + idleTime, 0);
  const spared = holds.reduce((sum, hold) => sum + (hold.spared ?? 0), 0);
  const nodeHours = (time: Duration) => (time / hours(1)).toFixed(1);
  // A day says little about a week.
  const weeks = Math.max(1, lasted / hours(24 * 7));
  let text = `${nodeHours(idle)} idle node-hours`;
  if (price !== undefined)
    text += ` (about ${((idle / hours(1) / weeks) * price).toFixed(2)}${weeks > 1 ? " a week" : ""})`;
  text += `, ${counted(spared, "relaunch", "relaunches")} spared`;
  if (!relaunchCost) return text;
  const net = nodeHours(spared * relaunchCost - idle);
  return `${text}, net ${net} node-hours at ${formatDuration(relaunchCost)} a relaunch`;
}

/** Past holds as rows, newest first. */
export function historyTable(
  holds: readonly PastHold[],
  now: Date,
  style: Terminal["style"],
  wide: boolean,
): string[] {
  const counts = ["LAUNCHES", "EXTENSIONS", "NODES", "IDLE", "SPARED"];
  const heading = ["STARTED", "ENDED", "LASTED", "SCOPE", ...counts, "WHY IT ENDED"];
  const rest = wide ? ["LET GO", "CAUSES", "LEARNED LENGTH", "HOLD"] : [];
  const rows = holds.map((hold) => [
    absolute(hold.startedAt, now),
    relative(hold.endedAt, now),
    about(hold.endedAt.getTime() - hold.startedAt.getTime()),
    hold.scope,
    String(hold.launches),
    String(hold.extensions),
    String(hold.nodes),
    hold.idleTime ? about(hold.idleTime) : "–",
    String(hold.spared ?? "–"),
    hold.endedBecause + (hold.capped ? style("yellow", " (capped)") : ""),
    ...(wide ? [String(hold.letGo ?? "–"), describeCauses(hold)] : []),
    ...(wide ? [hold.length ? describeLength(hold.length) : "–", hold.id] : []),
  ]);
  return table([[...heading, ...rest].map((one) => style("dim", one)), ...rows]);
}
