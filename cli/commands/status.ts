import { Command, Option } from "commander";
import { type Duration, hours, seconds } from "../../lambda/core/duration.ts";
import { messageOf } from "../../lambda/core/errors.ts";
import { parseStatus } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withAnyHolder } from "../terminal/cluster-flags.ts";
import { AnswerNo } from "../terminal/failure.ts";
import {
  asData,
  durationOption,
  type Output,
  withExamples,
  withQuiet,
  withTable,
} from "../terminal/flags.ts";
import { clearScreen, type Terminal } from "../terminal/terminal.ts";
import { readable } from "../terminal/text.ts";
import { isHeld, statusRows, statusView } from "../views/status-view.ts";

type StatusOptions = HolderFlags &
  Readonly<{
    output: Output;
    headers: boolean;
    quiet?: true;
    exitCode?: true;
    watch?: true;
    every: Duration;
  }>;

/** Shows current holds: nodes, expiry and cause. */
export const status = (terminal: Terminal): Command =>
  withExamples(
    withQuiet(withTable(withAnyHolder(new Command("status"), terminal)))
      .summary("Show current holds: nodes, expiry and cause.")
      .description(
        "Show current holds: nodes, expiry and cause. NODES carry the hold's mark; each request has an end of its own.",
      )
      .option(
        "--exit-code",
        "exit with 0 where something is held, 3 where nothing is, 1 where that is unknown",
      )
      .addOption(
        new Option("-w, --watch", "refresh it until you press Ctrl-C").conflicts(["exitCode", "quiet"]),
      )
      .addOption(
        durationOption("--every <duration>", "how often to refresh it", [seconds(1), hours(1)], seconds(5)),
      )
      .action((options: StatusOptions) => show(options, terminal)),
    [
      ["status --cluster prod", "current holds"],
      ["status --cluster prod -o wide --watch", "everything, refreshed every five seconds"],
      ["status --cluster prod -o json | jq '.scopes[].state'", "for a program"],
      ["status --cluster prod --exit-code --quiet", "for a script: is anything held?"],
      ["status --run", "the holds of a `run` on this machine"],
      ["status --kubeconfig prod.yaml", "the holds of the `run` for this cluster"],
    ],
  );

async function show(options: StatusOptions, terminal: Terminal): Promise<void> {
  const { output, headers, every } = options;
  const { ask, toHold } = await controlOf(options, terminal.env);
  let answer: unknown;
  const picture = async (): Promise<string> => {
    answer = await ask({ do: "status" });
    const data = await asData(answer, output);
    if (data !== undefined) return output === "yaml" && options.watch ? `---\n${data}` : data;
    const parsed = parseStatus(answer);
    if (output === "name") return parsed.scopes.map(({ scope }) => scope).join("\n");
    const isWide = output === "wide";
    const lines = headers
      ? statusView(parsed, { style: terminal.style, wide: isWide, toHold: toHold(parsed) })
      : statusRows(parsed, terminal.style, isWide);
    return lines.join("\n");
  };
  const isText = output === "table" || output === "wide";
  if (options.watch) return watch(picture, { every, terminal, isText });
  const text = await picture();
  if (text !== "" && !options.quiet) terminal.out(text);
  if (options.exitCode && !isHeld(parseStatus(answer))) throw new AnswerNo();
}

/** Returns whether to continue. */
const wait = (duration: Duration) =>
  new Promise<boolean>((resolve) => setTimeout(() => resolve(true), duration));

type Watching = Readonly<{
  every: Duration;
  terminal: Pick<Terminal, "out" | "notify" | "isWatched" | "style">;
  /** False where a program reads the output: then nothing else is written there. */
  isText: boolean;
  pause?: (duration: Duration) => Promise<boolean>;
}>;

/**
 * Prints a view repeatedly: in place on a terminal, one after the other into a file.
 * The first failure ends it; later ones are shown in place of the view, because they may pass.
 */
export async function watch(
  picture: () => Promise<string>,
  { every, terminal, isText, pause = wait }: Watching,
): Promise<void> {
  const { out, notify, isWatched, style } = terminal;
  const draw = (text: string) => out(isWatched && isText ? `${clearScreen}${text}` : `${text}\n`);
  let last = await picture();
  draw(last);
  while (await pause(every)) {
    try {
      last = await picture();
      draw(last);
    } catch (error) {
      const message = `Could not ask: ${readable(messageOf(error))}. Trying again.`;
      if (isText) draw(`${style("dim", last)}\n\n${style("red", message)}`);
      else notify(message);
    }
  }
}
