import { describeLength } from "../../lambda/core/auto/hold-length.ts";
import { formatDuration } from "../../lambda/core/duration.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import { writeSettings } from "../../lambda/settings.ts";
import type { StatusAnswer } from "../answers.ts";
import { table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatMoment } from "../terminal/times.ts";

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
  const { at, scopes, nodesUserHeld, lastSweep, limits } = status;
  const heading = ["SCOPE", "STATE", "SINCE", "UNTIL", "LAUNCHES", "EXTENSIONS", "NODES", "AWAITED"];
  const rest = wide ? ["NEXT SCHEDULE", "HOLD"] : [];
  const rows = scopes.map((scope) => row(scope, at, style, wide));
  const nothing = "Nothing has been held yet: no launch has arrived.";
  return [
    `${style("bold", status.cluster)}  ${rulesOf(status)}`,
    "",
    ...(rows.length > 0
      ? table([[...heading, ...rest, "WHY"].map((one) => style("dim", one)), ...rows])
      : [nothing]),
    "",
    ...(wide ? [...scopes.flatMap(heldNodes), settingsOf(status)] : []),
    ...scopes.flatMap(({ scope, length }) =>
      length ? [`Holds of ${scope} last ${describeLength(length)}.`] : [],
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
