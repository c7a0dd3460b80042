import { expect, it } from "vitest";
import { heldNow, timelineTables } from "../../report/page/tables.ts";
import { utcFor } from "../../report/timeline/clock.ts";
import { drawTimeline, type TimelineOptions } from "../../report/timeline/draw-timeline.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import * as happened from "./events.ts";

const { at, evicted, gone, holdEnded, holdExtended, holdStarted, joined, marked, released } = happened;

const pool = "nodepool/batch-of-the-night-and-the-day";
const events: readonly TimelineEvent[] = [
  { kind: "launch", instance: "i-1", at: at(90) },
  ...[joined("node-a", 0), joined("a-node-whose-name-is-far-too-long", 100), joined("node-c", 200)],
  ...[holdStarted("h1", 91, 1_291), holdExtended("h1", 400, 1_600), holdExtended("h1", 800, 2_000)],
  ...[marked("node-a", "h1", 101), marked("a-node-whose-name-is-far-too-long", "h1", 102)],
  ...[evicted("p1", "node-c", 300), evicted("p2", "node-c", 301), evicted("p3", "unknown", 302)],
  { kind: "image pulled", node: "node-c", image: "nginx", at: at(500) },
  { kind: "node handed over", node: "a-node-whose-name-is-far-too-long", at: at(700) },
  { kind: "hold caused", scope: "cluster", holdId: "h1", because: "launches", at: at(750) },
  { kind: "node let go", node: "a-node-whose-name-is-far-too-long", at: at(3_000) },
  { kind: "node included", node: "node-c", at: at(3_500) },
  { kind: "note", text: "a sweep failed", at: at(900) },
  { kind: "hold releasing", scope: "cluster", holdId: "h1", because: "nothing launched", at: at(2_000) },
  ...[released("node-a", "h1", 2_001), holdEnded("h1", 2_003), gone("node-a", 2_100)],
  { kind: "node excluded", node: "node-c", at: at(2_200) },
  { kind: "hold started", scope: pool, holdId: "h2", until: at(4_500), because: "by hand", at: at(3_000) },
  { ...marked("node-d", "h2", 3_100), before: "h1" } as TimelineEvent,
  ...[joined("node-d", 3_050), marked("node-d", "h2", 3_200), { ...holdStarted("h3", 3_300, 4_000) }],
  { kind: "hold releasing", scope: "cluster", holdId: "h3", because: "by hand", at: at(3_400) },
];
const timeline = (until = 3_600) => readTimeline(events, { from: at(60), to: at(until) });
const draw = (options: Partial<TimelineOptions>) =>
  drawTimeline(timeline(), { title: "An hour", ...options });

// A change is accepted with `npx vitest run test/report/drawn --update`, and looked at in the pictures.
it.each<[string, () => string]>([
  ["hour.svg", () => draw({ end: at(4_200).getTime() })],
  ["phone.svg", () => draw({ width: 380, clock: { offset: 120 } })],
  ["tables.txt", () => timelineTables(timeline(), utcFor(0, 1))],
  ["held.txt", () => heldNow(timeline(), utcFor(0, 1)) + heldNow(timeline(2_500), utcFor(0, 1))],
])("draws what was looked at: %s", async (file, drawn) => {
  await expect(drawn().replaceAll(/<\/(?:g|tr|text|p)>/g, "$&\n")).toMatchFileSnapshot(`drawn/${file}`);
});
