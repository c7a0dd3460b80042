import { writeSettings } from "../../infra/settings/deployment.ts";
import { formatDuration } from "../../lambda/core/duration.ts";
import { describeRemoved } from "../../lambda/core/observed.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import { type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import { counted } from "../../report/timeline/clock.ts";
import type { StatusAnswer } from "../answers.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatMoment, table } from "../terminal/text.ts";
import { paidBy } from "./history-table.ts";

type Style = Terminal["style"];

const colours = {
  none: "dim",
  held: "green",
  releasing: "cyan",
  paused: "yellow",
  breather: "yellow",
} as const;

const isOf = (scope: Scope | undefined) => (status: ScopeStatus) =>
  scope === undefined || status.scope === scope || status.scope === wholeCluster;

/** Whether something is held: in any scope, or in this one or by the whole cluster. */
export const isHeld = ({ scopes, rules }: StatusAnswer, scope?: Scope): boolean =>
  rules.mode === "hold" && scopes.filter(isOf(scope)).some(({ state }) => state === "held");

/** Whether nothing is held and no node has a mark; not the same as not held, because a release takes time. */
export const isReleased = ({ scopes, rules, nodesOrphaned }: StatusAnswer, scope?: Scope): boolean =>
  !nodesOrphaned &&
  scopes
    .filter(isOf(scope))
    .every(({ state, nodesHeld }) => nodesHeld === 0 && (state !== "held" || rules.mode === "observe"));

/** The rows of the first table alone. */
export const statusRows = (status: StatusAnswer, style: Style, wide: boolean): string[] =>
  table(status.scopes.map((scope) => row(scope, status, style, wide)));

/** The status as text; times are by the functions' clock. */
export function statusView(
  status: StatusAnswer,
  { style, wide, toHold }: Readonly<{ style: Style; wide: boolean; toHold: string }>,
): string[] {
  const { at, scopes, nodesUserHeld, nodesOrphaned = 0, lastSweep, limits } = status;
  const heading = ["SCOPE", "STATE", "SINCE", "UNTIL", "LAUNCHES", "EXTENSIONS", "NODES"];
  const rest = wide ? ["NEXT LOOK", "HOLD"] : [];
  const shown = (headings: readonly string[], rows: readonly (readonly string[])[]) =>
    table([headings.map((one) => style("dim", one)), ...rows]);
  const rows = scopes.map((scope) => row(scope, status, style, wide));
  const ends = scopes.flatMap((scope) => (scope.requests.length > 0 ? endsOf(scope, at) : []));
  const nothing = nodesOrphaned > 0 ? [] : ["Nothing is held now."];
  const orphaned = `Nodes with an orphaned mark: ${nodesOrphaned}. The next sweep removes it.`;
  const going = scopes.flatMap((scope) => goingOf(scope, at));
  return [
    `${style("bold", status.cluster)}  ${rulesOf(status)}`,
    "",
    ...(rows.length > 0 ? shown([...heading, ...rest, "WHY"], rows) : nothing),
    ...(ends.length > 0
      ? ["", ...shown(["ASKED BY", "SCOPE", "CAUSE", "SINCE", "UNTIL", "REASON"], ends)]
      : []),
    ...(going.length > 0 ? ["", ...shown(["NODE", "SCOPE", "GOES", "WHY"], going)] : []),
    ...(nodesOrphaned > 0 ? [style("yellow", orphaned)] : []),
    "",
    ...scopes.flatMap((scope) => notes(scope, at)),
    ...(status.rules.mode === "observe" ? [`To hold from now on: ${toHold}.`] : []),
    ...(wide ? [...scopes.flatMap(heldNodes), settingsOf(status)] : []),
    `Nodes held by their users: ${nodesUserHeld}. Last sweep: ${lastSweep ? formatMoment(lastSweep, at) : style("red", "none yet")}.`,
    ...limits.map((limit) => style("yellow", `Note: ${limit}.`)),
  ];
}

function row(scope: ScopeStatus, { at, rules }: StatusAnswer, style: Style, wide: boolean): string[] {
  const { state, launches, extensions, nodesHeld, requests } = scope;
  const isHold = scope.holdId !== undefined;
  const ofLaunches = scope.capped && requests.length === 0 ? capped : "";
  return [
    scope.scope,
    style(colours[state], state === "held" && rules.mode === "observe" ? "observed" : state),
    formatMoment(scope.since, at),
    scope.until ? formatMoment(scope.until, at) + ofLaunches : "–",
    ...[launches, extensions].map((count) => (isHold ? String(count) : "–")),
    String(nodesHeld),
    ...(wide ? [formatMoment(scope.nextLook, at), scope.holdId ?? "–"] : []),
    scope.because,
  ];
}

const capped = " capped";

/** What asks for a hold of a scope, each with its own end: its launches, and every request. */
function endsOf(status: ScopeStatus, now: Date): string[][] {
  const { scope, launchesUntil, requests } = status;
  const ofLaunches = [
    ...["launches", scope, "–", "–"],
    formatMoment(launchesUntil, now) + (status.capped ? capped : ""),
    "–",
  ];
  const ofRequests = requests.map(({ name, cause, since, until, reason }) => [
    ...[name, scope, cause],
    ...[formatMoment(since, now), formatMoment(until, now), reason],
  ]);
  return [...(launchesUntil ? [ofLaunches] : []), ...ofRequests];
}

/** With `hold=auto`, the nodes that no longer pay, and when each is let go. */
const goingOf = ({ scope, goes = [] }: ScopeStatus, now: Date): string[][] =>
  goes.map(({ name, isLetGo, dueAt, because }) => [
    ...[name, scope],
    ...[isLetGo ? "now" : formatMoment(dueAt, now), because],
  ]);

/** What a number in the table does not say. */
function notes(status: ScopeStatus, now: Date): string[] {
  const { scope, since, drifted, isAwaiting, nodesObserved = 0, observed, paid } = status;
  const paying = paid ? paidBy([paid]).join("; ") : "";
  return [
    ...(nodesObserved > 0
      ? [`With mode=hold, ${counted(nodesObserved, "node")} of ${scope} would be held now.`]
      : []),
    ...(observed ? [`Since ${formatMoment(since, now)}: ${describeRemoved(observed)}.`] : []),
    ...(paying ? [`Since ${formatMoment(since, now)}: ${paying}.`] : []),
    ...(drifted > 0 ? [`Drifted nodes of ${scope}, which launches do not hold: ${drifted}.`] : []),
    ...(isAwaiting ? [`A node that was launched in ${scope} has not joined yet.`] : []),
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
  const { mode, hold, auto, maxHold, breather, initialDelay, scope } = rules;
  const cap =
    maxHold > 0
      ? `${formatDuration(maxHold)} at most, then ${formatDuration(breather)} of breather`
      : "without a cap";
  const length = auto
    ? [`each node while that pays, until ${formatDuration(maxHold)} after the last launch`]
    : [`${formatDuration(hold)} after each launch`, cap];
  const parts = [
    `${mode === "observe" ? "observes only, would hold" : "holds"} ${length.join(", ")}`,
    ...(initialDelay > 0 ? [`acts after ${formatDuration(initialDelay)}`] : []),
    scope === "nodepool" ? "by NodePool" : "whole cluster",
    `version ${version}`,
  ];
  return parts.join(", ");
}
