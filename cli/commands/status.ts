import { Command } from "commander";
import { type Duration, formatDuration, hours, seconds } from "../../lambda/core/duration.ts";
import { messageOf } from "../../lambda/core/errors.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import { writeSettings } from "../../lambda/settings.ts";
import { parseStatus, type StatusAnswer } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { asJson, durationOption, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import { clearScreen, type Terminal } from "../terminal/terminal.ts";
import { formatMoment, readable, table } from "../terminal/text.ts";

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

/** Returns whether to continue. */
const wait = (duration: Duration) =>
  new Promise<boolean>((resolve) => setTimeout(() => resolve(true), duration));

/**
 * Prints a view repeatedly: in place on a terminal, one after the other into a file.
 * The first failure ends it; later ones are shown in place of the view, because they may pass.
 */
export async function watch(
  picture: () => Promise<string>,
  every: Duration,
  { out, isWatched, style }: Pick<Terminal, "out" | "isWatched" | "style">,
  pause: (duration: Duration) => Promise<boolean> = wait,
): Promise<void> {
  const draw = (text: string) => out(isWatched ? `${clearScreen}${text}` : `${text}\n`);
  let last = await picture();
  draw(last);
  while (await pause(every)) {
    try {
      last = await picture();
      draw(last);
    } catch (error) {
      const message = readable(messageOf(error));
      draw(`${style("dim", last)}\n\n${style("red", `Could not ask: ${message}. Trying again.`)}`);
    }
  }
}

type Style = Terminal["style"];

const colours = {
  none: "dim",
  held: "green",
  releasing: "cyan",
  paused: "yellow",
  breather: "yellow",
} as const;

/** The status as text; times are by the functions' clock. */
export function statusView(status: StatusAnswer, style: Style, wide: boolean): string[] {
  const { at, scopes, nodesUserHeld, nodesOrphaned = 0, lastSweep, limits } = status;
  const heading = ["SCOPE", "STATE", "SINCE", "UNTIL", "LAUNCHES", "EXTENSIONS", "NODES", "AWAITED"];
  const rest = wide ? ["NEXT SCHEDULE", "HOLD"] : [];
  const rows = scopes.map((scope) => row(scope, at, style, wide));
  const nothing = nodesOrphaned > 0 ? [] : ["Nothing is held now."];
  const orphaned = `Nodes with a mark of no recorded hold: ${nodesOrphaned}. The next sweep removes it.`;
  return [
    `${style("bold", status.cluster)}  ${rulesOf(status)}`,
    "",
    ...(rows.length > 0
      ? table([[...heading, ...rest, "WHY"].map((one) => style("dim", one)), ...rows])
      : nothing),
    ...(nodesOrphaned > 0 ? [style("yellow", orphaned)] : []),
    "",
    ...(wide ? [...scopes.flatMap(heldNodes), settingsOf(status)] : []),
    ...scopes.flatMap(({ scope, lengths = [] }) =>
      lengths.length > 0 ? [`Holds of ${scope} last`, ...lengths.map((one) => `  ${one}`)] : [],
    ),
    `Held by their users: ${nodesUserHeld}. Last sweep: ${lastSweep ? formatMoment(lastSweep, at) : style("red", "none yet")}.`,
    ...limits.map((limit) => style("yellow", `Note: ${limit}.`)),
  ];
}

function row(scope: ScopeStatus, now: Date, style: Style, wide: boolean): string[] {
  const { state, launches, extensions, nodesHeld, awaited, capped } = scope;
  const openEnd = state === "paused" || state === "breather" ? "resumed by hand" : "–";
  const until = scope.until ? formatMoment(scope.until, now) + (capped ? " capped" : "") : openEnd;
  const rest = wide ? [formatMoment(scope.nextSchedule, now), scope.holdId ?? "–"] : [];
  return [
    scope.scope,
    style(colours[state], state),
    formatMoment(scope.since, now),
    until,
    ...[launches, extensions].map((count) => (count === undefined ? "–" : String(count))),
    String(nodesHeld),
    String(awaited),
    ...rest,
    scope.because,
  ];
}

/** The names that the answer has; of more nodes it has only the number. */
function heldNodes({ scope, nodes, nodesHeld }: ScopeStatus): string[] {
  if (nodes.length === 0) return [];
  const more = nodesHeld > nodes.length ? ` and ${nodesHeld - nodes.length} more` : "";
  return [`Nodes held in ${scope}: ${nodes.join(", ")}${more}.`];
}

/** Every setting that the holder has. */
function settingsOf({ rules }: StatusAnswer): string {
  const set = Object.entries(writeSettings(rules)).filter(([, text]) => text !== "");
  return `Settings: ${set.map(([name, text]) => `${name}=${text}`).join(" ")}`;
}

function rulesOf({ rules, version }: StatusAnswer): string {
  const { hold, auto, maxHold, breather, initialDelay, scope } = rules;
  const parts = [
    auto ? "learns how long to hold" : `holds ${formatDuration(hold)} after each launch`,
    maxHold > 0
      ? `${formatDuration(maxHold)} at most, then ${formatDuration(breather)} of breather`
      : "without a cap",
    ...(initialDelay > 0 ? [`acts after ${formatDuration(initialDelay)}`] : []),
    scope === "nodepool" ? "by NodePool" : "whole cluster",
    `version ${version}`,
  ];
  return parts.join(", ");
}
