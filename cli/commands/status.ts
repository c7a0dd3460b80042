import { Command } from "commander";
import { type Duration, hours, seconds } from "../../lambda/core/duration.ts";
import { messageOf } from "../../lambda/core/errors.ts";
import { parseStatus } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { asJson, durationOption, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import { clearScreen, type Terminal } from "../terminal/terminal.ts";
import { readable } from "../terminal/text.ts";
import { statusView } from "../views/status-view.ts";

type StatusOptions = HolderFlags & Readonly<{ output: Output; watch?: true; every: Duration }>;

/** Shows current holds: nodes, expiry and cause. */
export const status = (terminal: Terminal): Command =>
  withExamples(
    withOutput(withHolder(new Command("status"), terminal))
      .summary("Show current holds: nodes, expiry and cause.")
      .description(
        "Show current holds: nodes, expiry and cause. NODES carry the hold's mark; each request has an end of its own.",
      )
      .option("-w, --watch", "refresh it until you press Ctrl-C")
      .addOption(
        durationOption("--every <duration>", "how often to refresh it", [seconds(1), hours(1)], seconds(5)),
      )
      .action((options: StatusOptions) => show(options, terminal)),
    [
      ["status --cluster prod", "current holds"],
      ["status --cluster prod -o wide --watch", "everything, refreshed every five seconds"],
      ["status --cluster prod -o json | jq '.scopes[].state'", "for a program"],
      ["status --run", "the holds of a `run` on this machine"],
    ],
  );

async function show(options: StatusOptions, terminal: Terminal): Promise<void> {
  const { ask } = await controlOf(options, terminal.env);
  const picture = async (): Promise<string> => {
    const answer = await ask({ do: "status" });
    if (options.output === "json") return asJson(answer);
    return statusView(parseStatus(answer), terminal.style, options.output === "wide").join("\n");
  };
  const isText = options.output !== "json";
  if (options.watch) await watch(picture, { every: options.every, terminal, isText });
  else terminal.out(await picture());
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
