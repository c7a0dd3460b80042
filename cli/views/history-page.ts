import { later } from "../../lambda/core/duration.ts";
import { describeNodes, describeRemoved } from "../../lambda/core/observed.ts";
import { describeHeld } from "../../lambda/core/operate/status.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { version } from "../../lambda/version.ts";
import { drawPage } from "../../report/page/page.ts";
import { timelineTables } from "../../report/page/tables.ts";
import { counted, utcFor } from "../../report/timeline/clock.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import { absolute } from "../terminal/text.ts";
import { marksOf, paidBy } from "./history-table.ts";

/** Past holds on a page of their own: when they were, how long and why. */
export function historyPage(
  holds: readonly PastHold[],
  { holder, sums, none, now }: Readonly<Record<"holder" | "sums" | "none", string> & { now: Date }>,
): string {
  const timeline = readTimeline(holds.flatMap(eventsOf));
  const clock = utcFor(timeline.from, now.getTime());
  return drawPage({
    title: `Holds of ${holder}`,
    about:
      "When Karpenter was kept from disrupting nodes, and why: by launches, and by requests of people, events and windows.",
    state: holds.length > 0 ? `${sums}.` : none,
    picture:
      holds.length > 0
        ? (width) => drawTimeline(timeline, { title: "Holds along time", clock, width })
        : undefined,
    tables: timelineTables(timeline, clock),
    footer: `Written by karpenter-node-holder ${version} at ${absolute(now, new Date(0))}.`,
  });
}

function eventsOf(hold: PastHold): readonly TimelineEvent[] {
  const { id: holdId, scope, startedAt, endedAt, startedBecause, observed } = hold;
  const counts = [
    ...(hold.extensions > 0 ? [counted(hold.extensions, "extension")] : []),
    observed ? describeNodes(hold) : counted(hold.nodes, "node"),
    ...(observed ? [describeRemoved(observed)] : []),
    ...paidBy([hold]),
  ].join(", ");
  const because = `${describeHeld(startedBecause, hold)}: ${counts}`;
  const ended =
    hold.endedBecause +
    marksOf(hold)
      .map((one) => ` (${one})`)
      .join("");
  return [
    { kind: "hold started", at: startedAt, scope, holdId, until: endedAt, because },
    { kind: "hold ended", at: later(startedAt, endedAt), scope, holdId, because: ended },
  ];
}
