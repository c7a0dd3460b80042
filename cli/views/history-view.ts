import { describeLength } from "../../lambda/core/auto/hold-length.ts";
import { describeCauses } from "../../lambda/core/holds/causes.ts";
import type { PastHold } from "../../lambda/core/holds/hold.ts";
import { table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, absolute, relative } from "../terminal/times.ts";

type Style = Terminal["style"];

const lasted = (hold: PastHold): string => about(hold.endedAt.getTime() - hold.startedAt.getTime());

/** Past holds as rows, newest first. */
export function historyTable(holds: readonly PastHold[], now: Date, style: Style, wide: boolean): string[] {
  const heading = ["STARTED", "ENDED", "LASTED", "SCOPE", "LAUNCHES", "EXTENSIONS", "NODES", "WHY IT ENDED"];
  const rest = wide ? ["CAUSES", "LEARNED LENGTH", "HOLD"] : [];
  const rows = holds.map((hold) => [
    absolute(hold.startedAt, now),
    relative(hold.endedAt, now),
    lasted(hold),
    hold.scope,
    String(hold.launches),
    String(hold.extensions),
    String(hold.nodes),
    hold.endedBecause + (hold.capped ? style("yellow", " (capped)") : ""),
    ...(wide ? [describeCauses(hold), hold.length ? describeLength(hold.length) : "–", hold.id] : []),
  ]);
  return table([[...heading, ...rest].map((one) => style("dim", one)), ...rows]);
}

const columns = 60;
const drawn = { fancy: { bar: "█", empty: "·" }, plain: { bar: "#", empty: "." } } as const;

/** Past holds as bars along time, a line a hold, the oldest on top. */
export function historyTimeline(
  holds: readonly PastHold[],
  now: Date,
  style: Style,
  ascii: boolean,
): string[] {
  const { bar, empty } = drawn[ascii ? "plain" : "fancy"];
  const from = Math.min(...holds.map((hold) => hold.startedAt.getTime()));
  const to = Math.max(...holds.map((hold) => hold.endedAt.getTime()));
  const at = (moment: Date) => ((moment.getTime() - from) / Math.max(1, to - from)) * columns;
  const oldestFirst = holds.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const rows = oldestFirst.map((hold) => {
    const begin = Math.min(columns - 1, Math.floor(at(hold.startedAt)));
    const end = Math.max(begin + 1, Math.ceil(at(hold.endedAt)));
    const line = empty.repeat(begin) + style(hold.capped ? "yellow" : "green", bar.repeat(end - begin));
    return [absolute(hold.startedAt, now), hold.scope, line + empty.repeat(columns - end), described(hold)];
  });
  const span = `from ${absolute(new Date(from), now)} to ${absolute(new Date(to), now)}`;
  return [...table(rows), "", style("dim", `${counted(holds.length, "hold")}, ${span}`)];
}

const described = (hold: PastHold): string =>
  `${lasted(hold)}, ${counted(hold.launches, "launch")}${hold.capped ? ", capped" : ""}`;

const several = { hold: "holds", launch: "launches" } as const;
const counted = (count: number, what: keyof typeof several): string =>
  `${count} ${count === 1 ? what : several[what]}`;
