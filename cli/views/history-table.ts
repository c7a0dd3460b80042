import { describeObserved, describeRemoved, sumObserved } from "../../lambda/core/observed.ts";
import { describeHeld } from "../../lambda/core/operate/status.ts";
import type { AutoFigures } from "../../lambda/core/pays.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { counted } from "../../report/timeline/clock.ts";
import { paidInWords } from "../../report/timeline/events.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, absolute, relative, table } from "../terminal/text.ts";

/** What caused the holds, and how long nodes were held. */
export function describeSums(holds: readonly PastHold[]): string {
  const launches = holds.reduce((sum, hold) => sum + launchesOf(hold), 0);
  const requests = holds.reduce((sum, hold) => sum + hold.requests.length, 0);
  const lasted = holds.reduce(
    (sum, { startedAt, endedAt }) => sum + endedAt.getTime() - startedAt.getTime(),
    0,
  );
  const causes = [
    counted(launches, "launch", "launches"),
    ...(requests > 0 ? [counted(requests, "request")] : []),
  ];
  const paid = paidBy(holds);
  return [
    `${counted(holds.length, "hold")} of ${about(lasted)} in all, by ${causes.join(" and ")}`,
    ...paid,
  ].join("; ");
}

/** With `hold=auto`, what holds have cost and spared. */
export const paidBy = (holds: readonly AutoFigures[]): readonly string[] => paidInWords(holds, about);

/** What holds that only observed would have done, where there are any. */
export function describeObservation(holds: readonly PastHold[]): readonly string[] {
  const sum = sumObserved(holds);
  return sum ? [`With mode=hold it ${describeObserved(sum)}. \`status\` prints how to hold from now on`] : [];
}

const launchesOf = ({ launches }: PastHold): number => Object.values(launches).reduce((a, b) => a + b, 0);

/** Past holds as rows, newest first. */
export function historyTable(
  holds: readonly PastHold[],
  now: Date,
  style: Terminal["style"],
  wide: boolean,
): string[] {
  const counts = ["LAUNCHES", "EXTENSIONS", "NODES"];
  const heading = ["STARTED", "ENDED", "LASTED", "SCOPE", ...counts, "WHY IT ENDED"];
  const rest = wide
    ? ["CAUSES", "SUPERFLUOUS", "LET GO", "SPARED", "EVICTIONS SPARED", "HOLD", "OBSERVED"]
    : [];
  const rows = holds.map((hold) => [
    absolute(hold.startedAt, now),
    relative(hold.endedAt, now),
    about(hold.endedAt.getTime() - hold.startedAt.getTime()),
    hold.scope,
    String(launchesOf(hold)),
    String(hold.extensions),
    String(hold.nodes),
    hold.endedBecause +
      marksOf(hold)
        .map((one) => style("yellow", ` (${one})`))
        .join(""),
    ...(wide
      ? [
          describeHeld(hold.startedBecause, hold),
          ...[hold.superfluous > 0 ? about(hold.superfluous) : "–", String(hold.letGo)],
          ...[String(hold.spared), String(hold.evictionsSpared)],
          ...[hold.id, hold.observed ? describeRemoved(hold.observed) : "–"],
        ]
      : []),
  ]);
  return table([[...heading, ...rest].map((one) => style("dim", one)), ...rows]);
}

/** What sets a hold apart from others: it reached the cap, or no node was marked. */
export const marksOf = ({ capped, observed }: PastHold): readonly string[] => [
  ...(capped ? ["capped"] : []),
  ...(observed ? ["observed"] : []),
];
