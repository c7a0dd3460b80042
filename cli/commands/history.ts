import { Command } from "commander";
import type { PastHold } from "../../lambda/core/holds/hold.ts";
import { parseHistory } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { countFlag, type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { asJson, type Output, withOutput } from "../terminal/output-flag.ts";
import { writePrivateFile } from "../terminal/private-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { historyTable, historyTimeline } from "../views/history-view.ts";

type HistoryOptions = HolderFlags &
  Readonly<{ output: Output; limit: number; timeline?: true; ascii?: true; html?: string; open?: true }>;

/** Shows the holds of the last 90 days. */
export const history = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("history"), terminal))
      .description("Show the holds of the last 90 days.")
      .option("--limit <count>", "how many, to 1000, the newest first", countFlag(1, 1000), 20)
      .option("--timeline", "draw them along time")
      .option("--ascii", "draw with plain characters")
      .option("--html <file>", "write them as a self-contained page")
      .option("--open", "draw them on a page and open it in the browser")
      .action((options: HistoryOptions) => notify(options, terminal)),
    [
      ["history --cluster prod", "the last twenty holds"],
      ["history --cluster prod --limit 200 --timeline", "when holds were, along time"],
      ["history --cluster prod --limit 500 --open", "the same as a picture in the browser"],
      ["history --cluster prod --html holds.html", "a page to share"],
      ["history --cluster prod -o json", "for a program"],
    ],
  );

async function notify(options: HistoryOptions, terminal: Terminal): Promise<void> {
  const { env, out, style } = terminal;
  const { ask, name } = await controlOf(options, env);
  const answer = await ask({ do: "history", limit: options.limit });
  if (options.output === "json") return out(asJson(answer));
  const holds = parseHistory(answer);
  if (holds.length === 0) return out("Nothing was held in the last 90 days.");
  const now = new Date();
  if (options.html !== undefined || options.open) return drawn(holds, { ...options, name, now }, terminal);
  const lines = options.timeline
    ? historyTimeline(holds, now, style, options.ascii === true)
    : historyTable(holds, now, style, options.output === "wide");
  for (const line of lines) out(line);
}

async function drawn(
  holds: readonly PastHold[],
  { html, open, name, now }: Readonly<{ html?: string; open?: true; name: string; now: Date }>,
  { out, notify: remark }: Terminal,
): Promise<void> {
  const { historyPage } = await import("../views/history-page.ts");
  const { openInBrowser, pageFile } = await import("../terminal/open-page.ts");
  const file = html ?? (await pageFile("history.html"));
  writePrivateFile(file, historyPage(holds, name, now));
  out(file);
  if (open && !(await openInBrowser(file)))
    remark("No browser could be opened here: open the file yourself.");
}
