import { element, escaped } from "../markup.ts";
import { type ClockStyle, formatSpan, formatTime } from "../timeline/clock.ts";
import type { Span, Timeline } from "../timeline/timeline.ts";

const cell = (content: string) => element("td", {}, escaped(content));
const row = (cells: readonly string[]) => element("tr", {}, ...cells.map(cell));

/** Empty if there are no rows. */
function table(caption: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const heads = columns.map((column) => element("th", { scope: "col" }, escaped(column)));
  return element(
    "table",
    {},
    element("caption", {}, escaped(caption)),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows.map(row)),
  );
}

/** The picture in words, as HTML tables: holds, nodes and what happened, each in the order of time. */
export function timelineTables(timeline: Timeline, clock: ClockStyle): string {
  const at = (moment: number) => formatTime(moment, timeline.from, clock);
  const span = ({ from, to, isOpen }: Span) => [
    from < timeline.from ? "before" : at(from),
    isOpen ? "going on" : at(to),
    formatSpan(to - from, clock),
  ];
  const total = (spans: readonly Span[]) => spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const heldFor = (spans: readonly Span[]) => (spans.length === 0 ? "" : formatSpan(total(spans), clock));
  // For past holds only the number of extensions is known; it is shown with the reason.
  const isExtended = timeline.holds.some(({ extensions }) => extensions.length > 0);
  const holds = timeline.holds.map((hold) => [
    hold.scope,
    ...span(hold),
    ...(isExtended ? [String(hold.extensions.length)] : []),
    hold.because,
    hold.ended ?? "",
  ]);
  const nodes = timeline.lanes.map((lane) => [
    lane.node,
    lane.nodePool,
    ...span(lane),
    heldFor(lane.held),
    heldFor(lane.userHeld),
  ]);
  const times = ["From", "Until", "Lasted"];
  const points = timeline.points.map((point) => [at(point.at), point.text]);
  return [
    table("Holds", ["Scope", ...times, ...(isExtended ? ["Extensions"] : []), "Because", "Ended"], holds),
    table("Nodes", ["Node", "NodePool", "From", "Until", "Lived", "Held", "Held by its user"], nodes),
    table("What happened", ["At", "What"], points),
  ].join("");
}
