import { goingNow, heldNow, timelineTables } from "../../report/page/tables.ts";
import { formatMoment, utcFor } from "../../report/timeline/clock.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { type HoldBand, readTimeline, type Timeline } from "../../report/timeline/timeline.ts";

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
    held: heldNow(timeline, clock) + goingNow(events, timeline, clock),
  };
}

/** Some room for the future: up to a third of the picture for the end of a present hold. */
function endOf({ from, to, holds }: Timeline): number {
  const untils = holds.filter(({ isOpen }) => isOpen).map(({ until }) => until);
  const span = to - from;
  return Math.max(to + span * 0.05, Math.min(to + span / 2, Math.max(...untils)));
}

type StateOptions = Readonly<{ offset?: number; observes?: boolean }>;

/** More scopes are counted. */
const mostScopes = 3;

/** The present state in a few sentences: the holds that are on, or else why none is. */
export function formatState(events: readonly TimelineEvent[], options: StateOptions = {}): string {
  if (events.length === 0) return "The holder is not at work yet: its log says why.";
  const { holds, lanes, to: now } = readTimeline(events);
  const { observes = false } = options;
  const isOn = ({ isOpen, fencedAt }: HoldBand) => isOpen && !(observes && fencedAt !== undefined);
  const open = holds.filter(isOn);
  const more = open.length - mostScopes;
  if (open.length > 0)
    return [
      ...open.slice(0, mostScopes).map((hold) => sentenceOf(hold, { now, ...options })),
      ...(more > 0 ? [`And ${more} more.`] : []),
    ].join(" ");
  const marked = lanes.filter(({ isOpen, held }) => isOpen && held.at(-1)?.isOpen).length;
  if (marked > 0) return `Nodes with an orphaned mark: ${marked}. The next sweep removes it.`;
  const nothing = observes ? "Nothing would be held" : "Nothing is held";
  const last = holds.at(-1);
  return last?.ended === undefined ? `${nothing}.` : `${nothing} in ${placeOf(last)}: ${last.ended}.`;
}

function sentenceOf(
  hold: HoldBand,
  { now, offset, observes }: StateOptions & Readonly<{ now: number }>,
): string {
  if (hold.fencedAt !== undefined) return `The hold of ${placeOf(hold)} ends: ${hold.ended}.`;
  const until = formatMoment(hold.until, { now, offset });
  return observes
    ? `With mode=hold, Karpenter could not disrupt ${placeOf(hold)} until ${until}.`
    : `Karpenter may not disrupt ${placeOf(hold)} until ${until}.`;
}

const placeOf = ({ scope }: HoldBand): string => (scope === "cluster" ? "the cluster" : scope);
