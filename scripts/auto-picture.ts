import { writeFileSync } from "node:fs";
import { after, minutes } from "../lambda/core/duration.ts";
import { noPauses } from "../lambda/core/pauses.ts";
import { type Account, lookAtNodes } from "../lambda/core/pays.ts";
import { anyNode } from "../lambda/core/room.ts";
import { readSettings } from "../lambda/settings.ts";
import { element } from "../report/markup.ts";
import { type Colour, colour, picture, text } from "../report/page/picture.ts";

/** How long one node with some pods is kept, as the rule itself decides it. */
const pods = 3;
const file = "docs/images/auto.svg";

/** As wide as a phone shows without making it smaller. */
const width = 390;
const [left, right, top, rowHeight] = [18, 372, 92, 92];
/** How much of a pause is shown. */
const shown = 30;

const start = new Date("2026-01-01T00:00:00Z");
const { relaunchCost, evictionCost } = readSettings({ cluster: "picture", hold: "auto" });
const price = (relaunchCost + pods * evictionCost) / minutes(1);

/** After how many minutes of a pause the node is let go; what was learned decides whether a relaunch is waited for. */
function keptFor(learned: number): number {
  const room = (name: string) => ({
    ...{ name, labels: {}, taints: [], isOpen: true },
    allocatable: { cpu: 8_000, pods: 58 },
  });
  const needs = { nodes: anyNode, tolerations: [] };
  const pod = (node: string, cpu: number) => ({ node, requests: { cpu }, needsNoPlace: false, needs });
  const load = [pod("busy", 5_000), ...Array.from({ length: pods + 1 }, () => pod("busy", 100))];
  const all = [...load, ...Array.from({ length: pods }, () => pod("spare", 100))];
  let account: Account = {
    ...{ at: start, nodes: 2, wasted: {}, letGo: {}, leftAlone: {} },
    pauses: { ...noPauses, learned: [learned] },
  };
  for (let minute = 0; ; minute++) {
    const rooms = [room("busy"), room("spare")];
    const look = lookAtNodes(
      account,
      rooms,
      all,
      { relaunchCost, evictionCost },
      after(start, minutes(minute)),
    );
    if (look.verdicts.some(({ isLetGo }) => isLetGo)) return minute;
    account = look.account;
  }
}

const x = (minute: number): number => left + ((right - left) * minute) / shown;

type Row = Readonly<{ title: string; kept: number; needed?: number; cost: readonly string[] }>;

function drawRow({ title, kept, needed, cost }: Row, index: number): string {
  const y = top + index * rowHeight;
  const end = needed ?? kept;
  const bar = (from: number, to: number, name: Colour, dashed = false) =>
    element("rect", {
      ...{ x: x(from), y: y + 10, width: x(to) - x(from), height: 22, rx: 3 },
      ...(dashed
        ? { fill: "none", stroke: colour(name), "stroke-dasharray": "3 3" }
        : { fill: colour(name), "fill-opacity": 0.85 }),
    });
  const inside = { class: "inside", "text-anchor": "middle" };
  return [
    text(left, y, title, { "font-weight": 600 }),
    bar(0, end, "held"),
    text(x(end / 2), y + 25, "kept", inside),
    ...(needed === undefined
      ? [
          bar(kept, shown, "free", true),
          text(x((kept + shown) / 2), y + 25, "gone", { "text-anchor": "middle" }),
        ]
      : [bar(needed, shown, "launch"), text(x((needed + shown) / 2), y + 25, "needed again", inside)]),
    ...cost.map((line, n) => text(left, y + 49 + 15 * n, line, { class: "faint" })),
  ].join("");
}

/** The picture of docs/auto.md. */
export function autoPicture(): string {
  const [full, learned] = [keptFor(0), keptFor(8 * relaunchCost)];
  const soon = 6;
  const rows: readonly Row[] = [
    {
      ...{ title: `Needed again after ${soon} minutes`, kept: full, needed: soon },
      cost: [`Costs ${soon} minutes of the node;`, `a removal and a relaunch would have cost ${price}.`],
    },
    {
      ...{ title: "Not needed for a long time", kept: full },
      cost: [
        `Kept for ${full} minutes, then removed for ${price}: ${full + price}.`,
        `The least was ${price}, to remove it at once.`,
      ],
    },
    {
      ...{ title: "Where that is the usual case", kept: learned },
      cost: [
        `Kept for ${learned} minutes, then removed for ${price}: ${learned + price}.`,
        "The relaunch is not waited for.",
      ],
    },
  ];
  const title = "How long a superfluous node is kept";
  const description = rows.map((row) => `${row.title}: ${row.cost.join(" ")}`).join(" ");
  const axisAt = top + rows.length * rowHeight + 2;
  return picture(
    {
      ...{ width, height: axisAt + 34, title, description },
      rules: ".knh .inside{fill:#fff;font-weight:600}",
    },
    text(left, 30, title, { class: "title" }),
    text(left, 50, `With ${pods} pods: its removal is worth ${price} minutes,`, { class: "faint" }),
    text(
      left,
      65,
      `${relaunchCost / minutes(1)} for the relaunch and ${evictionCost / minutes(1)} for each pod.`,
      { class: "faint" },
    ),
    ...rows.map(drawRow),
    element("line", { x1: left, x2: right, y1: axisAt, y2: axisAt, class: "grid" }),
    ...[0, 10, 20, 30].map((minute) =>
      text(x(minute), axisAt + 16, minute === shown ? `${minute} minutes` : String(minute), {
        ...{ class: "faint", "text-anchor": minute === 0 ? "start" : minute === shown ? "end" : "middle" },
      }),
    ),
  );
}

if (import.meta.main) writeFileSync(file, `${autoPicture()}\n`);
