import { formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, table } from "../terminal/text.ts";
import { type Advice, type Candidate, verdict } from "./advice.ts";

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
