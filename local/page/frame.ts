import { heldNow, timelineTables } from "../../report/page/tables.ts";
import { formatMoment, utcFor } from "../../report/timeline/clock.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import type { EventOf, TimelineEvent } from "../../report/timeline/events.ts";
import { readTimeline, type Timeline } from "../../report/timeline/timeline.ts";

export type Frame = Readonly<{ svg: string; tables: string; held: string }>;

type FrameOptions = Readonly<{
  now: Date;
  /** Show nothing older. */
  from?: Date;
  /** The width of the reader's window, so that nothing has to be scaled or scrolled. */
  width?: number;
  /** The reader's local time is so many minutes ahead of UTC. */
  offset?: number;
}>;

/** What a live page shows at a moment, as picture and in words. */
export function drawFrame(
  events: readonly TimelineEvent[],
  { now, from, width, offset }: FrameOptions,
): Frame {
  const first = events[0]?.at ?? now;
  const begin = from && from > first ? from : first;
  // A short timeline is drawn at the right end; otherwise everything would move left fast.
  const shown = new Date(Math.min(begin.getTime(), now.getTime() - 60_000));
  const timeline = readTimeline(events, { from: shown, to: now });
  const clock = utcFor(timeline.from, timeline.to, offset);
  return {
    svg: drawTimeline(timeline, {
      title: "Nodes and holds",
      clock,
      end: endOf(timeline),
      ...(width && { width }),
    }),
    tables: timelineTables(timeline, clock),
    held: heldNow(timeline, clock),
  };
}

/** Some room for the future: up to a third of the picture for the end of a present hold. */
function endOf({ from, to, holds }: Timeline): number {
  const untils = holds.filter(({ isOpen }) => isOpen).map(({ until }) => until);
  const span = to - from;
  return Math.max(to + span * 0.05, Math.min(to + span / 2, Math.max(...untils)));
}

type Changed = EventOf<"hold started" | "hold extended" | "hold releasing" | "hold ended">;

/** A new cause may leave the end of a hold as it is. */
const changesState = (event: TimelineEvent): event is Changed & TimelineEvent =>
  event.kind.startsWith("hold ") && event.kind !== "hold caused";

type StateOptions = Readonly<{ offset?: number; observes?: boolean }>;

/** The present state in a sentence; it changes only when a hold does. */
export function formatState(
  events: readonly TimelineEvent[],
  { offset = 0, observes = false }: StateOptions = {},
): string {
  const last = events.findLast(changesState);
  const nothing = observes ? "Nothing would be held" : "Nothing is held";
  if (!last) return `${nothing}.`;
  const where = last.scope === "cluster" ? "the cluster" : last.scope;
  if ("until" in last) {
    const until = formatMoment(last.until.getTime(), 0, { kind: "utc", offset });
    if (observes) return `With mode=hold, Karpenter could not disrupt ${where} until ${until}.`;
    return `Karpenter may not disrupt ${where} until ${until}.`;
  }
  if (last.kind === "hold releasing" && !observes) return `The hold of ${where} ends: ${last.because}.`;
  return `${nothing} in ${where}: ${last.because}.`;
}
