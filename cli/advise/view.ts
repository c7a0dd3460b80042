import { formatDuration, hours } from "../../lambda/core/duration.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, quoted, table } from "../terminal/text.ts";
import { type Advice, type Candidate, type Question, scaleOf } from "./advice.ts";

/** Advice for people: what was seen, each hold tried, and what to do. */
export function adviceView(advice: Advice, question: Question, style: Terminal["style"]): string[] {
  const { of, candidates, recommended, because } = advice;
  const [heading = [], ...rows] = ranking(candidates);
  const shown = rows.map((cells, at) =>
    candidates[at] === recommended ? cells.map((cell) => style("green", cell)) : cells,
  );
  return [
    `${style("bold", of)}  ${describeSeen(advice, question)}`,
    ...table([heading.map((one) => style("dim", one)), ...shown]),
    style(recommended ? "green" : "yellow", because),
    ...deployment(advice, question),
  ];
}

/** The heading, and a row for each candidate. */
export function ranking(candidates: readonly Candidate[]): readonly (readonly string[])[] {
  const rows = candidates.map((one) => {
    const { avoided, idle, net, money } = one;
    const inMoney = money === undefined ? [] : [money.toFixed(2)];
    return [formatDuration(one.hold), avoided.toFixed(0), idle.toFixed(1), net.toFixed(1), ...inMoney];
  });
  const columns = ["HOLD", "AVOIDED", "IDLE NODE-HOURS", "NET NODE-HOURS", "NET AT YOUR PRICES"];
  return [columns.slice(0, rows[0]?.length), ...rows];
}

export const describeSeen = (
  { launches, terminations, regretted }: Advice,
  { relaunchCost }: Question,
): string =>
  `${launches} nodes launched, ${terminations} removed by Karpenter, ${regretted} of those needed again within ${formatDuration(relaunchCost)}`;

/** What was read, and what the figures are of. */
export function describePeriod(question: Question): string {
  const { from, until } = question;
  const [first, last] = [from, until].map((date) => date.toISOString().slice(0, 16).replace("T", " "));
  const length = until.getTime() - from.getTime();
  const [span, figures] =
    scaleOf(question).per === "a month"
      ? [`${(length / hours(24)).toFixed(1)} days`, "Figures are a month's, of 30 days at the same rate."]
      : [about(length), "That is too short to estimate a month, so figures are of that time alone."];
  return `From ${first} to ${last} UTC, ${span}. ${figures}`;
}

/** The command that deploys what is recommended for the cluster, with the settings of the replay. */
export function deployment({ of, recommended }: Advice, question: Question): readonly string[] {
  if (of !== "cluster" || !recommended) return [];
  const { cluster, maxHold, breather, scope } = question;
  const settings = { maxHold: formatDuration(maxHold), breather: formatDuration(breather), scope };
  const changed = Object.entries(settings).filter(
    ([name, value]) => value !== holderSettings[name as keyof typeof settings].default,
  );
  const words = [["cluster", cluster], ["hold", formatDuration(recommended.hold)], ...changed];
  return [`To deploy it: npx cdk deploy ${words.map((pair) => `-c ${quoted(pair.join("="))}`).join(" ")}`];
}

/** Advice for programs; durations as they are set. */
export const adviceJson = ({ candidates, recommended, ...rest }: Advice) => ({
  ...rest,
  candidates: candidates.map((one) => ({ ...one, hold: formatDuration(one.hold) })),
  ...(recommended && { recommended: formatDuration(recommended.hold) }),
});

/** The model's assumptions, printed beside its figures. */
export const assumptions = ({
  begunBefore,
  scope,
  maxHold,
  breather,
  relaunchCost,
}: Question): readonly string[] => [
  `A relaunch is worth ${formatDuration(relaunchCost)} of node time (--relaunch-cost). A node that a hold keeps replaces the next launch in its NodePool, whatever its instance type.`,
  "CloudTrail does not record why Karpenter ended a node: drifted and expired nodes, and those it drained ahead of an interruption, count as removed, although a hold would not have kept them.",
  `A disruption that Karpenter began before a hold continues: ends within ${formatDuration(begunBefore)} of a hold's start are not avoided.`,
  "With several NodePools, the advice for each assumes that only its own launches hold it.",
  `Holds are by ${scope === "cluster" ? "cluster" : "NodePool"}, ${maxHold > 0 ? `${formatDuration(maxHold)} at most, with a breather of ${formatDuration(breather)}` : "without a cap"}.`,
];
