import { element, escaped } from "../markup.ts";
import { type ClockStyle, formatSpan, formatTime } from "../timeline/clock.ts";
import type { HoldBand, Lane, Timeline } from "../timeline/timeline.ts";
import { table } from "./table.ts";

/** What is held now: until when, how long that still is, why, and which nodes; and which are never held. */
export function heldNow(timeline: Timeline, clock: ClockStyle): string {
  const { lanes, holds, from, to } = timeline;
  const present = lanes.filter(({ isOpen }) => isOpen);
  const rows = holds
    .filter(({ isOpen }) => isOpen)
    .map((hold) => [
      hold.scope === "cluster" ? "the cluster" : hold.scope,
      hold.fencedAt === undefined ? formatTime(hold.until, from, clock) : "now",
      hold.fencedAt === undefined ? formatSpan(Math.max(0, hold.until - to), clock) : "releasing",
      hold.because,
      namesOf(nodesOf(present, hold)),
    ]);
  const note = (what: string, nodes: readonly Lane[]) =>
    nodes.length === 0 ? "" : element("p", {}, escaped(`${what}: ${namesOf(nodes)}.`));
  return [
    table("Held now", ["What", "Until", "Left", "Why", "Nodes"], rows),
    note(
      "Held by their users",
      present.filter(({ userHeld }) => userHeld.at(-1)?.isOpen),
    ),
    note(
      "Never held, by their label",
      present.filter(({ excluded }) => excluded.at(-1)?.isOpen),
    ),
  ].join("");
}

const nodesOf = (lanes: readonly Lane[], { holdId }: HoldBand): readonly Lane[] =>
  lanes.filter(({ held }) => {
    const last = held.at(-1);
    return last?.isOpen && last.holdId === holdId;
  });

const mostNames = 10;

function namesOf(lanes: readonly Lane[]): string {
  const names = lanes.slice(0, mostNames).map(({ node }) => node);
  const more = lanes.length - names.length;
  return names.length === 0 ? "none" : names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
