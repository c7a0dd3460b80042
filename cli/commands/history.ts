import { Command } from "commander";
import { describeLength } from "../../lambda/core/auto/hold-length.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { describeCauses } from "../../lambda/core/holds/causes.ts";
import { historyDays, type PastHold } from "../../lambda/core/holds/hold.ts";
import { parseHistory } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { asJson, countFlag, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import { writePrivateFile } from "../terminal/page-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, absolute, relative, table } from "../terminal/text.ts";

type HistoryOptions = HolderFlags & Readonly<{ output: Output; limit: number; html?: string; open?: true }>;

/** Shows the holds of the last 90 days. */
export const history = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("history"), terminal))
      .description("Show the holds of the last 90 days.")
      .option("--limit <count>", "how many, to 1000, the newest first", countFlag(1, 1000), 20)
      .option("--html <file>", "write them as a self-contained page")
      .option("--open", "draw them on a page and open it in the browser")
      .action((options: HistoryOptions) => notify(options, terminal)),
    [
      ["history --cluster prod", "the last twenty holds"],
      ["history --cluster prod --limit 500 --open", "more of them, as a picture in the browser"],
      ["history --cluster prod --html holds.html", "a page to share"],
      ["history --cluster prod -o json", "for a program"],
    ],
  );

async function notify(options: HistoryOptions, terminal: Terminal): Promise<void> {
  const { env, out, style } = terminal;
  const isPage = options.html !== undefined || options.open;
  if (isPage && options.output !== "table")
    throw new BadInputError("These flags do not fit", ["--html and --open show a page: leave out --output"]);
  const { ask, name } = await controlOf(options, env);
  const answer = await ask({ do: "history", limit: options.limit });
  if (options.output === "json") return out(asJson(answer));
  const holds = parseHistory(answer);
  const now = new Date();
  if (isPage) return drawn(holds, { ...options, name, now }, terminal);
  if (holds.length === 0)
    return out(`No hold has ended in the last ${historyDays} days. \`status\` shows the holds that are on.`);
  for (const line of historyTable(holds, now, style, options.output === "wide")) out(line);
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

async function drawn(
  holds: readonly PastHold[],
  { html, open, name, now }: Readonly<{ html?: string; open?: true; name: string; now: Date }>,
  { out, notify: remark }: Terminal,
): Promise<void> {
  const { historyPage } = await import("../views/history-page.ts");
  const { openInBrowser, pageFile } = await import("../terminal/page-file.ts");
  const file = html ?? (await pageFile("history.html"));
  writePrivateFile(file, historyPage(holds, name, now));
  out(file);
  if (open && !(await openInBrowser(file)))
    remark("No browser could be opened here: open the file yourself.");
}
