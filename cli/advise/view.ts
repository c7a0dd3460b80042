import { formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, table } from "../terminal/text.ts";
import { type Advice, type Candidate, type Question, verdict } from "./advice.ts";

/** Advice for people: what was seen, each hold tried, and what to do. */
export function adviceView(advice: Advice, style: Terminal["style"]): string[] {
  const { of, launches, terminations, regretted, nodeMinutes, candidates, auto, recommended } = advice;
  const ran = about(nodeMinutes * minutes(1));
  const seen = `${launches} nodes launched, ${terminations} removed by Karpenter, ${regretted} of those regretted`;
  const isPriced = candidates.some(({ money }) => money !== undefined);
  const heading = ["HOLD", "AVOIDED", "IDLE NODE-HOURS", "MORE", ...(isPriced ? ["COST"] : [])];
  const rows = candidates.map((one) => {
    const cells = [formatDuration(one.hold), ...row(one, regretted, isPriced)];
    return one.hold === recommended?.hold ? cells.map((cell) => style("green", cell)) : cells;
  });
  rows.push(["auto", ...row(auto, regretted, isPriced)]);
  return [
    `${style("bold", of)}  ${seen}, ${ran} of node time`,
    ...table([heading.map((one) => style("dim", one)), ...rows]),
    style(recommended ? "green" : "yellow", verdict(advice)),
  ];
}

function row(
  { avoided, idleMinutes, idleShare, money }: Candidate,
  regretted: number,
  isPriced: boolean,
): string[] {
  const share = regretted > 0 ? ` (${Math.round((100 * avoided) / regretted)} %)` : "";
  const cost = isPriced ? [money === undefined ? "price unknown" : money.toFixed(2)] : [];
  return [
    `${avoided}${share}`,
    ((idleMinutes * minutes(1)) / hours(1)).toFixed(1),
    `${(100 * idleShare).toFixed(1)} %`,
    ...cost,
  ];
}

/** Advice for programs; durations as they are set. */
export const adviceJson = ({ candidates, auto, recommended, ...rest }: Advice) => ({
  ...rest,
  auto: { ...auto, hold: "auto" },
  candidates: candidates.map((one) => ({ ...one, hold: formatDuration(one.hold) })),
  ...(recommended && { recommended: formatDuration(recommended.hold) }),
});

/** The model's assumptions, printed beside its figures. */
export const assumptions = ({
  regretWithin,
  begunBefore,
  scope,
  maxHold,
  breather,
  relaunchCost,
}: Question): readonly string[] => [
  `A node that Karpenter removed counts as regretted when its NodePool launched another within ${formatDuration(regretWithin)}.`,
  "A node that a hold keeps replaces the next launch in its NodePool, whatever its instance type.",
  "CloudTrail does not record why Karpenter ended a node: expired nodes, and those it drained ahead of an interruption, count as removed, although a hold would not have kept them.",
  `A disruption that Karpenter began before a hold continues: ends within ${formatDuration(begunBefore)} of a hold's start are not avoided.`,
  "With several NodePools, the advice for each assumes that only its own launches hold it.",
  `A launch that is spared uses held nodes instead, which extends the hold. With auto, a relaunch is worth ${formatDuration(relaunchCost)} of node time.`,
  `Holds are by ${scope === "cluster" ? "cluster" : "NodePool"}, ${maxHold > 0 ? `${formatDuration(maxHold)} at most, with a breather of ${formatDuration(breather)}` : "without a cap"}.`,
];
