import { Command } from "commander";
import { after, type Duration, hours } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { describeObserved, sumObserved } from "../../lambda/core/observed.ts";
import { historyDays } from "../../lambda/core/record.ts";
import { duration } from "../../lambda/schemas/values.ts";
import { parseHistory } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withAnyHolder } from "../terminal/cluster-flags.ts";
import {
  asData,
  countFlag,
  type Output,
  readBy,
  withExamples,
  withQuiet,
  withTable,
} from "../terminal/flags.ts";
import { writePrivateFile } from "../terminal/private-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";
import { describeObservation, describeSums, historyTable } from "../views/history-table.ts";

type HistoryOptions = HolderFlags &
  Readonly<{
    output: Output;
    headers: boolean;
    quiet?: true;
    since?: Duration;
    limit?: number;
    html?: string;
  }>;

const mostHolds = 1_000;

/** Shows the holds of the last 90 days. */
export const history = (terminal: Terminal): Command =>
  withExamples(
    withQuiet(withTable(withAnyHolder(new Command("history"), terminal)))
      .description("Show the holds of the last 90 days: how long, how many nodes, and why.")
      .option("--since <duration>", "how far to look back, to 2160h", readBy(duration(hours(1), hours(2160))))
      .option(
        "--limit <count>",
        "how many, to 1000, the newest first (default: 20, or 1000 with --since)",
        countFlag(1, mostHolds),
      )
      .option("--html <file>", "write them as a self-contained page; - prints it")
      .action((options: HistoryOptions) => show(options, terminal)),
    [
      ["history --cluster prod", "the last twenty holds"],
      ["history --cluster prod --since 30d", "those of a month"],
      ["history --cluster prod --limit 500 --html holds.html", "more of them, drawn on a page"],
      ["history --cluster prod -o json", "for a program"],
    ],
  );

async function show(options: HistoryOptions, { env, style, ...terminal }: Terminal): Promise<void> {
  const { output, headers, since, html, quiet } = options;
  const { out, notify } = quiet ? { out: () => {}, notify: () => {} } : terminal;
  if (html !== undefined && output !== "table")
    throw new BadInputError("These flags do not fit", ["--html shows a page: leave out --output"]);
  const { ask, name } = await controlOf(options, env);
  const limit = options.limit ?? (since ? mostHolds : 20);
  const answer = await ask({ do: "history", limit });
  const now = new Date();
  const holds = parseHistory(answer).filter(({ endedAt }) => !since || endedAt >= after(now, -since));
  const isCut = holds.length === limit;
  if (since && isCut) notify(`These are the newest ${limit}; there may be more.`);
  const sum = sumObserved(holds);
  const observed = sum && { observed: { ...sum, summary: describeObserved(sum) } };
  const data = await asData({ ...(since ? { holds } : Object(answer)), ...observed }, output);
  if (data !== undefined) return out(data);
  if (output === "name") return holds.forEach(({ id }) => void out(id));
  const none = `No hold has ended in the last ${since ? about(since) : `${historyDays} days`}.`;
  if (html !== undefined) {
    const { historyPage } = await import("../views/history-page.ts");
    const sums = [describeSums(holds), ...describeObservation(holds)].join(". ");
    const page = historyPage(holds, { holder: name, sums, none, now });
    // Where stdout is a file, opening it again would write from its begin.
    if (html === "-" || html === "/dev/stdout") return out(page.trimEnd());
    writePrivateFile(html, page);
    return out(html);
  }
  const rows = historyTable(holds, now, style, output === "wide");
  if (!headers) return rows.slice(1).forEach(out);
  if (holds.length === 0) return out(`${none} \`status\` shows the holds that are on.`);
  for (const line of rows) out(line);
  out(`${describeSums(holds)}.`);
  for (const line of describeObservation(holds)) out(`${line}.`);
}
