import { element, escaped } from "../markup.ts";
import { type ClockStyle, formatMoment, formatSpan, formatTime } from "../timeline/clock.ts";
import { eventsOf, type NodeVerdict, paidInWords, type TimelineEvent } from "../timeline/events.ts";
import type { HoldBand, Lane, Span, Timeline } from "../timeline/timeline.ts";

/** A narrow page shows the column's name beside each cell. */
const row = (columns: readonly string[], cells: readonly string[]) =>
  element("tr", {}, ...cells.map((cell, i) => element("td", { "data-column": columns[i] }, escaped(cell))));

/** Empty if there are no rows. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const heads = columns.map((column) => element("th", { scope: "col" }, escaped(column)));
  return element(
    "table",
    {},
    element("caption", {}, escaped(caption)),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows.map((cells) => row(columns, cells))),
  );
}

/** The picture in words, as HTML tables: holds, nodes and what happened, the newest first. */
export function timelineTables(timeline: Timeline, clock: ClockStyle): string {
  const at = (moment: number) => formatTime(moment, clock);
  const span = ({ from, to, isOpen }: Span) => [
    from < timeline.from ? "before" : at(from),
    isOpen ? "going on" : at(to),
    formatSpan(to - from),
  ];
  const total = (spans: readonly Span[]) => spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const heldFor = (spans: readonly Span[]) => (spans.length === 0 ? "" : formatSpan(total(spans)));
  // For past holds only the number of extensions is known; it is shown with the reason.
  const isExtended = timeline.holds.some(({ extensions }) => extensions.length > 0);
  const holds = timeline.holds
    .toReversed()
    .map((hold) => [
      hold.scope,
      ...span(hold),
      ...(isExtended ? [String(hold.extensions.length)] : []),
      hold.because,
      hold.ended ?? "",
    ]);
  const isExcluded = timeline.lanes.some(({ excluded }) => excluded.length > 0);
  const nodes = timeline.lanes
    .toReversed()
    .map((lane) => [
      lane.node,
      lane.nodePool,
      ...span(lane),
      heldFor(lane.held),
      heldFor(lane.userHeld),
      ...(isExcluded ? [heldFor(lane.excluded)] : []),
    ]);
  const kept = isExcluded ? ["Never held"] : [];
  const times = ["From", "Until", "Lasted"];
  const points = timeline.points.toReversed().map((point) => [at(point.at), point.text]);
  return [
    table("Holds", ["Scope", ...times, ...(isExtended ? ["Extensions"] : []), "Because", "Ended"], holds),
    table(
      "Nodes",
      ["Node", "NodePool", "From", "Until", "Lived", "Held", "Held by its user", ...kept],
      nodes,
    ),
    table("What happened", ["At", "What"], points),
  ].join("");
}

/** What is held now: until when, how long that still is, why, and which nodes; and which are never held. */
export function heldNow({ lanes, holds, to }: Timeline, { offset }: ClockStyle): string {
  const present = lanes.filter(({ isOpen }) => isOpen);
  const rows = holds
    .filter(({ isOpen }) => isOpen)
    .map((hold) => [
      hold.scope === "cluster" ? "the cluster" : hold.scope,
      hold.fencedAt === undefined ? formatMoment(hold.until, { now: to, offset }) : "now",
      hold.fencedAt === undefined ? formatSpan(Math.max(0, hold.until - to)) : "releasing",
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

/** The nodes that no longer pay: when each is let go, if nothing changes, and why; and what present holds have cost and spared. */
export function goingNow(
  events: readonly TimelineEvent[],
  { holds, to: now }: Timeline,
  { offset }: ClockStyle,
): string {
  const goes = ({ isLetGo, dueAt }: NodeVerdict) =>
    isLetGo ? "now" : dueAt ? formatMoment(dueAt.getTime(), { now, offset }) : "–";
  const looks = eventsOf(events, "look");
  const rows = looks.flatMap(({ verdicts }) => verdicts.map((one) => [one.name, goes(one), one.because]));
  const isHeld = (where: string) => holds.some(({ isOpen, scope }) => isOpen && scope === where);
  const paying = looks.flatMap(({ where, paid }) => (isHeld(where) ? [paid] : []));
  const paid = paidInWords(paying, formatSpan).join("; ");
  return [
    table("Nodes that no longer pay", ["Node", "Goes", "Why"], rows),
    paid && element("p", {}, escaped(`So far: ${paid}.`)),
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
