import { describeEnd } from "../../lambda/core/holds/causes.ts";
import type { PastHold, RequestCause } from "../../lambda/core/holds/hold.ts";
import { version } from "../../lambda/version.ts";
import { drawPage } from "../../report/page/page.ts";
import { timelineTables } from "../../report/page/tables.ts";
import { counted, utcFor } from "../../report/timeline/clock.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import { absolute } from "../terminal/text.ts";

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
      "When Karpenter was kept from disrupting nodes, and why. A hold starts with a launch and is extended by later ones.",
    state:
      holds.length > 0 ? `${counted(holds.length, "hold")}, caused by ${causesOf(holds)}: ${sums}.` : none,
    picture:
      holds.length > 0
        ? (width) => drawTimeline(timeline, { title: "Holds along time", clock, width })
        : undefined,
    tables: timelineTables(timeline, clock),
    footer: `Written by karpenter-node-holder ${version} at ${absolute(now, new Date(0))}.`,
  });
}

/** How many launches and requests caused these holds. */
function causesOf(holds: readonly PastHold[]): string {
  const launches = holds.reduce((sum, hold) => sum + hold.launches, 0);
  const of = (kind: RequestCause) => holds.filter(({ causes }) => causes[kind] !== undefined).length;
  const counts = [
    [launches, "launch", "launches"],
    [of("hand"), "request by hand", "requests by hand"],
    [of("event"), "event", "events"],
    [of("window"), "time window", "time windows"],
  ] as const;
  return counts.flatMap(([count, one, many]) => (count > 0 ? [counted(count, one, many)] : [])).join(", ");
}

function eventsOf(hold: PastHold): readonly TimelineEvent[] {
  const { id: holdId, scope, startedAt, endedAt, expiresAt: until, startedBecause } = hold;
  const counts = [
    counted(hold.launches, "launch", "launches"),
    counted(hold.extensions, "extension"),
    counted(hold.nodes, "node"),
  ].join(", ");
  const because = `${startedBecause} (${counts})`;
  const ended = describeEnd(hold.endedBecause, hold);
  return [
    { kind: "hold started", at: startedAt, scope, holdId, until, because },
    { kind: "hold ended", at: endedAt, scope, holdId, because: ended },
  ];
}
